"""Intel MPI's `I_MPI_ADJUST_*` with ranges of sizes, from its reference manual; never run here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Row
from searchspace.collectives.equivalents.equivalent import Target

__all__ = ["adjustments"]

_MOST = 2**31 - 1
"""Bytes and ranks without an end."""


def adjustments(table: DecisionTable, target: Target) -> dict[str, str]:
    """A decision table as environment variables; what they do not name the library chooses.

    A value is `ALGORITHM:BYTES-BYTES@RANKS-RANKS;...`.

    Args:
        table: Of algorithms that the target has (`Target.expressible`).
        target: A release of Intel MPI.
    """
    found = {}
    for collective, rows in table.items():
        ranges = [*_ranges(collective, rows, target)]
        if ranges:
            found[f"I_MPI_ADJUST_{collective.upper()}"] = ";".join(ranges)
    return found


def _ranges(collective: str, rows: Sequence[Row], target: Target) -> Iterator[str]:
    for row, after in itertools.zip_longest(rows, rows[1:]):
        last = after.ranks - 1 if after else _MOST
        for line, next_line in itertools.zip_longest(row.lines, row.lines[1:]):
            if line.algorithm == DEFAULT:
                continue
            end = next_line.bytes - 1 if next_line else _MOST
            name = target.equivalent(collective, line.algorithm, (row.ranks,)).algorithm
            yield f"{name}:{line.bytes}-{end}@{row.ranks}-{last}"

"""What was measured, run by run, in a file: who is interrupted goes on."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring.rows import RowLog
from measuring.trust.cases import Case

__all__ = ["Log", "Row", "medians"]


@dataclass(frozen=True)
class Row:
    """One run of a program on an emulated cluster.

    Attributes:
        network: Of `cases.NETWORKS`.
        library: The MPI library.
        operation: As of `cases.Case`.
        choice: As of `cases.Case`.
        number: Which run of it, from 0 on.
        seconds: Of each repetition, by the bytes of the case.
        doubts: Why the times do not count; empty where they do.
        details: Of the cluster, as of `clusters.Ran`.
    """

    network: str
    library: str
    operation: str
    choice: str
    number: int
    seconds: Mapping[int, Sequence[float]]
    doubts: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """Which run it is."""
        return (self.network, self.library, self.operation, self.choice, self.number)


class Log(RowLog[Row]):
    """The runs of the study; for arguments see `RowLog`."""

    def __init__(self, path: Path, under: Mapping[str, Any]) -> None:
        super().__init__(path, under, _row)

    @property
    def done(self) -> set[tuple[str, str, str, str, int]]:
        """The keys of the runs that need not be taken again: those whose times count."""
        return {row.key for row in self.rows if not row.doubts}


def medians(rows: Iterable[Row]) -> dict[Case, float]:
    """The median of all repetitions of each case, seconds, of the rows that count."""
    found: dict[Case, list[float]] = defaultdict(list)
    for row in rows:
        if row.doubts:
            continue
        for size, seconds in row.seconds.items():
            library: Any = row.library
            case = Case(row.network, library, row.operation, size, row.choice)
            found[case].extend(seconds)
    return {case: statistics.median(seconds) for case, seconds in found.items()}


def _row(document: Mapping[str, Any]) -> Row:
    seconds = {int(size): each for size, each in document["seconds"].items()}
    return Row(**{**document, "seconds": seconds, "doubts": tuple(document["doubts"])})

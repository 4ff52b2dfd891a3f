"""Which algorithm is the fastest at each size of communicator and message, as ranges.

MPI libraries take such tables in files of their own (`equivalents`). A row holds from its number of
ranks up to that of the next row, a line in it from its bytes up to those of the next line.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from searchspace.collectives import DEFAULT

__all__ = [
    "SIZED",
    "WORTH",
    "DecisionTable",
    "Holds",
    "Line",
    "Row",
    "Times",
    "between",
    "chosen",
    "decide",
    "is_decided",
    "repeated",
]

SIZED = (
    "allgather",
    "allreduce",
    "alltoall",
    "bcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
)
"""The collectives that are decided by size; `barrier` has none."""

WORTH = 0.05
"""The usual `worth`: less than that a simulation does not tell apart."""
_LOOKED_AHEAD = 64
"""Ranks above a row for which an algorithm has to work; what works there works for more."""


@dataclass(frozen=True)
class Line:
    """From so many bytes on, this algorithm; `default` leaves the choice to the library."""

    bytes: int
    algorithm: str


@dataclass(frozen=True)
class Row:
    """For communicators of so many ranks and more."""

    ranks: int
    lines: tuple[Line, ...]


DecisionTable: TypeAlias = Mapping[str, tuple[Row, ...]]
"""The rows of each collective, by increasing ranks."""

Times: TypeAlias = Mapping[int, Mapping[int, Mapping[str, float]]]
"""Seconds of a call: by ranks, by bytes, by algorithm; `default` is the library's own choice."""

_MOST_REPEATED = 1 << 14

Holds: TypeAlias = Callable[[str, int], bool]
"""Tells whether an algorithm works in a communicator of so many ranks."""


def decide(
    times: Times, holds: Holds, *, by_size: bool = True, worth: float = WORTH
) -> tuple[Row, ...]:
    """The table of one collective.

    An algorithm is chosen where it is faster than the library's own choice by the part `worth`, and
    that of the size before where it is as good up to this part: fewer lines say the same. Between
    two sizes with different choices the line begins at their geometric mean. A row ends before
    sizes of communicators for which its algorithms do not work (as those for powers of two):
    another row begins there, of those that do.

    Args:
        times: What was simulated or measured. A size without `default`, which cannot be told, is
            left to the library.
        holds: Whether an algorithm works in a communicator.
        by_size: Whether the library looks at the size of messages; if not, each row has one line,
            of the algorithm with the least mean time relative to the library's own choice, unless
            it is slower than that by more than `worth` at some size.
        worth: From 0 on and below 1.
    """
    rows = []
    sizes = sorted(times)
    for ranks, following in itertools.zip_longest(sizes, sizes[1:]):
        end = min(following or ranks + _LOOKED_AHEAD, ranks + _LOOKED_AHEAD)
        known = {name for at in times[ranks].values() for name in at} - {DEFAULT}
        lasting = {name for name in known if all(holds(name, n) for n in range(ranks + 1, end))}
        rows.append(Row(ranks, _lines(times[ranks], known, by_size, worth)))
        if end > ranks + 1:
            rows.append(Row(ranks + 1, _lines(times[ranks], lasting, by_size, worth)))
    return tuple(_without_repeats(rows))


def is_decided(rows: Iterable[Row]) -> bool:
    """Whether rows name any algorithm, and do not leave all to the library."""
    return any(line.algorithm != DEFAULT for row in rows for line in row.lines)


def chosen(rows: Sequence[Row], ranks: int, size: int) -> str:
    """What a table says of a call: an algorithm, or `default`."""
    lines = next((row.lines for row in reversed(rows) if row.ranks <= ranks), ())
    return next((line.algorithm for line in reversed(lines) if line.bytes <= size), DEFAULT)


def between(smaller: int, larger: int) -> int:
    """The bytes where a line begins between two sizes with different choices."""
    return math.ceil(math.sqrt(smaller * larger))


def repeated(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows, again at every fourth more ranks up to the next, and from the last up to 16,384.

    For libraries that look at the blocks of all ranks together: what a line says of the block of
    one rank is so many bytes more with each rank.
    """
    for row, after in itertools.zip_longest(rows, rows[1:]):
        yield row
        ranks, end = row.ranks, after.ranks if after else _MOST_REPEATED
        while len(row.lines) > 1 and (ranks := ranks + max(1, ranks // 4)) < end:
            yield Row(ranks, row.lines)


def _lines(
    times: Mapping[int, Mapping[str, float]], names: Iterable[str], by_size: bool, worth: float
) -> tuple[Line, ...]:
    allowed = sorted(names)
    if not by_size:
        return (Line(0, _one_for_all(times, allowed, worth)),)
    lines: list[Line] = []
    before = 0
    for size in sorted(times):
        choice = _fastest(times[size], allowed, lines[-1].algorithm if lines else DEFAULT, worth)
        if not lines:
            lines.append(Line(0, choice))
        elif choice != lines[-1].algorithm:
            lines.append(Line(between(before, size), choice))
        before = size
    return tuple(lines)


def _fastest(times: Mapping[str, float], allowed: Sequence[str], before: str, worth: float) -> str:
    # What takes no time at all, as a barrier within a host may, says nothing.
    at = {name: times[name] for name in allowed if times.get(name, 0.0) > 0}
    best = min(at, key=lambda name: (at[name], name), default=DEFAULT)
    if best == DEFAULT or at[best] > times.get(DEFAULT, 0.0) * (1 - worth):
        return DEFAULT
    if before in at and at[before] <= at[best] * (1 + worth):
        return before
    return best


def _one_for_all(
    times: Mapping[int, Mapping[str, float]], allowed: Sequence[str], worth: float
) -> str:
    gains = {}
    told = [at for at in times.values() if at.get(DEFAULT, 0.0) > 0]
    for name in allowed if told else ():
        if all(at.get(name, 0.0) > 0 for at in told):
            ratios = [at[name] / at[DEFAULT] for at in told]
            if max(ratios) <= 1 + worth:
                gains[name] = math.prod(ratios) ** (1 / len(ratios))
    best = min(gains, key=lambda name: (gains[name], name), default=DEFAULT)
    return best if best != DEFAULT and gains[best] <= 1 - worth else DEFAULT


def _without_repeats(rows: Iterable[Row]) -> Iterable[Row]:
    before: tuple[Line, ...] = ()
    for row in rows:
        if row.lines != before:
            yield row
        before = row.lines

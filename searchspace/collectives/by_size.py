"""Algorithms by message size, as the parameters of a configuration say them.

`collectives.allreduce` is the algorithm from 0 bytes on, `collectives.allreduce@65536` the one from
65,536 bytes on, up to the next such parameter. Bytes are counted as decision tables count them:
those of the whole vector, but of the block of one rank for allgather, alltoall, gather and scatter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.decision_table import SIZED, DecisionTable, Line, Row, between
from searchspace.units import format_size

__all__ = [
    "MOST_RANGES",
    "NOT_OF_A_RANGE",
    "PARAMETER",
    "SizeBins",
    "algorithms_of_largest",
    "called_bytes",
    "canonical",
    "collective_of",
    "dividing",
    "lines_of",
    "merged_sizes",
    "names_algorithms",
    "parameter",
    "parsed",
    "range_name",
    "range_text",
    "ranges_of",
    "sizes_called",
    "table_of",
    "thresholds",
]

PARAMETER = "collectives."
"""What the names of these parameters begin with."""

_FROM = "@"

MOST_RANGES = 8
"""Ranges of one collective; each of them multiplies the space."""

NOT_OF_A_RANGE = "decides all sizes itself; leave a range to 'default', and name the library as mpi"
"""Why a library's table is not among the algorithms of ranges, to go on after its name."""

_MOST_DIGITS = 15
"""Of bytes: more than any memory has, and less than the simulator can read."""

_SMALLEST = 2
"""Ranks of the communicators that a choice is for: one rank alone sends nothing."""

SizeBins: TypeAlias = Sequence[tuple[int, int, int]]
"""How a program calls a collective: for each power of two the least and the most bytes of the calls
between it and the next, and how many calls they are, by increasing bytes."""


def range_name(collective: str, since: int = 0) -> str:
    """What a range of a collective is called: `allreduce`, `allreduce@65536`."""
    return f"{collective}{_FROM}{since}" if since else collective


def range_text(since: int, until: int | None) -> str:
    """A range of bytes in words: `below 64 KiB`, `from 64 KiB to 1 MiB`, `from 1 MiB`."""
    if until is None:
        return f"from {format_size(since)}"
    begin = f"from {format_size(since)} to" if since else "below"
    return f"{begin} {format_size(until)}"


def collective_of(name: str) -> str:
    """The collective that a range is of."""
    return name.partition(_FROM)[0]


def parameter(collective: str, since: int = 0) -> str:
    """The parameter of a collective's algorithm from so many bytes on."""
    return PARAMETER + range_name(collective, since)


def ranges_of(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """By collective, from how many bytes on it has a parameter among these, increasing."""
    found: dict[str, set[int]] = {}
    for name in names:
        one = parsed(name)
        if one is not None:
            found.setdefault(one[0], {0}).add(one[1])
    return {collective: tuple(sorted(begins)) for collective, begins in found.items()}


def parsed(name: str) -> tuple[str, int] | None:
    """The collective and the bytes that a parameter is for; None of one for anything else.

    Example:
        >>> parsed("collectives.bcast@4096")
        ('bcast', 4096)
    """
    if not name.startswith(PARAMETER):
        return None
    collective, _, written = name.removeprefix(PARAMETER).partition(_FROM)
    if len(written) > _MOST_DIGITS:
        return None
    since = int(written) if written.isascii() and written.isdecimal() else 0
    if parameter(collective, since) != name or collective not in (SIZED if since else COLLECTIVES):
        return None
    return collective, since


def lines_of(configuration: Mapping[str, Any], collective: str) -> tuple[Line, ...]:
    """The algorithms of a collective by increasing bytes, from 0 on, each unlike the one before.

    What the configuration does not name is `default`.
    """
    own = [name for name in configuration if name.startswith(PARAMETER + collective)]
    lines: list[Line] = []
    for since in ranges_of(own).get(collective, (0,)):
        algorithm = str(configuration.get(parameter(collective, since), DEFAULT))
        if not lines or lines[-1].algorithm != algorithm:
            lines.append(Line(since, algorithm))
    return tuple(lines)


def names_algorithms(name: str) -> bool:
    """Whether a parameter decides on algorithms of collectives: those, or whose choice they are."""
    return name == "mpi" or name.startswith(PARAMETER)


def canonical(configuration: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of algorithms in the one form that all ways to say the same have."""
    return {
        parameter(collective, line.bytes): line.algorithm
        for collective in ranges_of(configuration)
        for line in lines_of(configuration, collective)
        if line != Line(0, DEFAULT)
    }


def algorithms_of_largest(configuration: Mapping[str, Any]) -> dict[str, str]:
    """The algorithm of each collective that is named one, for its largest messages.

    These decide what cables carry, and so where ranks are placed.
    """
    named = ranges_of(configuration)
    return {name: lines_of(configuration, name)[-1].algorithm for name in named}


def table_of(configuration: Mapping[str, Any], collectives: Iterable[str]) -> DecisionTable:
    """What a configuration says of some collectives, as a decision table."""
    return {name: (Row(_SMALLEST, lines_of(configuration, name)),) for name in collectives}


def thresholds(called: SizeBins, *, ranges: int = 3) -> tuple[int, ...]:
    """Where the ranges of a collective begin, so that its calls of very different sizes are apart.

    The range that spans most is divided, at the widest gap between sizes in it and of equal ones at
    the middle one, until there are so many ranges or each has calls within a factor of two. A
    boundary is a power of two where there is one in the gap.

    Args:
        called: The sizes at which it is called.
        ranges: How many there are at most, from 1 on.

    Returns:
        Bytes, increasing; empty where all calls are of much the same size.
    """
    groups = [called] if called else []
    while len(groups) < ranges:
        widest = max(range(len(groups)), key=lambda at: _span(groups[at]), default=None)
        if widest is None or len(groups[widest]) < _SMALLEST:
            break
        group = groups[widest]
        at = min(
            range(1, len(group)), key=lambda cut: (-_gap(group, cut), abs(2 * cut - len(group)))
        )
        groups[widest : widest + 1] = [group[:at], group[at:]]
    return tuple(
        _boundary(lower[-1][1], upper[0][0]) for lower, upper in itertools.pairwise(groups)
    )


def dividing(begins: Sequence[int], called: SizeBins) -> tuple[int, ...]:
    """Those of some begins of ranges with calls both below and from there to the next."""
    kept = []
    is_called = _calls_within(called, 0, begins[0]) if begins else False
    for since, until in itertools.zip_longest(begins, begins[1:]):
        if _calls_within(called, since, until):
            kept += [since] if is_called else []
            is_called = True
    return tuple(kept)


def sizes_called(summary: Mapping[str, Any]) -> Mapping[str, SizeBins] | None:
    """At which sizes a program calls each collective that is decided by size.

    Args:
        summary: Of its trace; None of one that was stored before sizes were listed.
    """
    found: Mapping[str, SizeBins] | None = summary.get("sizes")
    return found


def merged_sizes(summaries: Iterable[Mapping[str, SizeBins]]) -> dict[str, list[list[int]]]:
    """At which sizes several programs call collectives, all together."""
    found: dict[str, dict[int, list[int]]] = {}
    for sizes in summaries:
        for collective, bins in sizes.items():
            of = found.setdefault(collective, {})
            for least, most, calls in bins:
                one = of.setdefault(least.bit_length(), [least, most, 0])
                one[:] = min(one[0], least), max(one[1], most), one[2] + calls
    return {name: [of[power] for power in sorted(of)] for name, of in sorted(found.items())}


def called_bytes(name: str, fields: Mapping[str, Any]) -> int | None:
    """The bytes by which a blocking call is decided; None where its collective has no size.

    Args:
        name: Of the call, of `SIZED`.
        fields: Of the operation in a trace.
    """
    if name in ("allreduce", "bcast", "reduce"):
        return int(fields["count"] * fields["size"])
    if name == "reduce_scatter":
        return int(sum(fields["counts"]) * fields["size"])
    if name not in SIZED:
        return None
    sent = fields["send_count"] * fields["send_size"]
    return int(max(sent, fields["recv_count"] * fields["recv_size"]))


def _calls_within(called: SizeBins, since: int, until: int | None) -> bool:
    """Whether there may be calls of so many bytes and more, and of fewer than `until`."""
    return any(most >= since and (until is None or least < until) for least, most, _ in called)


def _span(group: SizeBins) -> tuple[bool, float]:
    """How far the sizes of a group lie apart; groups of one bin come last."""
    return len(group) > 1, group[-1][0] / max(group[0][1], 1)


def _gap(group: SizeBins, cut: int) -> float:
    return group[cut][0] / max(group[cut - 1][1], 1)


def _boundary(below: int, above: int) -> int:
    """A number above `below` and not above `above`: a power of two near their geometric mean."""
    middle = between(max(below, 1), above)
    power = 1 << (middle - 1).bit_length()
    fitting = [one for one in (power, power // 2) if below < one <= above]
    return min(fitting, key=lambda one: max(one / middle, middle / one), default=above)

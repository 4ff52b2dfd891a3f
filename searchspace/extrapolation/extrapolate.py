"""Extrapolates, and checks by predicting a capture that was left out."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.extrapolation.captures import Capture, read_captures
from searchspace.extrapolation.classes import patterns
from searchspace.extrapolation.errors import NoPattern
from searchspace.extrapolation.grids import grid_rules
from searchspace.extrapolation.messages import check_messages
from searchspace.extrapolation.transfer import Transfer
from searchspace.extrapolation.writing import write_plan
from searchspace.formats.trace import MAX_RANKS
from searchspace.kernels import trace_summary

__all__ = ["EDITION", "Check", "Extrapolated", "extrapolate"]

EDITION = 2
"""Goes up where the same captures give another trace."""

_LEAST = 2


@dataclass(frozen=True)
class Check:
    """A capture that was predicted from the smaller ones, beside what it is.

    Attributes:
        ranks: Of the capture.
        from_ranks: Of those it was predicted from.
        calls: Relative error of the number of calls.
        bytes: Of the bytes of point-to-point messages.
        flops: Of the computation.
        time: Of the simulated time, where somebody simulates.
    """

    ranks: int
    from_ranks: tuple[int, ...]
    calls: float
    bytes: float
    flops: float
    time: float | None = None


@dataclass(frozen=True)
class Extrapolated:
    """What was written, and how.

    Attributes:
        ranks: Of the trace.
        from_ranks: Of the captures that it follows from.
        left_aside: Of captures of another pattern.
        grid: The grid of ranks that was found.
        classes: What ranks do alike.
        class_count: How many classes there are.
        operations: Of all ranks.
        rounding: By how much, relative, a size is off at most, where the problem does not divide
            evenly among the ranks: the trace gives all of them the same.
        check: How well the largest capture is predicted by the others; None where these do not do.
        check_obstacle: Why there is no check.
    """

    ranks: int
    from_ranks: tuple[int, ...]
    left_aside: tuple[int, ...]
    grid: str
    classes: str
    class_count: int
    operations: int
    rounding: float = 0.0
    check: Check | None = None
    check_obstacle: str | None = None


Simulate = Callable[[Path], float | None]


def extrapolate(
    paths: Sequence[Path],
    ranks: int,
    output: Path,
    *,
    check: bool = True,
    simulate: Simulate | None = None,
) -> Extrapolated:
    """Write the trace of a run on more ranks.

    Args:
        paths: Captures of one program on fewer ranks, from two on; three let it be checked.
        ranks: Of the run that is wanted.
        output: Its trace.
        check: Whether to predict the largest capture from the others.
        simulate: Gives the simulated time, s, of a trace, or None; for the check.

    Raises:
        NoPattern: The captures do not tell how the larger run goes; the message says what does not.
        InvalidInput: The captures are no traces of one program, or `ranks` is not above theirs.
    """
    if len(paths) < _LEAST:
        raise InvalidInput("give captures of at least two numbers of ranks")
    captures = read_captures(paths)
    if ranks <= captures[-1].ranks:
        raise InvalidInput(
            f"must be above the {captures[-1].ranks} ranks of the largest capture", field="ranks"
        )
    if ranks > MAX_RANKS:
        raise InvalidInput(f"must be at most {MAX_RANKS}", field="ranks")
    made = _best(captures, ranks, output)
    if not check:
        return made
    try:
        found = _check(captures, made, simulate, output.parent)
    except NoPattern as error:
        return _with(made, None, str(error))
    return _with(made, found, None)


def _with(made: Extrapolated, check: Check | None, obstacle: str | None) -> Extrapolated:
    return Extrapolated(**{**made.__dict__, "check": check, "check_obstacle": obstacle})


def _best(captures: Sequence[Capture], ranks: int, output: Path) -> Extrapolated:
    """From all captures, or from as many as follow one pattern."""
    first: NoPattern | None = None
    for chosen in _subsets(captures, ranks):
        try:
            return _from(chosen, captures, ranks, output)
        except NoPattern as error:
            first = first or error
    assert first is not None
    raise first


def _subsets(captures: Sequence[Capture], ranks: int) -> Iterator[tuple[Capture, ...]]:
    """All captures, then fewer of them; those first whose ranks grow evenly."""

    def uneven(chosen: tuple[Capture, ...]) -> float:
        steps = [math.log2(capture.ranks) for capture in chosen] + [math.log2(ranks)]
        gaps = [b - a for a, b in pairwise(steps)]
        return max(gaps) - min(gaps)

    for size in range(len(captures), _LEAST - 1, -1):
        yield from sorted(combinations(captures, size), key=uneven)


def _from(
    chosen: tuple[Capture, ...], captures: Sequence[Capture], ranks: int, output: Path
) -> Extrapolated:
    numbers = [capture.ranks for capture in chosen]
    first: NoPattern | None = None
    for pattern in patterns(chosen, ranks, grid_rules([*numbers, ranks])):
        transfer = Transfer(chosen, pattern)
        try:
            plans = transfer.plan()
            if transfer.sizes.has_uncut_axes:
                # What messages along other axes tell of an axis is known only now.
                transfer = Transfer(chosen, pattern, transfer.sizes.across)
                plans = transfer.plan()
            check_messages(plans, transfer)
        except NoPattern as error:
            first = first or error
            continue
        header = chosen[-1].header.model_copy(
            update={
                "ranks": ranks,
                "repeats": None,
                "measured": None,
                "captured_by": _origin(chosen),
            }
        )
        written = write_plan(output, header, plans, transfer)
        trace_summary(output)
        aside = tuple(c.ranks for c in captures if c not in chosen)
        return Extrapolated(
            ranks,
            tuple(numbers),
            aside,
            f"{pattern.rule.name}: {' x '.join(map(str, pattern.dims[-1]))}",
            pattern.name,
            len(plans),
            written.operations,
            max(transfer.sizes.rounding, default=0.0),
        )
    raise first or NoPattern("the captures follow no pattern that is known")


def _origin(captures: Sequence[Capture]) -> str:
    listed = ", ".join(str(capture.ranks) for capture in captures)
    return f"{captures[-1].header.captured_by}, extrapolated from {listed} ranks"


def _check(
    captures: Sequence[Capture], made: Extrapolated, simulate: Simulate | None, directory: Path
) -> Check:
    used = [capture for capture in captures if capture.ranks in made.from_ranks]
    largest, rest = used[-1], used[:-1]
    if len(rest) < _LEAST:
        raise NoPattern(
            f"only {len(used)} captures follow the pattern, and a check takes three: one more than "
            "the two that predict it"
        )
    with tempfile.TemporaryDirectory(prefix="hamtune-check-", dir=directory) as temporary:
        predicted = Path(temporary) / "predicted.ht"
        found = _best(rest, largest.ranks, predicted)
        one, other = trace_summary(predicted), trace_summary(largest.path)
        times = [simulate(path) if simulate else None for path in (predicted, largest.path)]
        time = None if times[0] is None or times[1] is None else _error(times[0], times[1])
        return Check(
            largest.ranks,
            found.from_ranks,
            _error(sum(one["calls"].values()), sum(other["calls"].values())),
            _error(one["bytes"], other["bytes"]),
            _error(one["flops"], other["flops"]),
            time,
        )


def _error(predicted: float, measured: float) -> float:
    return predicted / measured - 1 if measured else float(predicted != 0)

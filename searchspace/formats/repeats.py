"""One trace of several captures of a program: its calls, with median computations between them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from searchspace.errors import InvalidInput
from searchspace.formats.operations import OPERATIONS
from searchspace.formats.trace import RankFile, Repeats
from searchspace.kernels import _native

__all__ = ["merge_repeats", "spread"]

_NONE = "?"


def merge_repeats(
    captures: Sequence[Sequence[RankFile]],
    directory: Path,
    *,
    each_rank: Callable[[], None] = lambda: None,
) -> tuple[list[RankFile], Repeats]:
    """Take the calls of a program and the median of what it computed before each.

    Where the calls of a rank differ between captures (a program that takes messages as they
    arrive), nothing can be set side by side: the rank keeps what the first capture has.

    Args:
        captures: The recordings of each capture, rank by rank.
        directory: Where merged recordings are written.
        each_rank: Called before each rank is merged; what it raises ends the merging.

    Returns:
        The recordings to make a trace of, and how much the captures differ.

    Raises:
        InvalidInput: A recording is damaged.
    """
    layouts = [_NONE] * 256
    for code, fields in OPERATIONS.values():
        layouts[code] = "".join(kind for _, kind in fields)
    merged: list[RankFile] = []
    flops: list[list[float]] = []
    differing = []
    for rank, recordings in enumerate(zip(*captures, strict=True)):
        each_rank()
        paths = [str(recording.path) for recording in recordings]
        path = directory / f"rank-{rank}.merged"
        try:
            count, totals, differ = _native.merge_repeats(layouts, paths, str(path))
        except RuntimeError as error:
            raise InvalidInput(f"rank {rank}: {error}") from error
        flops.append(totals)
        if differ:
            differing.append(rank)
            merged.append(recordings[0])
            continue
        merged.append(RankFile(path, count))
    return merged, Repeats(
        captures=len(captures),
        spread=spread([sum(of_capture) for of_capture in zip(*flops, strict=True)]),
        rank_spreads=tuple(spread(totals) for totals in flops),
        differing_ranks=tuple(differing),
    )


def spread(values: Sequence[float]) -> float:
    """The range of values relative to their median; 0 where all are 0.

    Example:
        >>> spread([2.0, 4.0, 5.0])
        0.75
    """
    median = statistics.median(values)
    return round((max(values) - min(values)) / median, 6) if median > 0 else 0.0

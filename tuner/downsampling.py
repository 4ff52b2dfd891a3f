"""Fewer points of a long job: every improvement stays, what lies between is sampled evenly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import Any

from storage.records import ConvergencePoint
from tuner.convergence import CLOSE, convergence_point, figures, proximity, trials_to_reach

__all__ = ["downsampled", "sampled_indices", "stride"]


def stride(count: int, most: int) -> int:
    """Of so many trials, each how many-th makes about so many points."""
    return max(1, count // max(1, most))


def downsampled(
    points: Sequence[ConvergencePoint], most: int, *, started_at: float | None
) -> dict[str, Any]:
    """What `tuner.convergence.convergence` answers, of some of the points.

    The figures are those of all points. `proximity_at` tells after how many trials of the search
    each value of the proximity holds.

    Args:
        points: At least one; all improvements and all baselines are among them
            (`Convergence.points`).
        most: How many points, and values of the proximity, are wanted.
        started_at: When the job started, seconds since the epoch.
    """
    last = points[-1]
    so_far = (None, *(point.searched_best for point in points))
    improved = [
        point
        for before, point in zip(so_far, points, strict=False)
        if point.searched_best is not None and point.searched_best != before
    ]
    steps = [point.searched for point in improved]
    values = proximity([point.searched_best for point in improved])
    at = _evenly(last.searched, steps, most)
    reached = trials_to_reach(values, CLOSE)
    which = sampled_indices([point.best for point in points], most)
    return {
        "points": [_shown(points[index], started_at) for index in which],
        "proximity": [
            values[before - 1] if (before := bisect_right(steps, n)) else None for n in at
        ],
        "proximity_at": at,
        **figures(
            [point.trial for point in points],
            best=None
            if last.best is None
            else next(point.trial for point in points if point.best == last.best),
            initial=improved[0].trial if improved else None,
            lowest=last.searched_best,
            reached=None if reached is None else steps[reached - 1],
            searched=last.searched,
        ),
    }


def _evenly(count: int, needed: Sequence[int], most: int) -> list[int]:
    """Of 1 to `count`: both ends, those needed, and others evenly up to about `most` in all."""
    if count <= most:
        return list(range(1, count + 1))
    chosen = {1, count, *needed}
    wanted = max(0, most - len(chosen))
    chosen.update((2 * turn + 1) * count // (2 * wanted) + 1 for turn in range(wanted))
    return sorted(chosen)


def _shown(point: ConvergencePoint, started_at: float | None) -> dict[str, Any]:
    wall_seconds = 0.0
    if started_at is not None and point.all_finished_at is not None:
        wall_seconds = max(0.0, point.all_finished_at - started_at)
    return convergence_point(point.trial, point.best, wall_seconds, point.cpu_seconds_spent)


def sampled_indices(
    values: Sequence[object], most: int, *, always: Collection[int] = ()
) -> list[int]:
    """Which values of a step function to keep: the first, the last, each step, others evenly.

    Args:
        values: In order.
        most: How many are wanted; more are kept where there are more steps.
        always: Indices that are kept as well.

    Returns:
        Their indices, ascending.
    """
    count = len(values)
    if count <= most:
        return list(range(count))
    needed = {0, count - 1, *always}
    needed.update(index for index in range(1, count) if values[index] != values[index - 1])
    others = [index for index in range(count) if index not in needed]
    wanted = min(len(others), max(0, most - len(needed)))
    even = (others[(2 * turn + 1) * len(others) // (2 * wanted)] for turn in range(wanted))
    return sorted([*needed, *even])

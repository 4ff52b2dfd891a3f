"""Fewer points of a long course: every improvement stays, and what lies between is thinned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["kept", "thinned"]


def thinned(course: dict[str, Any], most: int) -> dict[str, Any]:
    """The answer of `tuner.convergence.convergence` with fewer points.

    Args:
        course: With all points.
        most: How many points, and values of the proximity, are wanted. Where the improvements
            alone are more, all of these are kept.

    Returns:
        The course with its `points` and `proximity` thinned. `proximity_at` tells after how many
        trials of the search each value of the proximity holds; None where all are there.
    """
    points, proximity = course["points"], course["proximity"]
    which = kept([point["best"] for point in points], most)
    at = kept(proximity, most)
    return course | {
        "points": [points[index] for index in which],
        "proximity": [proximity[index] for index in at],
        "proximity_at": None if len(at) == len(proximity) else [index + 1 for index in at],
    }


def kept(values: Sequence[float | None], most: int) -> list[int]:
    """Which values of a step function to keep: the first, the last, each step, others evenly.

    Args:
        values: In order.
        most: How many are wanted; more are kept where there are more steps.

    Returns:
        Their indices, ascending.
    """
    count = len(values)
    if count <= most:
        return list(range(count))
    needed = {0, count - 1}
    needed.update(index for index in range(1, count) if values[index] != values[index - 1])
    others = [index for index in range(count) if index not in needed]
    wanted = min(len(others), max(0, most - len(needed)))
    even = (others[(2 * turn + 1) * len(others) // (2 * wanted)] for turn in range(wanted))
    return sorted([*needed, *even])

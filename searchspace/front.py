"""Pareto fronts of two things that are both to be small, and their hypervolume.

A point dominates another if it is nowhere greater and somewhere smaller. The front is what nothing
dominates; its hypervolume is the area that it dominates up to a reference (Zitzler and Thiele,
"Multiobjective evolutionary algorithms: a comparative case study and the strength Pareto approach",
IEEE Transactions on Evolutionary Computation 3 (1999)), in two dimensions a sum of rectangles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Point", "StaircaseFront", "hypervolume", "hypervolume_gains", "pareto_front"]

Point = tuple[float, float]


def pareto_front(points: Sequence[Point]) -> list[int]:
    """The indices of the points that none dominates, by their first number.

    Of equal points the first one counts.
    """
    front: list[int] = []
    lowest = math.inf
    for index in sorted(range(len(points)), key=lambda i: (*points[i], i)):
        if points[index][1] < lowest:
            lowest = points[index][1]
            front.append(index)
    return front


def hypervolume(points: Iterable[Point], reference: Point) -> float:
    """The area dominated by points, up to a reference; what lies beyond it counts nothing."""
    within = [point for point in points if point[0] < reference[0] and point[1] < reference[1]]
    area, above = 0.0, reference[1]
    for index in pareto_front(within):
        first, second = within[index]
        area += (reference[0] - first) * (above - second)
        above = second
    return area


def hypervolume_gains(
    front: Sequence[Point],
    points: NDArray[np.float64],
    reference: Point,
) -> NDArray[np.float64]:
    """By how much each point alone would widen the area that a front dominates.

    Args:
        front: Its points; others among them change nothing.
        points: Shape (points, 2).
        reference: Up to which areas are counted.

    Returns:
        The gains, shape (points,), from 0 on.
    """
    chosen = [front[index] for index in pareto_front(front)]
    # Between two neighbours on the front the first number runs, and the second is to be beaten.
    edges = [-math.inf, *(first for first, _ in chosen), reference[0]]
    levels = [reference[1], *(second for _, second in chosen)]
    gains = np.zeros(len(points))
    for low, high, level in zip(edges, edges[1:], levels, strict=False):
        high = min(high, reference[0])
        width = np.maximum(high - np.maximum(points[:, 0], low), 0.0)
        gains += width * np.maximum(min(level, reference[1]) - points[:, 1], 0.0)
    return gains


class StaircaseFront:
    """The front of points that come one after the other."""

    def __init__(self) -> None:
        self.points: list[Point] = []

    def add(self, point: Point) -> bool:
        """Take another point; tells whether it is on the front, which no equal one was."""
        if any(first <= point[0] and second <= point[1] for first, second in self.points):
            return False
        left = [one for one in self.points if one[0] < point[0] or one[1] < point[1]]
        self.points = sorted([*left, point])
        return True

"""Fronts and their hypervolume, against what counting cells says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.front import (
    Point,
    StaircaseFront,
    hypervolume,
    hypervolume_gains,
    pareto_front,
)

SIDE = 8
POINTS = st.lists(st.tuples(st.integers(0, SIDE + 2), st.integers(0, SIDE + 2)), max_size=12)
CORNER = (SIDE, SIDE)


def dominates(one: Point, other: Point) -> bool:
    return one != other and one[0] <= other[0] and one[1] <= other[1]


def cells(points: list[tuple[int, int]]) -> int:
    """The unit squares below the corner that some point dominates."""
    grid = itertools.product(range(SIDE), range(SIDE))
    return sum(any(x <= i and y <= j for x, y in points) for i, j in grid)


def test_a_front() -> None:
    points = [(3.0, 1.0), (1.0, 3.0), (3.0, 3.0), (2.0, 2.0), (2.0, 2.0)]
    assert pareto_front(points) == [1, 3, 0]
    assert hypervolume(points, (4.0, 4.0)) == 1 * 3 + 1 * 1 + 1 * 2 - 0
    assert hypervolume([], (4.0, 4.0)) == 0.0


@given(POINTS)
def test_a_front_is_what_nothing_dominates(points: list[tuple[int, int]]) -> None:
    front = pareto_front(points)
    kept = {points[index] for index in front}
    assert kept == {one for one in points if not any(dominates(two, one) for two in points)}
    assert len(kept) == len(front)
    assert front == sorted(front, key=lambda index: points[index])


@given(POINTS)
def test_the_hypervolume_is_the_area_of_cells(points: list[tuple[int, int]]) -> None:
    assert hypervolume(points, CORNER) == cells(points)


@given(POINTS, POINTS.filter(bool))
def test_a_gain_is_the_difference_that_a_point_makes(
    front: list[tuple[int, int]], points: list[tuple[int, int]]
) -> None:
    gains = hypervolume_gains(front, np.array(points, dtype=np.float64), CORNER)
    before = cells(front)
    assert gains.tolist() == [cells([*front, point]) - before for point in points]


@given(POINTS)
def test_points_that_come_one_by_one_make_the_same_front(points: list[tuple[int, int]]) -> None:
    front = StaircaseFront()
    for index, point in enumerate(points):
        before = points[:index]
        new = not any(other == point or dominates(other, point) for other in before)
        assert front.add(point) == new
    assert front.points == [points[index] for index in pareto_front(points)]


def test_a_reference_that_nothing_reaches_leaves_no_area() -> None:
    assert hypervolume([(5.0, 5.0)], (5.0, 9.0)) == 0.0
    assert hypervolume_gains([], np.array([[9.0, 0.0]]), (5.0, 9.0)).tolist() == [0.0]
    assert hypervolume_gains([], np.array([[1.0, 2.0]]), (5.0, 9.0)) == pytest.approx(28.0)

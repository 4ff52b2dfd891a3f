"""What a model says of the points that were not tried yet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner.surrogate import probability_of_improvement

SECONDS = st.floats(1e-6, 1e3)
PART = st.floats(0.001, 0.9)


def test_one_point_as_good_as_what_is_asked_is_better_in_half_of_all_cases() -> None:
    mean = np.array([np.log(2.0 * 0.9)])
    assert probability_of_improvement(2.0, 0.1, mean, np.array([0.3])) == pytest.approx(0.5)


def test_points_count_together() -> None:
    mean = np.full(2, np.log(1.8))
    assert probability_of_improvement(2.0, 0.1, mean, np.full(2, 0.3)) == pytest.approx(0.75)


def test_where_none_is_left_there_is_nothing_better() -> None:
    assert probability_of_improvement(1.0, 0.1, np.array([]), np.array([])) == 0.0


@given(best=SECONDS, gain=PART, seconds=SECONDS)
def test_what_is_known_for_sure_is_better_or_is_not(
    best: float, gain: float, seconds: float
) -> None:
    probability = probability_of_improvement(best, gain, np.log([seconds]), np.zeros(1))
    limit = best * (1 - gain)
    if abs(seconds - limit) > 1e-9 * limit:
        assert probability == float(seconds < limit)


@given(best=SECONDS, gains=st.tuples(PART, PART), seed=st.integers(0, 99))
def test_the_more_is_asked_the_less_likely_it_is(
    best: float, gains: tuple[float, float], seed: int
) -> None:
    drawn = np.random.default_rng(seed)
    mean, spread = np.log(best) + drawn.normal(size=5), drawn.random(5)
    less, more = sorted(gains)
    probabilities = [probability_of_improvement(best, gain, mean, spread) for gain in (less, more)]
    assert 0 <= probabilities[1] <= probabilities[0] <= 1

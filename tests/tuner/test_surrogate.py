"""What a model says of the points that were not tried yet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuner.surrogate import expected_gain, probability_of_improvement

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


def test_what_is_known_for_certain_is_the_gain() -> None:
    assert expected_gain(2.0, np.log([1.5, 1.8]), np.zeros(2)) == pytest.approx(0.25, abs=1e-6)


def test_what_is_slower_for_certain_or_not_there_brings_nothing() -> None:
    assert expected_gain(1.0, np.log([1.1, 3.0]), np.zeros(2)) == 0.0
    assert expected_gain(1.0, np.array([]), np.array([])) == 0.0


@pytest.mark.parametrize(
    ("mean", "spread", "gain"),
    [([np.log(0.995), 3.0], [0.0, 1.0], 0.00529), ([np.log(0.9), 8.0], [1e-3, 2.0], 0.10001)],
)
def test_a_gain_that_is_nearly_certain_is_seen_beside_a_wide_guess(
    mean: list[float], spread: list[float], gain: float
) -> None:
    """Of two normals: what is certain, and what the other makes of the rest."""
    assert expected_gain(1.0, np.array(mean), np.array(spread)) == pytest.approx(gain, abs=1e-5)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000))
def test_the_expected_gain_is_that_of_the_fastest_of_many_draws(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 12))
    mean = np.where(
        random.random(count) < 0.5, random.uniform(-0.3, 0.5, count), random.uniform(0, 8, count)
    )
    spread = random.choice([0.0, 1e-3, 0.05, 0.4, 2.0], count) * random.uniform(0.5, 1.0, count)

    expected = expected_gain(1.0, mean, spread)

    fastest = np.exp(random.normal(mean, spread, (40_000, count))).min(axis=1)
    drawn = np.maximum(0.0, 1.0 - fastest)
    # Five standard errors, one draw's worth of what is too rare to be drawn, and the quadrature.
    assert expected == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 200 + 2e-4)


@given(st.floats(0.001, 0.5), st.floats(-0.5, 0.5), st.floats(0.01, 0.5))
def test_what_is_expected_is_no_less_than_what_a_likely_gain_makes_of_it(
    gain: float, mean: float, spread: float
) -> None:
    """Markov's inequality."""
    at_least = gain * probability_of_improvement(1.0, gain, np.array([mean]), np.array([spread]))
    assert expected_gain(1.0, np.array([mean]), np.array([spread])) >= at_least - 1e-6

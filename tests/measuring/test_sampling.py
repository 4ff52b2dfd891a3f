"""Measuring in turns until each thing is known well enough."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measuring.clusters import RunFailed
from measuring.sampling import Asked, Sample, Take, is_faster, sample


def test_what_repeats_well_is_run_least_and_what_does_not_more_often() -> None:
    rng = random.Random(1)

    def run(thing: str) -> Take:
        return Take(2.0 if thing == "steady" else rng.uniform(0.8, 1.2))

    found = sample(["steady", "noisy"], run, Asked(), seed=1)

    assert len(found["steady"].seconds) == 3
    assert len(found["noisy"].seconds) > 3
    noisy = found["noisy"]
    assert noisy.half_interval is not None and noisy.mean is not None
    assert noisy.half_interval < 0.03 * noisy.mean or noisy.runs == 30


def test_things_take_turns() -> None:
    order: list[str] = []

    def run(thing: str) -> Take:
        order.append(thing)
        return Take(1.0)

    sample("abc", run, Asked(least=4), seed=3)

    turns = [tuple(order[start : start + 3]) for start in range(0, len(order), 3)]
    assert all(sorted(turn) == ["a", "b", "c"] for turn in turns)
    assert len({*turns}) > 1, "each turn has an order of its own"


def test_what_does_not_count_is_kept_apart_and_run_again() -> None:
    outcomes = iter([Take(9.0, ["sent again"]), Take(1.0), Take(1.0), Take(1.0)])

    known = sample("x", lambda _: next(outcomes), Asked(), seed=1)["x"]

    assert known.seconds == [1.0, 1.0, 1.0]
    assert known.doubts == ["sent again"]


def test_what_fails_twice_is_not_tried_again() -> None:
    def run(thing: str) -> Take:
        if thing == "bad":
            raise RunFailed("no such algorithm")
        return Take(1.0)

    found = sample(["bad", "good"], run, Asked(), seed=1)

    assert found["bad"] == Sample(failures=["no such algorithm"] * 2)
    assert found["good"].mean == 1.0


def test_it_ends_when_time_is_over() -> None:
    ticks = itertools.count()
    clock = lambda: float(next(ticks))  # noqa: E731

    found = sample("ab", lambda _: Take(1.0), Asked(seconds=3.0), seed=1, clock=clock)

    assert sum(known.runs for known in found.values()) == 2


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=20))
def test_the_interval_holds_the_mean_and_is_that_of_student(seconds: list[float]) -> None:
    from scipy import stats

    known = Sample(seconds=seconds)

    assert known.half_interval is not None
    expected = stats.sem(seconds) * stats.t.ppf(0.975, len(seconds) - 1)
    assert known.half_interval == pytest.approx(expected, abs=1e-12)


@given(seconds=st.lists(st.floats(0.5, 2.0), min_size=2, max_size=10))
def test_nothing_is_faster_than_what_takes_as_long(seconds: list[float]) -> None:
    assert not is_faster(Sample(seconds), Sample(list(reversed(seconds))))


@pytest.mark.parametrize(
    ("one", "other", "faster"),
    [
        ([1.0, 1.01, 0.99, 1.0], [1.1, 1.11, 1.09, 1.1], True),
        ([1.0, 1.5, 0.6, 1.1], [1.1, 1.6, 0.7, 1.2], False),  # chance would have it so
        ([1.0, 1.0], [1.1, 1.1], True),  # what does not vary is known
        ([1.0, 1.0], [1.0, 1.0], False),
        ([1.0], [2.0, 2.1], False),
        ([1.0, 1.1], [], False),
    ],
)
def test_it_is_faster_by_more_than_chance(
    one: list[float], other: list[float], faster: bool
) -> None:
    assert is_faster(Sample(one), Sample(other)) is faster
    assert not is_faster(Sample(other), Sample(one))

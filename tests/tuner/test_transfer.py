"""How much finished jobs are believed, and that a search gains by good ones and not by bad ones."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from searchspace.configuration import Configuration
from searchspace.insight import Comparable, Experience, Tried, experience_of
from searchspace.space import EnumParameter, SearchSpace
from tuner import parameters
from tuner.opentuner_conversation import Conversation
from tuner.transfer import Sources, agreement, believed

TIMES = arrays(np.float64, st.integers(2, 30), elements=st.floats(1e-3, 1e3))
TAU = st.floats(-1, 1)

SPACE = SearchSpace(
    [
        EnumParameter("topology", tuple(f"network-{i}" for i in range(8))),
        EnumParameter("mapping", tuple(f"mapper-{i}" for i in range(8))),
        EnumParameter("mpi", tuple(f"library-{i}" for i in range(8))),
    ]
)


def place(configuration: Configuration, name: str) -> int:
    return int(str(configuration[name]).split("-")[1])


def seconds(configuration: Configuration) -> float:
    """Each parameter has one good value; topology and library get on well or badly."""
    topology, mapper, library = (place(configuration, p.name) for p in SPACE.parameters)
    return math.exp(abs(topology - 5) / 4 + abs(mapper - 2) / 5 + (3 * topology + library) % 8 / 6)


def scaled(configuration: Configuration) -> float:
    """The same on a machine that is forty times slower."""
    return 40.0 * math.pow(seconds(configuration), 0.8)


def upside_down(configuration: Configuration) -> float:
    return 1.0 / seconds(configuration)


def searched(
    objective: Callable[[Configuration], float],
    seed: int,
    experiences: list[Experience] | None = None,
    trials: int = 40,
) -> tuple[list[Tried], tuple[float, ...] | None]:
    """What a search of so many trials finds, four in flight, and what it believes in the end."""
    found: list[Tried] = []
    pending: deque[tuple[int, Configuration]] = deque()
    conversation = Conversation(
        {
            "seed": seed,
            "parameters": parameters.describe(SPACE),
            "techniques": ["Surrogate"],
            "space": SPACE.describe()["parameters"],
            "experiences": [one.to_json() for one in experiences or ()],
        }
    )
    weights = None
    while len(found) < trials:
        while len(pending) < 4:
            asked = conversation.ask()
            weights = asked["weights"]
            pending.append((asked["id"], SPACE.canonicalise(asked["values"])))
        number, configuration = pending.popleft()
        value = objective(configuration)
        conversation.tell({"id": number, "value": value, "status": "completed"})
        found.append(Tried(configuration, value, completed=True))
    return found, weights


@cache
def taught_trials(objective: Callable[[Configuration], float]) -> list[Tried]:
    return searched(objective, 1)[0]


@cache
def taught_by(objective: Callable[[Configuration], float]) -> Experience:
    found = experience_of("first", "first", SPACE, None, taught_trials(objective))
    assert found is not None
    return found


@given(times=TIMES)
def test_who_orders_all_trials_rightly_agrees_and_who_reverses_them_does_not(
    times: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> None:
    completed = np.ones(len(times), dtype=np.bool_)
    right, pairs = agreement(2.0 * times, times, completed)
    wrong, _ = agreement(-times, times, completed)
    if pairs:
        assert (right, wrong) == (1.0, -1.0)
    assert pairs <= len(times) * (len(times) - 1) // 2


@given(times=TIMES, seed=st.integers(0, 99))
def test_only_the_order_of_a_guess_counts(
    times: np.ndarray[tuple[int], np.dtype[np.float64]], seed: int
) -> None:
    guess = np.random.default_rng(seed).permutation(len(times)).astype(float)
    completed = np.ones(len(times), dtype=np.bool_)
    assert agreement(guess, times, completed) == agreement(7 * guess + 3, times, completed)


def test_trials_that_were_cut_off_are_known_to_be_slower_than_others_alone() -> None:
    times, completed = np.array([1.0, 1.3, 1.3]), np.array([True, False, False])
    assert agreement(np.array([0.0, 1.0, 2.0]), times, completed) == (1.0, 2)


@given(tau=TAU, pairs=st.integers(0, 5000), trials=st.integers(2, 200))
def test_belief_is_a_share(tau: float, pairs: int, trials: int) -> None:
    assert 0.0 <= believed(tau, pairs, trials) <= 1.0


@given(tau=TAU, worse=st.floats(0, 1), trials=st.integers(2, 200))
def test_who_orders_worse_is_believed_no_more(tau: float, worse: float, trials: int) -> None:
    pairs = trials * (trials - 1) // 2
    assert believed(tau - worse, pairs, trials) <= believed(tau, pairs, trials)


def test_who_was_never_held_against_trials_is_believed_in_full() -> None:
    assert believed(0.0, 0, 0) == 1.0


@given(seed=st.integers(0, 9999), trials=st.integers(100, 150))
def test_who_knows_nothing_counts_nothing_or_next_to_it_after_many_trials(
    seed: int, trials: int
) -> None:
    drawn = np.random.default_rng(seed)
    guess, times = drawn.normal(size=trials), drawn.random(trials)
    tau, pairs = agreement(guess, times, np.ones(trials, dtype=np.bool_))
    # Five standard deviations of a random order.
    assert believed(tau, pairs, trials) <= 5 * math.sqrt(4 / (9 * trials))


@pytest.mark.parametrize("tau", [0.0, -0.3, 0.1])
def test_a_useless_source_counts_nothing_from_twenty_trials_on(tau: float) -> None:
    assert believed(tau, 190, 20) == 0.0


def test_a_job_on_another_machine_tells_where_to_begin() -> None:
    def best(seed: int, trials: int, experiences: list[Experience] | None = None) -> float:
        found, _ = searched(seconds, seed, experiences, trials)
        return min(one.seconds for one in found)

    seeds = range(11, 19)
    taught = [best(seed, 4, [taught_by(scaled)]) for seed in seeds]
    alone = [best(seed, 12) for seed in seeds]
    assert np.mean(np.log(taught)) < np.mean(np.log(alone))
    assert sum(one <= other for one, other in zip(taught, alone, strict=True)) >= 7


def best_of(objective: Callable[[Configuration], float]) -> Configuration:
    return min(taught_trials(objective), key=lambda one: one.seconds).configuration


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_turns_of_others_begin_with_what_was_best_for_them(seed: int) -> None:
    """Every other one of the first proposals; where it was proposed, another one is."""
    learned = [taught_by(scaled), taught_by(upside_down), taught_by(scaled)]
    found, _ = searched(seconds, seed, learned, trials=8)
    configurations = [one.configuration for one in found]
    assert configurations[0] == best_of(scaled)
    assert best_of(upside_down) in configurations[1:3]
    assert len(set(configurations)) == 8


def test_a_job_that_counts_little_beside_another_one_has_no_trial_to_begin_with() -> None:
    sources = Sources([taught_by(upside_down), taught_by(scaled)], Comparable(SPACE, None, None), 1)
    for weights, known in (
        ([1.0, 1.0], [best_of(upside_down), best_of(scaled)]),
        ([0.5, 0.9], [best_of(scaled), best_of(upside_down)]),
        ([0.4, 0.9], [best_of(scaled)]),
        ([0.0, 0.0], []),
    ):
        sources.weights = weights
        assert sources.incumbents() == known


def test_what_was_best_where_there_was_more_to_choose_is_no_place_to_begin() -> None:
    wider = SearchSpace([*SPACE.parameters, EnumParameter("ordering", ("original", "hamorder"))])
    drawn = [wider.sample(random.Random(seed)) for seed in range(20)]
    trials = [Tried(one, seconds(one), completed=True) for one in drawn]
    source = experience_of("w", "w", wider, None, trials)
    assert source is not None
    assert Sources([source], Comparable(SPACE, None, None), 1).incumbents() == []
    best = min(drawn, key=seconds)
    assert Sources([source], Comparable(wider, None, None), 1).incumbents() == [best]


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_half_of_the_first_proposals_are_those_of_a_job_that_learns_from_none(seed: int) -> None:
    misled, _ = searched(seconds, seed, [taught_by(upside_down)], trials=8)
    alone, _ = searched(seconds, seed, trials=8)
    assert len({one.configuration for one in misled} & {one.configuration for one in alone}) >= 4


def test_a_job_whose_order_is_upside_down_comes_to_count_nothing() -> None:
    found, weights = searched(seconds, 11, [taught_by(upside_down)])
    assert weights == (0.0,)
    alone, _ = searched(seconds, 11)
    assert min(one.seconds for one in found) <= 1.05 * min(one.seconds for one in alone)


def test_of_two_jobs_the_one_that_is_like_it_counts_more() -> None:
    _, weights = searched(seconds, 11, [taught_by(upside_down), taught_by(scaled)])
    assert weights is not None
    assert weights[0] < weights[1]


def test_a_job_that_shares_no_choice_does_no_harm() -> None:
    other = SearchSpace([EnumParameter("ordering", ("original", "hamorder"))])
    trials = [Tried(one, 1.0 + i, completed=True) for i, one in enumerate(other.enumerate())]
    stranger = experience_of("other", "other", other, None, trials)
    assert stranger is not None
    found, weights = searched(seconds, 11, [stranger])
    assert weights == (0.0,)
    assert len({one.configuration for one in found}) == len(found)


def test_the_same_experience_leads_to_the_same_trials() -> None:
    learned = [taught_by(scaled)]
    again = [Experience.from_json(learned[0].to_json())]
    assert searched(seconds, 3, learned) == searched(seconds, 3, again)


def test_of_very_many_trials_some_are_compared() -> None:
    """In memory that does not grow with their square."""
    times = (np.random.default_rng(0).permutation(40_000) + 1.0).astype(np.float64)
    completed = np.ones(len(times), dtype=np.bool_)
    assert agreement(times, times, completed) == (1.0, 500 * 499 // 2)

"""The model of time: its terms by hand and by counting anew, and what it learns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Shape, Tree
from searchspace.machine import parse_machine
from searchspace.mapping.time_model import HostLimits, TimeModel, round_assignment
from searchspace.rounds import Rounds
from searchspace.traffic import Traffic

MACHINES: list[tuple[Shape, int]] = [
    (Grid((3, 4), wrapped=True), 1),
    (Tree((2, 3)), 2),
    (Dragonfly(groups=3, routers=2, nodes=2), 1),
]
LINE = HopMachine.uniform(Grid((3,), wrapped=False), cores=2)


def rounds_of(ranks: int, messages: list[tuple[int, int, int, int]], count: list[float]) -> Rounds:
    """Messages as (round, sender, receiver, size)."""
    table = np.array(messages, dtype=np.int64).reshape(-1, 4)
    number, sender, receiver = (table[:, column].astype(np.uint32) for column in range(3))
    return Rounds(ranks, number, sender, receiver, table[:, 3].copy(), np.array(count))


def norm(*loads: float) -> float:
    return math.pow(math.fsum(load**8 for load in loads), 1 / 8)


def test_the_busiest_way_of_each_round_counts_as_often_as_the_round_comes() -> None:
    # Hosts 0 - 1 - 2 with two cores each; rank r on host r.
    rounds = rounds_of(3, [(0, 0, 2, 10), (0, 1, 2, 5), (1, 2, 0, 7)], [1, 3])
    assignment = round_assignment(rounds, LINE, np.array([0, 2, 4], dtype=np.uint32))

    volume, busiest, in_rounds, hops = assignment.terms()

    assert volume == 10 + 15 + 3 * 14
    assert busiest == pytest.approx(norm(10, 15, 21, 21))
    assert in_rounds == pytest.approx(norm(10, 15) + 3 * norm(7, 7))
    assert hops == 2 + 1 + 3 * 2


def test_what_ranks_of_a_host_share_is_crossed_too() -> None:
    rounds = rounds_of(3, [(0, 0, 1, 10), (0, 0, 2, 4)], [1])
    places = np.array([0, 1, 2], dtype=np.uint32)  # ranks 0 and 1 on host 0, rank 2 on host 1

    assert round_assignment(rounds, LINE, places).terms()[0] == 4
    shared = round_assignment(rounds, LINE, places, HostLimits(interface=0.5, memory=2))
    # The cable, out of one interface and into the other at half its speed, and the memory.
    assert shared.terms()[0] == 4 + 2 * 4 / 0.5 + 10 / 2


@given(
    where=st.sampled_from(MACHINES),
    data=st.data(),
    messages=st.lists(
        st.tuples(
            st.integers(0, 3), st.integers(0, 8), st.integers(0, 8), st.integers(1, 10**9)
        ).filter(lambda message: message[1] != message[2])
    ),
)
def test_a_swap_changes_the_terms_as_counting_anew_does(
    where: tuple[Shape, int], data: st.DataObject, messages: list[tuple[int, int, int, int]]
) -> None:
    machine, limits = HopMachine.uniform(*where), HostLimits(interface=1.5, memory=3)
    rounds = rounds_of(9, messages, [1, 2, 1, 5])
    assignment = round_assignment(rounds, machine, np.arange(9, dtype=np.uint32), limits)
    moves = data.draw(
        st.lists(st.tuples(st.integers(0, 8), st.integers(0, machine.places - 1)), max_size=4)
    )

    for rank, place in moves:
        foreseen = assignment.after(rank, place)
        assignment.swap(rank, place)
        assert foreseen == assignment.terms()

    places = assignment.places()
    assert len(set(places.tolist())) == 9
    assert assignment.terms() == round_assignment(rounds, machine, places, limits).terms()


@settings(max_examples=10)
@given(seed=st.integers(0, 99))
def test_annealing_ends_with_the_best_that_it_met(seed: int) -> None:
    machine = HopMachine.uniform(Grid((4, 4), wrapped=True))
    draw = np.random.default_rng(seed)
    ring = draw.permutation(16)
    rounds = Rounds.at_once(Traffic.from_pairs(16, ring, np.roll(ring, 1), np.full(16, 1000)))
    assignment = round_assignment(rounds, machine, np.arange(16, dtype=np.uint32))
    before = assignment.terms()

    assignment.anneal((1.0, 1.0, 0.0, 0.0), 0.5, 3000, seed)

    after = assignment.terms()
    assert sum(after[:2]) <= sum(before[:2])
    assert after == round_assignment(rounds, machine, assignment.places()).terms()
    assert sorted(assignment.places().tolist()) == list(range(16))
    again = round_assignment(rounds, machine, np.arange(16, dtype=np.uint32))
    again.anneal((1.0, 1.0, 0.0, 0.0), 0.5, 3000, seed)
    assert again.places().tolist() == assignment.places().tolist()


@pytest.mark.parametrize("term", [0, 1, 2, 3])
def test_what_takes_the_time_is_learned(term: int) -> None:
    machine = HopMachine.uniform(Grid((4, 4), wrapped=False))
    draw = np.random.default_rng(5)
    pairs = [(n % 3, *draw.choice(16, 2, replace=False).tolist(), 100 + n) for n in range(60)]
    rounds = rounds_of(16, pairs, [1, 1, 1])
    first = np.arange(16, dtype=np.uint32)
    model, assignment = TimeModel(rounds, machine, first), round_assignment(rounds, machine, first)
    unit = assignment.terms()

    for _ in range(30):
        places = draw.permutation(16).astype(np.uint32)
        terms = round_assignment(rounds, machine, places).terms()
        model.learn(places, 2.0 + terms[term] / unit[term])

    counted = [weight * one for weight, one in zip(model.weights, unit, strict=True)]
    assert np.argmax(counted) == term


def test_limits_of_a_described_machine() -> None:
    described = {
        "nodes": 4,
        "host_speed": "1Gf",
        "cores_per_host": 2,
        "link_bandwidth": "1GBps",
        "topology": {"edges": [[0, 1], [1, 2], [2, 3]]},
    }
    assert HostLimits.of(parse_machine(described)) == HostLimits()
    narrow = {**described, "interface_bandwidth": "500MBps", "memory_bandwidth": "4GBps"}
    assert HostLimits.of(parse_machine(narrow)) == HostLimits(0.5, 4)

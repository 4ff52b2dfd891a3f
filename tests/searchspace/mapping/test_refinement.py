"""Refinement over made-up simulators: congestion and hops, known to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.hop_machine import Grid, HopMachine, Tree
from searchspace.mapping import Places
from searchspace.mapping.metrics import cable_loads, metrics_of
from searchspace.mapping.refine import Timed, refine
from searchspace.mapping.refinement import Refinement
from searchspace.traffic import Traffic

TORUS = HopMachine.uniform(Grid((4, 4), wrapped=True))
SHUFFLED = np.random.default_rng(3).permutation(16)
RING = Traffic.from_pairs(16, SHUFFLED, np.roll(SHUFFLED, 1), np.arange(1, 17) * 1000)
IN_ORDER = np.arange(16, dtype=np.uint32)


def simulated(places: Places, cutoff: float | None = None, *, drift: float = 1.0) -> Timed | None:
    """A program that takes as long as its busiest cable, and a little for all hops."""
    found = metrics_of(RING, TORUS, places)
    seconds = drift * (found.congestion + 1e-3 * found.hop_bytes)
    if cutoff is not None and seconds > cutoff:
        return None
    return Timed(seconds, [[load, load] for load in cable_loads(RING, TORUS, places)])


def test_swaps_make_a_mapping_faster() -> None:
    start = simulated(IN_ORDER)
    assert start is not None

    refined = refine(RING, TORUS, [IN_ORDER], simulated, evaluations=120, seed=1)

    assert refined.start_seconds == start.seconds
    assert refined.seconds < 0.5 * start.seconds
    assert sorted(refined.places.tolist()) == list(range(16))
    assert (refined.evaluations, refined.verified) == (120, 0)
    again = refine(RING, TORUS, [IN_ORDER], simulated, evaluations=120, seed=1)
    assert again.places.tolist() == refined.places.tolist()


def test_what_takes_many_swaps_at_once_is_leapt_to() -> None:
    start, bound = simulated(IN_ORDER), int(RING.size.max())
    assert start is not None

    refined = refine(RING, TORUS, [IN_ORDER], simulated, evaluations=4)

    assert refined.evaluations == 4
    assert metrics_of(RING, TORUS, refined.places).congestion < 1.3 * bound
    assert refined.seconds < 0.5 * start.seconds


@settings(max_examples=15)
@given(seed=st.integers(0, 99), evaluations=st.integers(1, 40), noise=st.integers(0, 99))
def test_the_result_is_never_worse_than_a_start_on_the_whole_trace(
    seed: int, evaluations: int, noise: int
) -> None:
    starts = [np.random.default_rng(n).permutation(16).astype(np.uint32) for n in (1, 2)]

    def estimated(places: Places, _cutoff: float | None) -> Timed | None:
        """Says nearly anything."""
        drawn = np.random.default_rng([noise, *places.tolist()])
        return simulated(places, drift=float(drawn.uniform(0.5, 2)))

    refined = refine(
        RING, TORUS, starts, estimated, verify=simulated, evaluations=evaluations, seed=seed
    )

    times = [timed.seconds for start in starts if (timed := simulated(start)) is not None]
    whole = simulated(refined.places)
    assert whole is not None
    assert refined.seconds == whole.seconds <= min(times) == refined.start_seconds
    assert refined.start == int(np.argmin(times))
    assert 2 <= refined.verified <= 2 + 3


def test_the_best_start_is_gone_on_from_and_told_apart() -> None:
    good = refine(RING, TORUS, [IN_ORDER], simulated, evaluations=200).places
    told: list[tuple[int, float]] = []

    refined = refine(
        RING,
        TORUS,
        [IN_ORDER, IN_ORDER, good],  # one start twice counts once
        simulated,
        evaluations=20,
        progress=lambda made, best: told.append((made, best)),
    )

    assert refined.start == 2
    assert [made for made, _ in told] == list(range(1, 21))
    assert told[1][1] == refined.start_seconds


def test_any_number_of_mappings_may_be_open_and_none_is_asked_twice() -> None:
    search = Refinement(RING, TORUS, [IN_ORDER], seed=5)
    waiting: list[Places] = []
    asked = []
    for _ in range(60):
        places = search.ask()
        assert places is not None
        asked.append(tuple(places.tolist()))
        waiting.append(places)
        if len(waiting) == 4:
            oldest = waiting.pop(0)
            timed = simulated(oldest, search.best[0] if search.best else None)
            if timed is None:
                search.tell(oldest, None)
            else:
                search.tell(oldest, timed.seconds, timed.link_loads)

    assert len(set(asked)) == 60
    assert search.best is not None
    first = simulated(IN_ORDER)
    assert first is not None
    assert search.best[0] < first.seconds
    assert search.ranked[0][0] == search.best[0]


def test_ranks_of_one_host_are_not_swapped_and_small_spaces_end() -> None:
    two_hosts = HopMachine.uniform(Grid((2,), wrapped=False), cores=2)
    traffic = Traffic.from_pairs(3, [0, 1], [1, 2], [5, 7])
    search = Refinement(traffic, two_hosts, [np.arange(3, dtype=np.uint32)])
    seen = set()
    while (places := search.ask()) is not None:
        seen.add(tuple(two_hosts.place_hosts[places].tolist()))
        search.tell(places, 1.0)

    assert len(seen) == 6  # three ranks on two hosts of two cores


def test_what_a_symmetry_makes_of_a_mapping_comes_last() -> None:
    # Two switches with two hosts each: what counts is only who shares a switch with rank 0.
    tree = HopMachine.uniform(Tree((2, 2)))
    traffic = Traffic.from_pairs(4, [0, 0, 1, 2], [1, 2, 2, 3], [5, 3, 2, 7])
    search = Refinement(traffic, tree, [np.arange(4, dtype=np.uint32)])
    beside = []
    while (places := search.ask()) is not None:
        switch = (places // 2).tolist()
        beside.append(switch.index(switch[0], 1))
        search.tell(places, 1.0)

    assert sorted(beside[:3]) == [1, 2, 3]
    assert len(beside) > 3


def test_starts_that_cannot_be_run() -> None:
    with pytest.raises(InvalidInput, match="none of the mappings to start with can be run"):
        refine(RING, TORUS, [IN_ORDER], lambda *_: None, evaluations=5)
    with pytest.raises(InvalidInput, match="needs a mapping to start with"):
        Refinement(RING, TORUS, [])

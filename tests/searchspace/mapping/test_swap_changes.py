"""What a swap changes, read off in a few steps, is what counting all over again says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Network, Tree
from searchspace.kernels._native import bytes_by_hops, propose_all, swap_changes
from searchspace.mapping.mapper import Places
from searchspace.topology import generate
from searchspace.traffic import Traffic

WEIGHED = {
    "tree": HopMachine.uniform(Tree((3, 2, 4))),
    "tree with chains": HopMachine.uniform(Tree((1, 3, 1, 4, 2))),
    "hosts of a tree with trees inside": HopMachine.uniform(Tree((3, 2)), 4, (2, 2)),
    "tree of many nodes": HopMachine.uniform(Tree((2, 160, 2))),
    "part of a tree": HopMachine(Tree((3, 9)), (1, 0, 1) * 8 + (1, 1, 1)),
    "torus": HopMachine.uniform(Grid((4, 3, 2), wrapped=True)),
    "torus of four axes": HopMachine.uniform(Grid((2, 3, 2, 3), wrapped=True)),
    "mesh": HopMachine.uniform(Grid((5, 5), wrapped=False)),
    "torus of hosts with cores": HopMachine.uniform(Grid((3, 3), wrapped=True), 3),
    "part of a torus": HopMachine(Grid((6, 7), wrapped=True), (1, 0, 2) * 14),
    "dragonfly": HopMachine.uniform(Dragonfly(4, 3, 2)),
    "dragonfly of hosts with cores": HopMachine.uniform(Dragonfly(3, 2, 2), 2),
    "network": HopMachine.uniform(Network(generate("random", 24, degree=3, seed=1))),
    "fat tree": HopMachine.uniform(Network(generate("fat-tree", 16, ports=4))),
}
UNWEIGHED = {
    "torus with trees inside": HopMachine.uniform(Grid((3, 2), wrapped=True), 4, (2, 2)),
    "dragonfly with trees inside": HopMachine.uniform(Dragonfly(3, 2, 1), 4, (2, 2)),
    "dragonfly with one core of each tree inside": HopMachine.uniform(
        Dragonfly(5, 4, 2), 1, (2, 2)
    ),
    "fat tree with one core of each tree inside": HopMachine.uniform(
        Network(generate("fat-tree", 16, ports=4)), 1, (2, 2)
    ),
}
MACHINES = WEIGHED | UNWEIGHED

FEW_IN_A_CLASS = (
    "tree",
    "tree with chains",
    "hosts of a tree with trees inside",
    "dragonfly",
    "dragonfly of hosts with cores",
    "network",
    "fat tree",
)


def hop_bytes(traffic: Traffic, machine: HopMachine, places: Places) -> int:
    by_hops = bytes_by_hops(traffic.first, traffic.partner, traffic.size, machine.hops, places)
    return sum(hops * size for hops, size in enumerate(by_hops))


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(list(MACHINES)), seed=st.integers(0, 10_000), data=st.data())
def test_changes_of_swaps_and_moves_are_differences_of_hop_bytes(
    kind: str, seed: int, data: st.DataObject
) -> None:
    machine = MACHINES[kind]
    ranks = data.draw(st.integers(2, machine.places))
    random = np.random.default_rng(seed)
    one, other = random.integers(0, ranks, (2, 3 * ranks))
    traffic = Traffic.from_pairs(ranks, one, other, random.integers(1, 1000, 3 * ranks))
    places = random.permutation(machine.places)[:ranks].astype(np.uint32)
    proposals = list(
        zip(
            random.integers(0, ranks, 8).tolist(),
            random.integers(0, machine.places, 8).tolist(),
            strict=True,
        )
    )

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HAMTUNE_INSTRUCTIONS", data.draw(st.sampled_from(["portable", "avx512"])))
        told = swap_changes(
            traffic.first, traffic.partner, traffic.size, machine.hops, places, proposals
        )

    before = hop_bytes(traffic, machine, places)
    for (rank, place), (by_flows, by_gains) in zip(proposals, told, strict=True):
        left = places[rank]
        places[places == place] = left
        places[rank] = place
        after = hop_bytes(traffic, machine, places)
        assert by_flows == after - before
        assert by_gains == (after - before if kind in WEIGHED else None)
        before = after


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(FEW_IN_A_CLASS), seed=st.integers(0, 10_000), free=st.integers(0, 3))
def test_who_had_all_slots_as_candidates_has_nothing_to_gain(
    kind: str, seed: int, free: int
) -> None:
    machine = MACHINES[kind]
    ranks = machine.places - free
    random = np.random.default_rng(seed)
    one, other = random.integers(0, ranks, (2, 3 * ranks))
    traffic = Traffic.from_pairs(ranks, one, other, random.integers(1, 10**6, 3 * ranks))
    start = random.permutation(machine.places)[:ranks].astype(np.uint32)

    found = []
    for chosen in ("portable", "avx512"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HAMTUNE_INSTRUCTIONS", chosen)
            places = propose_all(
                traffic.first, traffic.partner, traffic.size, machine.hops, start, 200 * ranks, seed
            )
        assert places is not None
        found.append(places)

    places = found[0]
    np.testing.assert_array_equal(places, found[1])
    assert len(set(places.tolist())) == ranks
    for proposal in itertools.product(range(ranks), range(machine.places)):
        ((change, _),) = swap_changes(
            traffic.first, traffic.partner, traffic.size, machine.hops, places, [proposal]
        )
        assert change >= 0


@pytest.mark.parametrize("kind", sorted(set(MACHINES) - set(FEW_IN_A_CLASS)))
def test_not_all_slots_are_candidates_where_classes_are_large_or_several(kind: str) -> None:
    machine = MACHINES[kind]
    traffic = Traffic.from_pairs(2, [0], [1], [1000])
    start = np.array([0, 1], dtype=np.uint32)
    assert (
        propose_all(traffic.first, traffic.partner, traffic.size, machine.hops, start, 1, 0) is None
    )


def test_bytes_beyond_the_reach_of_gains_are_counted_by_flows() -> None:
    machine = WEIGHED["torus"]
    traffic = Traffic.from_pairs(3, [0, 1], [1, 2], [2**31 - 1, 2])
    places = np.array([0, 1, 2], dtype=np.uint32)

    (change,) = swap_changes(
        traffic.first, traffic.partner, traffic.size, machine.hops, places, [(0, 23)]
    )

    assert change[1] is None
    places[0] = 23
    start = np.array([0, 1, 2], dtype=np.uint32)
    assert change[0] == hop_bytes(traffic, machine, places) - hop_bytes(traffic, machine, start)

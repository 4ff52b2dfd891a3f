"""Trees made from distances: balanced, whole, and of parts that are close together."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Network, Shape, Tree
from searchspace.mapping import map_ranks
from searchspace.mapping.hierarchy import hierarchy_of
from searchspace.mapping.metrics import metrics_of
from searchspace.topology import generate
from searchspace.traffic import Traffic

NETWORK = generate("random", 24, degree=3, seed=1)


def mean_hops(machine: HopMachine, places: list[int]) -> float:
    """Between two of the places."""
    some = np.array(places, dtype=np.uint32)
    return float(machine.hops.table(some, some).sum() / len(some) / (len(some) - 1))


@given(st.lists(st.integers(0, 3), min_size=24, max_size=24).filter(any))
def test_every_place_is_one_leaf(cores: list[int]) -> None:
    machine = HopMachine(Network(NETWORK), tuple(cores))
    tree = hierarchy_of(machine)
    assert math.prod(tree.arity) == machine.places
    assert sorted(tree.places.tolist()) == list(range(machine.places))


def test_levels_are_those_of_the_machine_or_prime_factors() -> None:
    for machine, arity in (
        (HopMachine.uniform(Tree((3, 1, 4))), (3, 4)),
        (HopMachine.uniform(Dragonfly(4, 3, 2), 2), (4, 3, 2, 2)),
        (HopMachine.uniform(Grid((2, 3), wrapped=False), 4, (2, 2)), (3, 2, 2, 2)),
        (HopMachine.uniform(Grid((1,), wrapped=False)), (1,)),
    ):
        assert hierarchy_of(machine).arity == arity


def test_the_blocks_of_a_level_are_close_together() -> None:
    for machine in (
        HopMachine.uniform(Grid((8, 8), wrapped=True)),
        HopMachine.uniform(Grid((16, 4), wrapped=False)),
        HopMachine.uniform(Network(NETWORK)),
        HopMachine(Dragonfly(8, 4, 2), (1, 1, 0, 1) * 16),
    ):
        tree = hierarchy_of(machine)
        places = tree.places.tolist()
        block = machine.places // tree.arity[0]
        everywhere = mean_hops(machine, places)
        for begin in range(0, len(places), block):
            assert mean_hops(machine, places[begin : begin + block]) < everywhere


def test_treematch_keeps_groups_together_on_networks_without_levels() -> None:
    groups = np.random.default_rng(2).permutation(np.arange(64) % 8)
    rows, columns = np.nonzero(np.triu(groups[:, None] == groups[None, :], k=1))
    traffic = Traffic.from_pairs(64, rows, columns, np.ones(len(rows), dtype=np.int64))
    shapes: list[Shape] = [
        Grid((8, 8), wrapped=True),
        Network(generate("random", 64, degree=4, seed=3)),
    ]
    for shape in shapes:
        machine = HopMachine.uniform(shape)
        found, chance = (
            metrics_of(traffic, machine, map_ranks(name, traffic, machine, seed=1)).hop_bytes
            for name in ("treematch", "random")
        )
        assert found < 0.85 * chance

"""What each mapper is known for: published figures, planted optima, invariants of its method."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Tree
from searchspace.mapping import MAPPERS, map_ranks
from searchspace.mapping.curves import CURVES, along
from searchspace.mapping.geometric import grid_of
from searchspace.mapping.metrics import metrics_of
from searchspace.traffic import Traffic

TREE = HopMachine.uniform(Tree((2, 3, 2)))
TORUS = HopMachine.uniform(Grid((4, 4, 4), wrapped=True))

# Jeannot and Mercier, Euro-Par 2010, figure 1 (a): the upper triangle, row by row.
FIGURE_1 = [
    [1000, 10, 1, 100, 1, 1, 1],
    [1000, 1, 1, 100, 1, 1],
    [1000, 1, 1, 100, 1],
    [1, 1, 1, 100],
    [1000, 10, 1],
    [1000, 1],
    [1000],
]


def figure_1() -> Traffic:
    matrix = np.zeros((8, 8), dtype=np.int64)
    for row, sizes in enumerate(FIGURE_1):
        matrix[row, row + 1 :] = sizes
    return Traffic.from_dense(matrix + matrix.T)


def stencil(*dims: int, shuffled: int | None = None) -> Traffic:
    numbers = np.arange(np.prod(dims)).reshape(dims)
    if shuffled is not None:
        numbers = np.random.default_rng(shuffled).permutation(numbers.ravel()).reshape(dims)
    pairs = [
        (np.take(numbers, range(n - 1), axis), np.take(numbers, range(1, n), axis))
        for axis, n in enumerate(dims)
    ]
    one = np.concatenate([a.ravel() for a, _ in pairs])
    other = np.concatenate([b.ravel() for _, b in pairs])
    return Traffic.from_pairs(numbers.size, one, other, np.full(len(one), 10))


def planted(arity: tuple[int, ...], seed: int) -> tuple[Traffic, int]:
    """Traffic ten times as heavy a level further down the tree, ranks shuffled; and the optimum."""
    machine = HopMachine.uniform(Tree(arity))
    every = np.arange(machine.places, dtype=np.uint32)
    levels = machine.hops.table(every, every).astype(np.int64) // 2
    matrix = np.triu(10 ** (len(arity) - levels), k=1)
    rows, columns = np.nonzero(matrix)
    order = np.random.default_rng(seed).permutation(machine.places)
    traffic = Traffic.from_pairs(machine.places, order[rows], order[columns], matrix[rows, columns])
    return traffic, int((matrix * 2 * levels).sum())


@pytest.mark.parametrize("heuristic", ["smallest-first", "largest-last", "degree-first", "best"])
def test_treematch_finds_the_optimum_of_its_paper(heuristic: str) -> None:
    places = map_ranks("treematch", figure_1(), TREE, heuristic=heuristic)

    assert metrics_of(figure_1(), TREE, places).hop_bytes == 18568


@settings(max_examples=30)
@given(st.lists(st.integers(2, 4), min_size=2, max_size=3), st.integers(0, 1000))
def test_treematch_finds_planted_hierarchies(arity: list[int], seed: int) -> None:
    traffic, optimum = planted(tuple(arity), seed)
    machine = HopMachine.uniform(Tree(tuple(arity)))

    places = map_ranks("treematch", traffic, machine)

    assert metrics_of(traffic, machine, places).hop_bytes == optimum


def test_treematch_groups_large_arities_by_their_factors() -> None:
    machine = HopMachine.uniform(Tree((4, 36)))
    traffic = stencil(12, 12, shuffled=5)

    split = metrics_of(traffic, machine, map_ranks("treematch", traffic, machine)).hop_bytes
    grown = metrics_of(
        traffic, machine, map_ranks("treematch", traffic, machine, split="no")
    ).hop_bytes

    random = metrics_of(traffic, machine, map_ranks("random", traffic, machine)).hop_bytes
    assert max(split, grown) < 0.8 * random


def test_no_exchange_improves_what_mpipp_returns() -> None:
    traffic = stencil(3, 4, shuffled=1)
    machine = HopMachine.uniform(Grid((3, 5), wrapped=False))
    places = map_ranks("mpipp", traffic, machine, seed=3)
    best = metrics_of(traffic, machine, places).hop_bytes

    for rank in range(traffic.ranks):
        for place in range(machine.places):
            other = places.copy()
            other[places == place] = places[rank]
            other[rank] = place
            assert metrics_of(traffic, machine, other).hop_bytes >= best


def test_more_starts_never_harm_mpipp() -> None:
    traffic = stencil(4, 4, 4, shuffled=2)
    one, five = (
        metrics_of(
            traffic, TORUS, map_ranks("mpipp", traffic, TORUS, seed=1, starts=starts)
        ).hop_bytes
        for starts in (1, 5)
    )
    assert five <= one


@pytest.mark.parametrize(
    "mapper", ["recursive-tree", "recursive-bipartition", "recursive-graph", "scotch", "mpipp"]
)
def test_mappers_that_know_a_torus_beat_chance_on_a_stencil(mapper: str) -> None:
    traffic = stencil(4, 4, 4, shuffled=4)
    chance = metrics_of(traffic, TORUS, map_ranks("random", traffic, TORUS, seed=1)).hop_bytes

    assert (
        metrics_of(traffic, TORUS, map_ranks(mapper, traffic, TORUS, seed=1)).hop_bytes
        < 0.75 * chance
    )


@pytest.mark.parametrize("mapper", ["recursive-tree", "recursive-bipartition"])
def test_mapping_within_hosts_shortens_the_ways_inside(mapper: str) -> None:
    machine = HopMachine.uniform(Grid((2, 2, 2), wrapped=True), 8, (2, 4))
    traffic = stencil(4, 4, 4, shuffled=6)
    between, both = (
        metrics_of(
            traffic, machine, map_ranks(mapper, traffic, machine, seed=1, scope=scope)
        ).hop_bytes
        for scope in ("inter", "inter+intra")
    )
    assert both < between


def test_a_neighbour_joining_tree_finds_the_hierarchy_of_a_dragonfly() -> None:
    machine = HopMachine.uniform(Dragonfly(4, 3, 2))
    groups = np.arange(24) % 4  # ranks of a group talk among themselves
    rows, columns = np.nonzero(np.triu(groups[:, None] == groups[None, :], k=1))
    traffic = Traffic.from_pairs(24, rows, columns, np.ones(len(rows), dtype=np.int64))

    hosts = machine.place_hosts[map_ranks("recursive-tree", traffic, machine)]

    assert all(len(set((hosts[groups == group] // 6).tolist())) == 1 for group in range(4))


def test_greedy_puts_the_heaviest_pair_together() -> None:
    traffic = Traffic.from_pairs(4, [0, 1, 2], [3, 2, 3], [100, 5, 1])
    machine = HopMachine.uniform(Tree((2, 2)))

    places = map_ranks("greedy", traffic, machine)

    assert places[0] // 2 == places[3] // 2


@given(st.lists(st.integers(2, 5), min_size=1, max_size=3))
def test_the_grid_of_a_stencil_is_told_from_its_traffic(dims: list[int]) -> None:
    assert grid_of(stencil(*dims)) == tuple(dims)


@pytest.mark.parametrize("curve", CURVES)
def test_a_grid_lies_on_its_own_torus_whatever_the_curve(curve: str) -> None:
    traffic = stencil(4, 4, 4)

    found = metrics_of(traffic, TORUS, map_ranks("geometric", traffic, TORUS, curve=curve))

    assert (found.hop_bytes, found.dilation) == (traffic.total, 1)


@pytest.mark.parametrize("sides", [(8, 8), (4, 4, 4), (16,)])
def test_neighbours_on_a_hilbert_curve_are_neighbours_in_the_grid(sides: tuple[int, ...]) -> None:
    points = np.stack(np.unravel_index(np.arange(np.prod(sides)), sides), axis=-1)

    steps = np.abs(np.diff(points[along("hilbert", points)], axis=0)).sum(axis=1)

    assert (steps == 1).all()


def test_a_grid_of_other_ranks_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a grid of 2x2 has 4 ranks, not 64"):
        map_ranks("geometric", stencil(4, 4, 4), TORUS, grid="2,2")


@pytest.mark.parametrize("mapper", ["recursive-bipartition", "geometric"])
def test_mappers_by_coordinates_refuse_machines_without(mapper: str) -> None:
    with pytest.raises(InvalidInput, match="needs the coordinates of hosts"):
        map_ranks(mapper, figure_1(), TREE)
    assert MAPPERS[mapper].obstacle(TORUS) is None

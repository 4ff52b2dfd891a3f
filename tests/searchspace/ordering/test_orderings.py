"""Every ordering method: what all promise, and what each does on networks small enough to see."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.ordering import ORDERINGS, order
from searchspace.ordering.metrics import adjacency, aspl_of_blocks, gorder_score
from searchspace.topology import generate

STAR_AND_TAIL = Graph.from_edges(6, [(0, 5), (1, 5), (2, 5), (3, 5), (3, 4)])
PETERSEN = Graph.from_edges(
    10,
    [(i, (i + 1) % 5) for i in range(5)]
    + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    + [(i, 5 + i) for i in range(5)],
)
COMMUNITIES = Graph.from_edges(
    8,
    # {0, 2, 4, 6} and {1, 3, 5, 7} are complete, with one cable between them.
    [*itertools.combinations((0, 2, 4, 6), 2), *itertools.combinations((1, 3, 5, 7), 2), (0, 1)],
)


@given(st.sampled_from(sorted(ORDERINGS)), st.integers(0, 1000))
@settings(max_examples=60)
def test_an_ordering_is_a_permutation_and_repeatable(name: str, seed: int) -> None:
    graph = generate("random", 20, degree=3, seed=seed)
    found = order(name, graph, seed=seed)
    assert sorted(found) == list(range(20))
    assert found == order(name, graph, seed=seed)


@pytest.mark.parametrize("name", ORDERINGS)
@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_tiny_networks(name: str, nodes: int) -> None:
    path = Graph(nodes, tuple((node, node + 1) for node in range(nodes - 1)))
    assert sorted(order(name, path)) == list(range(nodes))


def test_original_keeps_the_numbers() -> None:
    assert order("original", generate("mesh-2d", 12)) == tuple(range(12))


def test_hamorder_takes_a_cable_to_the_lowest_unvisited_neighbour_and_else_jumps() -> None:
    #  0 - 3 - 1 - 4    2 - 5 - 0
    graph = Graph.from_edges(6, [(0, 3), (1, 3), (1, 4), (2, 5), (0, 5)])
    assert order("hamorder", graph) == (0, 3, 1, 4, 2, 5)


@given(st.integers(0, 1000))
def test_hamorder_never_jumps_past_an_unvisited_neighbour(seed: int) -> None:
    graph = generate("random", 30, degree=3, seed=seed)
    walk = order("hamorder", graph)
    for position, (here, there) in enumerate(itertools.pairwise(walk)):
        unvisited = [n for n in range(30) if n not in walk[: position + 1]]
        near = [n for n in graph.neighbors[here] if n in unvisited]
        assert there == (near or unvisited)[0]


@pytest.mark.parametrize(("nodes", "degree"), [(16, 3), (64, 3), (64, 4), (256, 3), (256, 6)])
def test_hamiltonian_finds_a_cycle_of_random_regular_networks(nodes: int, degree: int) -> None:
    for seed in range(5):
        graph = generate("random", nodes, degree=degree, seed=seed)
        renumbered = graph.relabel(order("hamiltonian", graph, seed=seed))
        assert adjacency(renumbered) == 1.0
        assert (0, nodes - 1) in renumbered.edges


def test_hamiltonian_leaves_one_break_where_only_a_path_exists() -> None:
    # The Petersen graph has a Hamiltonian path, but no cycle.
    assert adjacency(PETERSEN.relabel(order("hamiltonian", PETERSEN))) == 1.0


def test_hamiltonian_walks_what_a_path_leaves_out() -> None:
    # A star of four: no path visits more than three of its nodes.
    star = Graph.from_edges(4, [(0, 1), (0, 2), (0, 3)])
    assert adjacency(star.relabel(order("hamiltonian", star))) == pytest.approx(2 / 3)


def test_gorder_starts_at_the_most_cables_and_keeps_siblings_together() -> None:
    assert order("gorder", STAR_AND_TAIL) == (5, 0, 1, 2, 3, 4)


def test_gorder_scores_higher_than_the_order_given() -> None:
    for seed in range(5):
        graph = generate("random", 64, degree=4, seed=seed)
        assert gorder_score(graph.relabel(order("gorder", graph))) > gorder_score(graph)


def test_a_wider_window_changes_gorder() -> None:
    graph = generate("random", 64, degree=4, seed=1)
    assert order("gorder", graph, window=1) != order("gorder", graph, window=8)


def test_rabbit_keeps_communities_together() -> None:
    found = order("rabbit", COMMUNITIES)
    assert {frozenset(found[:4]), frozenset(found[4:])} == {
        frozenset((0, 2, 4, 6)),
        frozenset((1, 3, 5, 7)),
    }


def test_fiedler_splits_communities_and_straightens_a_path() -> None:
    found = order("fiedler", COMMUNITIES)
    assert {frozenset(found[:4]), frozenset(found[4:])} == {
        frozenset((0, 2, 4, 6)),
        frozenset((1, 3, 5, 7)),
    }
    scattered = Graph.from_edges(5, [(3, 0), (0, 4), (4, 1), (1, 2)])
    assert order("fiedler", scattered) in ((3, 0, 4, 1, 2), (2, 1, 4, 0, 3))


def test_fiedler_of_a_large_network_is_the_sparse_solvers() -> None:
    ring = generate("torus-2d", 1024)
    assert sorted(order("fiedler", ring)) == list(range(1024))


def test_rcm_brings_a_scattered_path_to_bandwidth_one() -> None:
    scattered = Graph.from_edges(5, [(3, 0), (0, 4), (4, 1), (1, 2)])
    assert adjacency(scattered.relabel(order("rcm", scattered))) == 1.0


def test_bfs_goes_level_by_level_and_dfs_along_a_branch() -> None:
    tree = Graph.from_edges(6, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)])
    assert order("bfs", tree) == (0, 1, 2, 3, 4, 5)
    assert order("dfs", tree) == (0, 1, 3, 4, 2, 5)


def test_orders_by_degree() -> None:
    # Degrees 1 1 1 2 1 4; the average is 10 / 6.
    assert order("degree", STAR_AND_TAIL) == (5, 3, 0, 1, 2, 4)
    assert order("hubsort", STAR_AND_TAIL) == (5, 3, 0, 1, 2, 4)
    assert order("dbg", STAR_AND_TAIL) == (5, 3, 0, 1, 2, 4)


def test_degree_methods_leave_a_regular_network_as_it_is() -> None:
    graph = generate("random", 20, degree=3, seed=1)
    for name in ("degree", "hubsort", "dbg"):
        assert order(name, graph) == tuple(range(20))


@given(st.integers(0, 10_000))
@settings(max_examples=4)
def test_blocks_are_closer_than_gorders_and_ids_stay_adjacent(seed: int) -> None:
    graph = generate("random", 64, degree=6, seed=seed)
    ours = graph.relabel(order("blocks", graph, seed=seed))
    gorders = graph.relabel(order("gorder", graph))
    assert adjacency(ours) >= 0.9
    assert aspl_of_blocks(ours)[4] < aspl_of_blocks(gorders)[4]
    assert aspl_of_blocks(ours)[8] < aspl_of_blocks(gorders)[8] * 1.05


@given(
    st.integers(4, 40).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
        )
    ),
    st.sampled_from([0.0, 0.9, 1.0]),
)
@settings(max_examples=50)
def test_blocks_never_ends_worse_than_it_starts(
    drawn: tuple[int, set[tuple[int, int]]], adjacent: float
) -> None:
    nodes, chords = drawn
    edges = {(node, node + 1) for node in range(nodes - 1)}
    edges |= {(min(u, v), max(u, v)) for u, v in chords if u != v}
    graph = Graph.from_edges(nodes, edges)
    start = graph.relabel(order("hamiltonian", graph, seed=3, restarts=100))
    found = graph.relabel(order("blocks", graph, seed=3, adjacent=adjacent, effort=50))

    def breaks_too_many(numbered: Graph) -> float:
        return max(0.0, adjacent - adjacency(numbered))

    def mean_hops(numbered: Graph) -> float:
        sizes = aspl_of_blocks(numbered)
        return sum(sizes[size] for size in (4, 8, 16) if size in sizes)

    assert breaks_too_many(found) <= breaks_too_many(start) + 1e-9
    if breaks_too_many(start) == 0:
        assert mean_hops(found) <= mean_hops(start) + 1e-9


def test_an_unknown_ordering_or_option() -> None:
    mesh = generate("mesh-2d", 4)
    with pytest.raises(InvalidInput, match="unknown ordering 'best'; allowed: original, hamorder"):
        order("best", mesh)
    with pytest.raises(
        InvalidInput, match="width: the ordering 'gorder' has no such option; it has: window"
    ):
        order("gorder", mesh, width=3)
    with pytest.raises(
        InvalidInput, match="window: must be a whole number from 1 to 1000000, not 0"
    ):
        order("gorder", mesh, window=0)


def test_a_network_in_two_parts() -> None:
    parts = Graph(4, ((0, 1), (2, 3)))
    for name in ("fiedler", "blocks"):
        with pytest.raises(InvalidInput, match="not connected"):
            order(name, parts)
    assert sorted(order("hamiltonian", parts)) == [0, 1, 2, 3]

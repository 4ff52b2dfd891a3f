"""Bisection widths: upper bounds of every verifier, the lower bound, and exact small cases."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.graph import Graph
from searchspace.topology import generate
from searchspace.topology.bisection import VERIFIERS, bisection_lower_bound, bisection_width


@st.composite
def small_graphs(draw: st.DrawFn) -> Graph:
    nodes = draw(st.integers(2, 10))
    pairs = list(itertools.combinations(range(nodes), 2))
    return Graph.from_edges(nodes, draw(st.lists(st.sampled_from(pairs), unique=True)))


def exact_width(graph: Graph) -> int:
    halves = itertools.combinations(range(graph.nodes), graph.nodes // 2)
    return min(sum((u in half) != (v in half) for u, v in graph.edges) for half in map(set, halves))


@given(small_graphs(), st.integers(0, 100))
@settings(deadline=None, max_examples=60)
def test_the_exact_width_lies_between_the_bounds(graph: Graph, seed: int) -> None:
    found = bisection_width(graph, seed=seed, effort="quick")
    exact = exact_width(graph)
    assert found.lower_bound <= exact == found.width
    assert bisection_lower_bound(graph) <= exact


@given(small_graphs())
@settings(deadline=None, max_examples=60)
def test_the_partition_is_balanced_and_cuts_what_is_said(graph: Graph) -> None:
    found = bisection_width(graph, effort="quick")
    assert abs(2 * sum(found.partition) - graph.nodes) <= 1
    cut = sum(found.partition[u] != found.partition[v] for u, v in graph.edges)
    assert cut == found.width == found.widths[found.verifier] == min(found.widths.values())
    assert list(found.widths) == list(VERIFIERS)
    assert found.partition[0] == 0


@st.composite
def switched_networks(draw: st.DrawFn) -> Graph:
    hosts, switches = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    between = range(hosts, hosts + switches)
    plugs = [(host, draw(st.sampled_from(between))) for host in range(hosts)]
    pairs = list(itertools.combinations(between, 2))
    cables = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    ring = [(switch, switch + 1) for switch in between[:-1]]
    edges = tuple(sorted({*plugs, *cables, *ring}))
    return Graph(hosts + switches, edges, switches)


def exact_hosts_width(graph: Graph) -> int:
    sides = itertools.product((0, 1), repeat=graph.nodes)
    halved = (s for s in sides if sum(s[: graph.hosts]) == graph.hosts // 2)
    return min(sum(side[u] != side[v] for u, v in graph.edges) for side in halved)


@given(switched_networks(), st.integers(0, 100))
@settings(deadline=None, max_examples=40)
def test_hosts_are_halved_wherever_their_switches_lie(graph: Graph, seed: int) -> None:
    found = bisection_width(graph, seed=seed, effort="quick", halve_hosts=True)
    assert found.lower_bound <= exact_hosts_width(graph) == found.width
    assert abs(2 * sum(found.partition[: graph.hosts]) - graph.hosts) <= 1
    assert sum(found.partition[u] != found.partition[v] for u, v in graph.edges) == found.width


@pytest.mark.parametrize("hosts", [16, 54, 128])
def test_a_fat_tree_has_full_bisection(hosts: int) -> None:
    found = bisection_width(generate("fat-tree", hosts), effort="quick", halve_hosts=True)
    assert set(found.widths.values()) == {found.width} == {hosts // 2}


def test_only_the_verifiers_named_look() -> None:
    ring = generate("ring", 16)
    assert dict(bisection_width(ring, verifiers=("metis",)).widths) == {"metis": 2}


@pytest.mark.parametrize(
    ("family", "nodes", "width"),
    [("torus-2d", 64, 16), ("mesh-2d", 64, 8), ("torus-3d", 64, 32), ("mesh-3d", 64, 16)],
)
def test_grids_have_their_known_width(family: str, nodes: int, width: int) -> None:
    assert bisection_width(generate(family, nodes), effort="quick").width == width


def test_a_complete_network_and_a_ring_are_exact() -> None:
    complete = bisection_width(generate("random", 8, degree=7), effort="quick")
    assert (complete.lower_bound, complete.width) == (16, 16)
    ring = bisection_width(generate("random", 9, degree=2), effort="quick")
    assert (ring.lower_bound, ring.width) == (2, 2)


@pytest.mark.parametrize("verifier", ["local-search", "annealing"])
@pytest.mark.parametrize("size", [6, 20, 40])
def test_our_verifiers_part_what_hangs_together_by_little(size: int, verifier: str) -> None:
    """Two complete networks and three cables; degrees above 31 wait in lists, not bits."""
    group = list(itertools.combinations(range(size), 2))
    edges = [*group, *((size + u, size + v) for u, v in group)]
    edges += [(u, size + u) for u in range(3)]
    network = Graph.from_edges(2 * size, edges)
    assert bisection_width(network, effort="quick", verifiers=(verifier,)).width == 3


def test_networks_without_cables_or_in_parts_have_no_width() -> None:
    assert bisection_width(Graph(1, ())).width == 0
    assert bisection_width(Graph(5, ())).partition == (0, 0, 0, 1, 1)
    two_rings = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    assert bisection_width(two_rings, effort="quick").width == 0


def test_the_same_seed_finds_the_same_split() -> None:
    graph = generate("random", 128, degree=4, seed=3)
    assert bisection_width(graph, seed=5) == bisection_width(graph, seed=5)


def test_the_lower_bound_of_a_large_network_is_below_its_width() -> None:
    found = bisection_width(generate("torus-2d", 1024), effort="quick")
    assert 0 < found.lower_bound <= found.width == 64

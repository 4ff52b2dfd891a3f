"""Routes: shortest, and by the tie rule lowest-id."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.graph import Graph
from searchspace.kernels import hop_distances, routes
from searchspace.topology import generate


def nodes_of(graph: Graph, source: int, path: list[tuple[int, bool]]) -> list[int]:
    """The nodes that a route visits; fails where a hop does not start where the last one ended."""
    visited = [source]
    for edge, forward in path:
        u, v = graph.edges[edge]
        here, there = (u, v) if forward else (v, u)
        assert here == visited[-1]
        visited.append(there)
    return visited


def tree_path(graph: Graph, root: int, target: int) -> list[int]:
    """The path in the breadth-first tree whose search visits neighbours in increasing id."""
    parent = {root: root}
    queue = deque([root])
    while queue:
        node = queue.popleft()
        for neighbor in sorted(graph.neighbors[node]):
            if neighbor not in parent:
                parent[neighbor] = node
                queue.append(neighbor)
    path = [target]
    while path[-1] != root:
        path.append(parent[path[-1]])
    return path[::-1]


def test_a_tie_goes_through_the_lower_id() -> None:
    square = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    found = routes(square.nodes, square.edges)
    assert nodes_of(square, 0, found.path(0, 2)) == [0, 1, 2]
    assert nodes_of(square, 2, found.path(2, 0)) == [2, 1, 0]
    assert found.path(1, 1) == []


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([(2, 1), (9, 4), (16, 3), (20, 5)]))
def test_routes_follow_the_tie_rule(seed: int, size: tuple[int, int]) -> None:
    nodes, degree = size
    graph = generate("random", nodes, degree=degree, seed=seed)
    found = routes(nodes, graph.edges)
    distances = hop_distances(nodes, graph.edges)
    for s in range(nodes):
        for t in range(s):
            there = nodes_of(graph, t, found.path(t, s))
            assert there == tree_path(graph, t, s)
            assert nodes_of(graph, s, found.path(s, t)) == there[::-1]
            assert len(there) - 1 == distances[s, t]


@pytest.mark.parametrize("family", ["random", "torus-2d", "mesh-3d", "hypercube"])
def test_single_routes_of_large_networks_follow_it_too(family: str) -> None:
    nodes = {"random": 600, "torus-2d": 625, "mesh-3d": 729, "hypercube": 1024}[family]
    graph = generate(family, nodes, degree=3 if family == "random" else None, seed=1)
    found = routes(nodes, graph.edges)
    for root in range(0, nodes - 40, 59):
        for target in range(root + 1, root + 40):  # the first ones to be asked for, and some after
            there = tree_path(graph, root, target)
            assert nodes_of(graph, root, found.path(root, target)) == there
            assert nodes_of(graph, target, found.path(target, root)) == there[::-1]


def test_refuses_a_network_in_two_parts() -> None:
    with pytest.raises(ValueError, match="not connected: 2 of 4 nodes"):
        routes(4, [(0, 1), (2, 3)])


def two_level_tree() -> tuple[int, list[tuple[int, int]]]:
    """Hosts 0 to 3 on leaf 4, hosts 2 and 3 on leaf 5, spines 6 and 7."""
    return 8, [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6), (4, 7), (5, 7)]


def test_spread_routes_reach_the_hosts_of_a_switch_over_different_spines() -> None:
    nodes, edges = two_level_tree()
    spread = routes(nodes, edges, hosts=4, tie_rule="spread")
    spines = {host: {edges[e][1] for e, _ in spread.path(host, 2)} & {6, 7} for host in (0, 1)}
    assert spines == {0: {6}, 1: {7}}
    lowest = routes(nodes, edges, hosts=4)
    assert {edges[e][1] for host in (0, 1) for e, _ in lowest.path(host, 2)} & {6, 7} == {6}


def test_hosts_of_a_network_with_switches_do_not_forward() -> None:
    nodes, edges = 6, [(0, 3), (1, 3), (1, 4), (2, 4), (3, 5), (4, 5)]  # host 1 has two cables
    paths = routes(nodes, edges, hosts=3)
    assert [edges[e] for e, _ in paths.path(0, 2)] == [(0, 3), (3, 5), (4, 5), (2, 4)]


@given(st.integers(4, 20), st.integers(0, 1000))
def test_spread_routes_are_as_short_and_the_same_both_ways(nodes: int, seed: int) -> None:
    graph = generate("random", nodes, degree=3 if nodes % 2 == 0 else 4, seed=seed)
    spread = routes(nodes, graph.edges, tie_rule="spread")
    lowest = routes(nodes, graph.edges)
    for source in range(nodes):
        for target in range(nodes):
            there = spread.path(source, target)
            assert len(there) == len(lowest.path(source, target))
            at = source
            for edge, forward in there:
                u, v = graph.edges[edge]
                assert at == (u if forward else v)
                at = v if forward else u
            assert at == target
            back = [(edge, not forward) for edge, forward in reversed(there)]
            assert spread.path(target, source) == back


def test_unknown_tie_rule() -> None:
    with pytest.raises(ValueError, match="lowest-id"):
        routes(2, [(0, 1)], tie_rule="random")

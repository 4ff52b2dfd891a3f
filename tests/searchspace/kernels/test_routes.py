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


def test_refuses_a_network_in_two_parts() -> None:
    with pytest.raises(ValueError, match="not connected: 2 of 4 nodes"):
        routes(4, [(0, 1), (2, 3)])

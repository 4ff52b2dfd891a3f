"""Graphs as plain values."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology import generate

SQUARE = Graph.from_edges(4, [(2, 1), (0, 1), (3, 2), (0, 3)])


def test_edges_are_brought_into_one_form() -> None:
    assert SQUARE.edges == ((0, 1), (0, 3), (1, 2), (2, 3))
    assert Graph(4, ((0, 1), (0, 3), (1, 2), (2, 3))) == SQUARE
    assert SQUARE.neighbors[0] == (1, 3)
    assert SQUARE.degrees == (2, 2, 2, 2)


def test_connected() -> None:
    assert SQUARE.connected
    assert Graph(1, ()).connected
    assert not Graph.from_edges(4, [(0, 1), (2, 3)]).connected


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (0, [], "at least one node"),
        (2, [(1, 1)], "joins a node with itself"),
        (2, [(0, 2)], "outside 0 to 1"),
        (2, [(-1, 0)], "outside 0 to 1"),
        (2, [(0, 1), (1, 0)], "occurs twice"),
    ],
)
def test_refuses_what_is_not_a_simple_graph(
    nodes: int, edges: list[tuple[int, int]], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Graph.from_edges(nodes, edges)


def test_relabel_names_the_old_id_of_each_new_node() -> None:
    path = Graph.from_edges(3, [(0, 1), (1, 2)])
    assert path.relabel((1, 0, 2)).edges == ((0, 1), (0, 2))  # the middle is node 0 now
    with pytest.raises(InvalidInput, match="not a permutation"):
        path.relabel((0, 0, 1))


@given(st.integers(0, 2**32))
def test_relabelling_back_gives_the_same_graph(seed: int) -> None:
    rng = random.Random(seed)
    nodes = rng.randint(1, 12)
    pairs = [(u, v) for v in range(nodes) for u in range(v) if rng.random() < 0.4]
    graph = Graph.from_edges(nodes, pairs)
    order = rng.sample(range(nodes), nodes)
    back = [order.index(old) for old in range(nodes)]
    assert graph.relabel(order).relabel(back) == graph


def test_hosts_come_first_and_switches_after_them() -> None:
    star = Graph.from_edges(4, [(0, 3), (1, 3), (2, 3)], switches=1)
    assert (star.hosts, star.switches) == (3, 1)
    assert star != Graph.from_edges(4, star.edges)
    with pytest.raises(InvalidInput, match=r"edge \(0, 1\) joins two hosts"):
        Graph.from_edges(3, [(0, 1), (1, 2)], switches=1)
    with pytest.raises(InvalidInput, match="cannot have 2 switches"):
        Graph.from_edges(2, [(0, 1)], switches=2)


def test_hosts_do_not_forward() -> None:
    two_planes = Graph.from_edges(4, [(0, 2), (1, 2), (0, 3), (1, 3)], switches=2)
    assert two_planes.connected
    bridged_by_a_host = Graph.from_edges(5, [(0, 3), (1, 3), (1, 4), (2, 4)], switches=2)
    assert not bridged_by_a_host.connected


def test_parallel_cables_are_one_edge_and_keep_their_number() -> None:
    graph = Graph.from_cables(3, [(0, 1), (1, 2), (2, 1)])
    assert [graph.width(edge) for edge in range(2)] == [1, 2]
    turned = graph.relabel((2, 1, 0))
    assert turned.edges == ((0, 1), (1, 2))
    assert turned.widths == (2, 1)
    assert Graph.from_cables(2, [(0, 1)]) == Graph.from_edges(2, [(0, 1)])


def test_equal_paths_are_those_between_hosts() -> None:
    """Of a fat tree and a square there are several; of a tree, a pentagon and two cables, one."""
    assert generate("fat-tree", 16, ports=4).has_equal_paths
    assert SQUARE.has_equal_paths
    star = [(0, 2), (1, 2)]
    assert not Graph.from_edges(3, star, switches=1).has_equal_paths
    assert not Graph.from_edges(5, [(u, (u + 1) % 5) for u in range(5)]).has_equal_paths
    assert not Graph.from_cables(3, [*star, (1, 2)], switches=1).has_equal_paths
    two_rails = [(0, 2), (1, 2), (0, 3), (1, 3)]
    assert Graph.from_edges(4, two_rails, switches=2).has_equal_paths


def test_equal_paths_of_a_large_network_are_not_looked_for_at_any_price() -> None:
    """A line is a tree; an odd ring of so many hosts has none either, but may have some."""
    line = [(u, u + 1) for u in range(16_000)]
    assert not Graph.from_edges(16_001, line).has_equal_paths
    assert Graph.from_edges(16_001, [*line, (0, 16_000)]).has_equal_paths

"""Graphs as plain values."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

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

"""Every ordering method is a permutation; Hamorder walks as its paper says."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.ordering import ORDERINGS, order
from searchspace.topology import generate


@given(st.sampled_from(sorted(ORDERINGS)), st.integers(0, 1000))
def test_an_ordering_is_a_permutation_and_repeatable(name: str, seed: int) -> None:
    graph = generate("random", 20, degree=3, seed=seed)
    found = order(name, graph, seed=seed)
    assert sorted(found) == list(range(20))
    assert found == order(name, graph, seed=seed)


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


def test_unknown_ordering() -> None:
    with pytest.raises(InvalidInput, match="unknown ordering 'best'; allowed: original, hamorder"):
        order("best", generate("mesh-2d", 4))

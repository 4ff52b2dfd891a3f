"""Orbits of edges under a rotation."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology import generate
from searchspace.topology.rotation import (
    circulant_orbits,
    free_orbits,
    orbits_of,
    ring_orbits,
    unroll,
)


@given(st.integers(1, 8), st.integers(1, 8), st.sets(st.integers(1, 32), max_size=5))
def test_a_circulant_network_is_its_orbits_under_every_symmetry(
    symmetry: int, bases: int, offsets: set[int]
) -> None:
    nodes = symmetry * bases
    offsets = {offset for offset in offsets if offset % nodes}
    orbits = circulant_orbits(nodes, symmetry, offsets)
    graph = unroll(nodes, symmetry, orbits)
    pairs = {tuple(sorted((v, (v + offset) % nodes))) for v in range(nodes) for offset in offsets}
    assert set(graph.edges) == pairs
    assert orbits_of(graph, symmetry) == orbits


@given(st.integers(2, 8), st.integers(1, 8), st.integers(2, 9))
def test_free_orbits_form_a_connected_regular_network(
    symmetry: int, bases: int, degree: int
) -> None:
    nodes = symmetry * bases
    assume(degree < nodes and nodes * degree % 2 == 0)
    orbits = free_orbits(nodes, degree, symmetry)
    graph = unroll(nodes, symmetry, orbits)
    assert set(graph.degrees) == {degree}
    assert graph.connected
    assert orbits_of(graph, symmetry) == orbits


@pytest.mark.parametrize(
    ("nodes", "degree", "symmetry", "bound"),
    [(64, 4, 8, 0), (64, 3, 8, 0), (60, 3, 4, 1), (6, 5, 6, 1)],
)
def test_as_few_cables_as_can_be_are_bound_to_their_place(
    nodes: int, degree: int, symmetry: int, bound: int
) -> None:
    orbits = free_orbits(nodes, degree, symmetry)
    assert sum(i == j and 2 * turn == symmetry for i, j, turn in orbits) == bound


def test_the_ring_joins_neighbouring_numbers() -> None:
    assert unroll(12, 3, ring_orbits(12, 3)) == generate("random", 12, degree=2).relabel(
        ring_of(generate("random", 12, degree=2))
    )


def ring_of(graph: Graph) -> list[int]:
    """The nodes of a ring in order."""
    order = [0, graph.neighbors[0][0]]
    while len(order) < graph.nodes:
        near, far = graph.neighbors[order[-1]]
        order.append(far if near == order[-2] else near)
    return order


def test_a_network_without_the_symmetry_is_refused() -> None:
    path = Graph.from_edges(6, [(v, v + 1) for v in range(5)])
    with pytest.raises(InvalidInput, match=r"no symmetry of 3: there is no edge \("):
        orbits_of(path, 3)
    with pytest.raises(InvalidInput, match="does not divide"):
        orbits_of(path, 4)

"""The distance kernel of the annealing, with and without symmetry, against networkx."""

from __future__ import annotations

import os
import subprocess
import sys

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.graph import Graph
from searchspace.kernels import _native, aspl_diameter
from searchspace.topology import generate
from searchspace.topology.rotation import (
    circulant_orbits,
    orbit_array,
    orbits_of,
    ring_orbits,
    unroll,
)


def distances(graph: Graph, symmetry: int = 1) -> tuple[int, int]:
    orbits = orbit_array(orbits_of(graph, symmetry))
    return _native.Distances(graph.nodes, max(graph.degrees), symmetry, orbits).evaluate()


def expected(graph: Graph) -> tuple[int, int]:
    """Twice the sum over unordered pairs, and the diameter."""
    other = nx.Graph(graph.edges)
    other.add_nodes_from(range(graph.nodes))
    if not nx.is_connected(other):
        return -1, 0
    lengths = [
        length for _, row in nx.all_pairs_shortest_path_length(other) for length in row.values()
    ]
    return sum(lengths), max(lengths)


@given(
    st.integers(2, 70).flatmap(
        lambda nodes: st.tuples(
            st.just(nodes),
            st.lists(
                st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(
                    lambda edge: edge[0] != edge[1]
                ),
                min_size=1,
                max_size=4 * nodes,
            ),
        )
    )
)
@settings(deadline=None)
def test_irregular_networks_have_the_distances_of_networkx(
    case: tuple[int, list[tuple[int, int]]],
) -> None:
    nodes, pairs = case
    graph = Graph.from_edges(nodes, {(min(pair), max(pair)) for pair in pairs})
    assert distances(graph) == expected(graph)


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_symmetric_networks_have_the_distances_of_networkx(data: st.DataObject) -> None:
    symmetry = data.draw(st.integers(2, 12))
    bases = data.draw(st.integers(1, 20))
    nodes = symmetry * bases
    number = st.integers(0, bases - 1)
    drawn = data.draw(
        st.lists(st.tuples(number, number, st.integers(0, symmetry - 1)), max_size=60)
    )
    orbits = ring_orbits(nodes, symmetry) if nodes > 2 else []
    edges = set(unroll(nodes, symmetry, orbits).edges)
    for orbit in drawn:
        if orbit[0] == orbit[1] and orbit[2] == 0:
            continue
        fresh = set(unroll(nodes, symmetry, [orbit]).edges)
        if not fresh & edges:
            edges |= fresh
            orbits.append(orbit)
    if not edges:
        return
    graph = Graph.from_edges(nodes, edges)
    total, diameter = expected(graph)
    assert distances(graph, symmetry) == (total // symmetry if total > 0 else total, diameter)


@pytest.mark.parametrize(("nodes", "degree"), [(64, 4), (100, 3), (128, 6), (256, 8), (600, 5)])
def test_every_width_of_rows_agrees_with_the_general_kernel(nodes: int, degree: int) -> None:
    graph = generate("random", nodes, degree=degree, seed=1)
    aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
    total, longest = distances(graph)
    assert (total / (nodes * (nodes - 1)), longest) == (aspl, diameter)


@pytest.mark.parametrize("symmetry", [1, 2, 3, 4, 6, 12, 21, 36, 63, 126, 252])
def test_a_network_has_the_same_distances_under_each_of_its_symmetries(symmetry: int) -> None:
    orbits = circulant_orbits(252, symmetry, [1, 5, 17, 60, 126])
    graph = unroll(252, symmetry, orbits)
    assert set(graph.degrees) == {9}
    total, diameter = distances(graph, symmetry)
    aspl, longest = aspl_diameter(graph.nodes, graph.edges)
    assert (total * symmetry / (252 * 251), diameter) == (aspl, longest)


@pytest.mark.parametrize("instructions", ["portable", "avx2", "avx512"])
def test_every_set_of_instructions_finds_the_same_network(instructions: str) -> None:
    script = (
        "from searchspace.topology.optimise import optimise;"
        "print(hash(optimise(96, 4, iterations=20000, seed=3).edges))"
    )
    prints = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "HAMTUNE_INSTRUCTIONS": chosen},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for chosen in ("portable", instructions)
    ]
    assert prints[0] == prints[1]


@pytest.mark.parametrize(
    ("orbits", "words"),
    [([(0, 9, 0)], "does not exist"), ([(0, 1, 0), (1, 0, 0)], "simple"), ([(2, 2, 0)], "simple")],
)
def test_orbits_that_form_no_network_are_refused(
    orbits: list[tuple[int, int, int]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        _native.Distances(8, 3, 1, orbit_array(orbits))

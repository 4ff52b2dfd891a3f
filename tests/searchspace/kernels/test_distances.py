"""Hop distances against networkx."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.graph import Graph
from searchspace.kernels import UNREACHABLE, aspl_diameter, hop_distances
from searchspace.topology import generate


def random_graph(seed: int) -> Graph:
    rng = random.Random(seed)
    nodes = rng.randint(1, 40)
    density = rng.uniform(0, 0.3)
    pairs = [(u, v) for v in range(nodes) for u in range(v) if rng.random() < density]
    return Graph.from_edges(nodes, pairs)


def as_networkx(graph: Graph) -> nx.Graph:
    other = nx.Graph(graph.edges)
    other.add_nodes_from(range(graph.nodes))
    return other


@given(st.integers(0, 2**32))
def test_distances_are_those_of_networkx(seed: int) -> None:
    graph = random_graph(seed)
    expected = np.full((graph.nodes, graph.nodes), UNREACHABLE)
    for source, lengths in nx.all_pairs_shortest_path_length(as_networkx(graph)):
        for target, length in lengths.items():
            expected[source, target] = length
    assert np.array_equal(hop_distances(graph.nodes, graph.edges), expected)


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_more_nodes_than_one_batch_of_sources(seed: int) -> None:
    graph = generate("random", 300, degree=3, seed=seed)
    distances = hop_distances(graph.nodes, graph.edges)
    reference = as_networkx(graph)
    for source in (0, 255, 256, 299):
        lengths = nx.single_source_shortest_path_length(reference, source)
        assert [lengths[t] for t in range(graph.nodes)] == distances[source].tolist()
    aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
    assert aspl == pytest.approx(distances.sum() / (300 * 299))
    assert diameter == distances.max()


def test_a_single_node_has_no_distances() -> None:
    assert aspl_diameter(1, ()) == (0.0, 0)
    assert hop_distances(1, ()).tolist() == [[0]]


def test_refuses_what_is_not_a_connected_simple_graph() -> None:
    with pytest.raises(ValueError, match="not connected"):
        aspl_diameter(3, [(0, 1)])
    with pytest.raises(ValueError, match="occurs twice"):
        hop_distances(3, [(0, 1), (0, 1)])
    with pytest.raises(ValueError, match="u < v < 3"):
        hop_distances(3, [(1, 3)])

"""Hops between hosts of any network."""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network


def graph_of(nodes: int, edges: Iterable[tuple[int, int]], switches: int = 0) -> Graph:
    ordered = sorted((min(edge), max(edge)) for edge in edges)
    return Graph(nodes=nodes, edges=tuple(ordered), switches=switches)


def hops_on(graph: Graph) -> np.ndarray:
    every = np.arange(graph.hosts, dtype=np.uint32)
    return np.asarray(HopMachine.uniform(Network(graph), 1).hops.table(every, every))


@given(st.integers(4, 40), st.integers(0, 1000))
def test_hops_are_the_shortest_paths(nodes: int, seed: int) -> None:
    network = nx.random_regular_graph(3, 2 * nodes, seed=seed)
    if not nx.is_connected(network):
        return
    graph = graph_of(2 * nodes, network.edges)
    lengths = dict(nx.all_pairs_shortest_path_length(network))
    expected = [[lengths[one][other] for other in range(2 * nodes)] for one in range(2 * nodes)]
    assert hops_on(graph).tolist() == expected


@pytest.mark.parametrize("nodes", [508, 509, 510, 511, 512, 1000])
def test_hops_may_be_more_than_a_byte_holds(nodes: int) -> None:
    ring = graph_of(nodes, ((node, (node + 1) % nodes) for node in range(nodes)))
    apart = np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes)))
    assert np.array_equal(hops_on(ring), np.minimum(apart, nodes - apart))


@pytest.mark.parametrize("switches", [3, 300])
def test_hosts_do_not_forward(switches: int) -> None:
    """Two hosts at each end of a line of switches."""
    hosts = 4
    line = [(hosts + at, hosts + at + 1) for at in range(switches - 1)]
    plugged = [(0, hosts), (1, hosts), (2, hosts + switches - 1), (3, hosts + switches - 1)]
    graph = graph_of(hosts + switches, (*plugged, *line), switches)
    far = switches + 1
    assert hops_on(graph).tolist() == [
        [0, 2, far, far], [2, 0, far, far], [far, far, 0, 2], [far, far, 2, 0],
    ]  # fmt: skip


def test_hosts_without_a_path_are_refused() -> None:
    with pytest.raises(InvalidInput, match="not connected"):
        hops_on(Graph(nodes=4, edges=((0, 1), (2, 3))))

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network
from searchspace.kernels import routes
from searchspace.mapping import map_ranks
from searchspace.mapping.metrics import MappingMetrics, cable_loads, metrics_of
from searchspace.traffic import Traffic


def traffic_of(ranks: int, pairs: dict[tuple[int, int], int]) -> Traffic:
    return Traffic.from_pairs(
        ranks, [a for a, _ in pairs], [b for _, b in pairs], [*pairs.values()]
    )


def on(network: Graph, cores: int = 1) -> HopMachine:
    return HopMachine.uniform(Network(network), cores)


def places(*numbers: int) -> np.ndarray:
    return np.asarray(numbers, dtype=np.uint32)


def test_a_line_of_three_hosts() -> None:
    line = Graph(nodes=3, edges=((0, 1), (1, 2)))
    traffic = traffic_of(3, {(0, 1): 10, (0, 2): 4, (1, 2): 1})

    assert metrics_of(traffic, on(line), places(0, 1, 2)) == MappingMetrics(
        hop_bytes=10 + 4 * 2 + 1, dilation=2, congestion=14
    )


def test_ranks_of_one_host_cost_nothing() -> None:
    line = Graph(nodes=2, edges=((0, 1),))

    assert metrics_of(traffic_of(2, {(0, 1): 10}), on(line, 2), places(2, 3)) == MappingMetrics(
        0, 0, 0
    )


def test_the_example_of_treematch() -> None:
    # Jeannot and Mercier, Euro-Par 2010, figure 1: packing costs 20180 hop-bytes, 18568 is optimal.
    upper = [
        [1000, 10, 1, 100, 1, 1, 1],
        [1000, 1, 1, 100, 1, 1],
        [1000, 1, 1, 100, 1],
        [1, 1, 1, 100],
        [1000, 10, 1],
        [1000, 1],
        [1000],
    ]
    pairs = {(a, a + 1 + k): size for a, row in enumerate(upper) for k, size in enumerate(row)}
    machine = read_hop_machine({"type": "tree", "arity": [2, 3, 2]}, read_graph=_no_graph)

    traffic = traffic_of(8, pairs)
    packed = metrics_of(traffic, machine, map_ranks("packed", traffic, machine))

    assert packed.hop_bytes == 20180


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_hop_bytes_agree_with_networkx(seed: int, ranks: int) -> None:
    reference = nx.connected_watts_strogatz_graph(16, 4, 0.5, seed=seed)
    network = Graph.from_edges(16, reference.edges)
    random = np.random.default_rng(seed)
    matrix = np.triu(random.integers(0, 50, (ranks, ranks)), k=1)
    traffic = matrix + matrix.T
    hosts = random.permutation(16)[:ranks].tolist()
    hops = dict(nx.all_pairs_shortest_path_length(reference))

    metrics = metrics_of(Traffic.from_dense(traffic), on(network), places(*hosts))

    pairs = [(a, b) for a in range(ranks) for b in range(a) if traffic[a, b]]
    assert metrics.hop_bytes == sum(int(traffic[a, b]) * hops[hosts[a]][hosts[b]] for a, b in pairs)
    assert metrics.dilation == max((hops[hosts[a]][hosts[b]] for a, b in pairs), default=0)


@given(st.integers(0, 10_000))
def test_loads_of_cables_are_those_of_the_routes(seed: int) -> None:
    reference = nx.connected_watts_strogatz_graph(12, 4, 0.5, seed=seed)
    network = Graph.from_edges(12, reference.edges)
    random = np.random.default_rng(seed)
    matrix = np.triu(random.integers(0, 50, (10, 10)), k=1)
    hosts = random.permutation(12)[:10].tolist()
    paths = routes(network.nodes, network.edges)
    expected = [0] * len(network.edges)
    for a, b in zip(*matrix.nonzero(), strict=True):
        for edge, _ in paths.path(hosts[a], hosts[b]):
            expected[edge] += int(matrix[a, b])

    traffic = Traffic.from_dense(matrix + matrix.T)

    assert cable_loads(traffic, on(network), places(*hosts)) == expected
    assert metrics_of(traffic, on(network), places(*hosts)).congestion == max(expected)


def test_a_network_in_two_parts_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not connected"):
        metrics_of(traffic_of(2, {}), on(Graph(nodes=3, edges=((0, 1),))), places(0, 1))


def _no_graph(name: str) -> Graph:
    raise AssertionError(name)

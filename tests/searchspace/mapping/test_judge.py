from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.graph import Graph
from searchspace.mapping import map_ranks
from searchspace.mapping.judge import Judgement, judge


def traffic_of(ranks: int, pairs: dict[tuple[int, int], int]) -> np.ndarray:
    traffic = np.zeros((ranks, ranks), dtype=np.int64)
    for (a, b), size in pairs.items():
        traffic[a, b] = traffic[b, a] = size
    return traffic


def test_a_line_of_three_hosts() -> None:
    line = Graph(nodes=3, edges=((0, 1), (1, 2)))
    traffic = traffic_of(3, {(0, 1): 10, (0, 2): 4, (1, 2): 1})

    assert judge(traffic, (0, 1, 2), line) == Judgement(
        hop_bytes=10 + 4 * 2 + 1, dilation=2, congestion=14
    )


def test_ranks_of_one_host_cost_nothing() -> None:
    line = Graph(nodes=2, edges=((0, 1),))

    assert judge(traffic_of(2, {(0, 1): 10}), (1, 1), line) == Judgement(0, 0, 0)


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

    packed = judge(traffic_of(8, pairs), map_ranks("packed", 8, 12, 1), machine.network)

    assert packed.hop_bytes == 20180


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_hop_bytes_agree_with_networkx(seed: int, ranks: int) -> None:
    reference = nx.connected_watts_strogatz_graph(16, 4, 0.5, seed=seed)
    network = Graph.from_edges(16, reference.edges)
    random = np.random.default_rng(seed)
    traffic = np.triu(random.integers(0, 50, (ranks, ranks)), k=1)
    traffic = traffic + traffic.T
    hosts = random.permutation(16)[:ranks].tolist()
    hops = dict(nx.all_pairs_shortest_path_length(reference))

    judgement = judge(traffic, hosts, network)

    pairs = [(a, b) for a in range(ranks) for b in range(a) if traffic[a, b]]
    assert judgement.hop_bytes == sum(
        int(traffic[a, b]) * hops[hosts[a]][hosts[b]] for a, b in pairs
    )
    assert judgement.dilation == max((hops[hosts[a]][hosts[b]] for a, b in pairs), default=0)


def test_a_network_in_two_parts_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not connected"):
        judge(traffic_of(2, {}), (0, 1), Graph(nodes=3, edges=((0, 1),)))


def _no_graph(name: str) -> Graph:
    raise AssertionError(name)

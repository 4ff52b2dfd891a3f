"""Networks made for traffic: who exchanges something is near, and nobody is cut off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network
from searchspace.mapping.metrics import MappingMetrics, metrics_of
from searchspace.topology import generate, obstacle
from searchspace.topology.rotation import orbits_of
from searchspace.traffic import Traffic


def grid(side: int) -> Traffic:
    """What the neighbours in a square of ranks exchange."""
    rank = np.arange(side * side).reshape(side, side)
    one = np.concatenate((rank[:-1].ravel(), rank[:, :-1].ravel()))
    other = np.concatenate((rank[1:].ravel(), rank[:, 1:].ravel()))
    return Traffic.from_pairs(side * side, one, other, np.full(len(one), 1000))


def judged(traffic: Traffic, network: Graph) -> MappingMetrics:
    in_order = np.arange(network.hosts, dtype=np.uint32)
    return metrics_of(traffic, HopMachine.uniform(Network(network), 1), in_order)


def test_neighbours_of_a_grid_get_cables_as_far_as_there_are_some() -> None:
    traffic = grid(6)
    found = judged(traffic, generate("tailored", 36, degree=4, seed=1, traffic=traffic))
    other = judged(traffic, generate("optimised", 36, degree=4, seed=1))
    assert found.hop_bytes < 1.1 * traffic.total
    assert other.hop_bytes > 2 * traffic.total
    assert found.congestion < other.congestion


def test_all_to_all_is_spread_more_evenly_than_by_a_short_aspl_alone() -> None:
    everyone = Traffic.from_dense(np.ones((32, 32), dtype=np.int64))
    found = judged(everyone, generate("tailored", 32, degree=4, seed=1, traffic=everyone))
    other = judged(everyone, generate("optimised", 32, degree=4, seed=1))
    assert found.congestion < other.congestion
    assert found.hop_bytes < 1.03 * other.hop_bytes


@settings(max_examples=60)
@given(st.integers(3, 24), st.integers(2, 6), st.integers(0, 9), st.data())
def test_is_regular_connected_and_the_same_again(
    nodes: int, degree: int, seed: int, data: st.DataObject
) -> None:
    if obstacle("tailored", nodes, degree=degree) is not None:
        return
    rank = st.integers(0, nodes - 1)
    pairs = data.draw(st.lists(st.tuples(rank, rank, st.integers(0, 10**9)), max_size=40))
    traffic = Traffic.from_pairs(nodes, *zip(*pairs, strict=True)) if pairs else None
    traffic = traffic or Traffic.silent(nodes)
    made = [
        generate("tailored", nodes, degree=degree, seed=seed, iterations=64, traffic=traffic)
        for _ in range(2)
    ]
    assert set(made[0].degrees) == {degree}
    assert made[0].connected
    assert made[0] == made[1]


def test_looks_the_same_after_each_turn() -> None:
    traffic = grid(8)
    network = generate("tailored", 64, degree=4, seed=1, symmetry=8, traffic=traffic)
    assert orbits_of(network, 8)
    found = judged(traffic, network)
    assert found.hop_bytes < judged(traffic, generate("random", 64, degree=4, seed=1)).hop_bytes


def test_switches_look_the_same_after_each_turn() -> None:
    network = generate(
        "tailored", 64, degree=4, seed=1, symmetry=4, hosts_per_switch=4, traffic=grid(8)
    )
    between = Graph.from_edges(16, [(u - 64, v - 64) for u, v in network.edges if u >= 64])
    assert orbits_of(between, 4)


def test_large_networks_join_the_heaviest_pairs_without_an_annealing() -> None:
    traffic = grid(64)
    network = generate("tailored", 4096, degree=4, seed=1, traffic=traffic)
    assert network.connected
    assert judged(traffic, network).hop_bytes < 1.2 * traffic.total


def test_ranks_are_on_hosts_in_equal_blocks_and_hosts_on_their_switches() -> None:
    traffic = grid(8)
    network = generate("tailored", 32, degree=4, seed=1, traffic=traffic, hosts_per_switch=4)
    assert (network.hosts, network.switches) == (32, 8)
    direct = generate("tailored", 8, degree=4, seed=1, traffic=traffic)
    between = [(u - 32, v - 32) for u, v in network.edges if u >= 32]
    assert between == list(direct.edges)


@pytest.mark.parametrize(
    ("nodes", "degree", "options", "message"),
    [
        (15, 3, {}, "nodes x degree must be even"),
        (16, None, {}, "needs the machine's degree"),
        (16, 3, {"iterations": 0}, "iterations: must be a whole number from 1"),
        (16, 3, {"symmetry": 16}, "a symmetry of 16 leaves no cables to exchange"),
        (16, 4, {"symmetry": 3}, "a symmetry of 3 does not divide 16 nodes"),
        (4096, 4, {"symmetry": 2}, "with iterations alone"),
        (8192, 4, {"iterations": 10}, "more than 4096 nodes is not annealed"),
    ],
)
def test_refuses(nodes: int, degree: int | None, options: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        generate("tailored", nodes, degree=degree, traffic=Traffic.silent(nodes), **options)


def test_any_seed_will_do() -> None:
    traffic = grid(4)
    made = {
        generate("tailored", 16, degree=3, seed=seed, iterations=32, traffic=traffic).edges
        for seed in (0, 2**64 - 1, 2**64 + 7)
    }
    assert len(made) == 3


def test_needs_the_traffic() -> None:
    with pytest.raises(InvalidInput, match="what an application's ranks exchange, which is not kn"):
        generate("tailored", 16, degree=4)

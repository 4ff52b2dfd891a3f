"""What every mapper keeps to, on every kind of machine, and what the simple ones do."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.hop_machine import read_hop_machine
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Tree
from searchspace.mapping import MAPPERS, map_ranks
from searchspace.mapping.metrics import metrics_of
from searchspace.traffic import Traffic

RING = Graph.from_edges(6, [(i, (i + 1) % 6) for i in range(6)])
FAT = Graph.from_edges(8, [(0, 6), (1, 6), (2, 6), (3, 7), (4, 7), (5, 7), (6, 7)], switches=2)

MACHINES: dict[str, Any] = {
    "tree": {"type": "tree", "arity": [2, 3, 2]},
    "tree-with-arity-1": {"type": "tree", "arity": [1, 3, 1, 4]},
    "wide-tree": {"type": "tree", "arity": [3, 20]},
    "torus": {"type": "torus", "dims": [4, 3]},
    "mesh": {"type": "mesh", "dims": [2, 2, 3]},
    "dragonfly": {"type": "dragonfly", "groups": 3, "routers": 2, "nodes": 2},
    "graph": {"type": "graph", "edges": "ring"},
    "switched": {"type": "graph", "edges": "fat"},
    "cores": {"type": "torus", "dims": [2, 3], "cores_per_host": 3},
    "inside": {"type": "torus", "dims": [3, 2], "inside": [2, 2]},
    "tree-inside": {"type": "tree", "arity": [2, 2], "inside": [2, 3]},
    "fragmented": {"type": "torus", "dims": [4, 4], "allocated": [0, 1, 2, 7, 9, 10, 15]},
    "uneven": {"type": "mesh", "dims": [5], "cores_per_host": [3, 0, 1, 4, 2]},
    "most-in-the-last": {"type": "torus", "dims": [3], "cores_per_host": [1, 1, 12]},
    "pairs-of-1-and-2": {"type": "graph", "edges": "ring", "cores_per_host": [2, 2, 2, 1, 1, 2]},
    "one-host": {"type": "torus", "dims": [1]},
    "one-large-host": {"type": "tree", "arity": [1], "cores_per_host": 8},
}


def machine(name: str) -> HopMachine:
    return read_hop_machine(MACHINES[name], read_graph={"ring": RING, "fat": FAT}.__getitem__)


def traffic_of(kind: str, ranks: int) -> Traffic:
    every = np.arange(ranks)
    match kind:
        case "silent":
            return Traffic.silent(ranks)
        case "ring":
            return Traffic.from_pairs(ranks, every, (every + 1) % ranks, every + 1)
        case "all-to-all":
            return Traffic.from_dense(np.full((ranks, ranks), 7))
        case "huge":
            return Traffic.from_pairs(ranks, every[1:], every[:-1], np.full(ranks - 1, 10**16))
        case _:
            random = np.random.default_rng(ranks)
            matrix = random.integers(0, 1000, (ranks, ranks))
            return Traffic.from_directed(matrix * (random.random((ranks, ranks)) < 0.3))


def usable(mapper: str, where: HopMachine) -> bool:
    return MAPPERS[mapper].obstacle(where) is None


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("mapper", MAPPERS)
def test_a_mapper_places_every_rank_on_a_core_of_its_own(mapper: str, name: str) -> None:
    where = machine(name)
    if not usable(mapper, where):
        with pytest.raises(InvalidInput, match=f"the mapping '{mapper}'"):
            map_ranks(mapper, Traffic.silent(1), where)
        return
    for kind in ("silent", "ring", "all-to-all", "random", "huge"):
        for ranks in {1, min(2, where.places), max(1, where.places - 2), where.places}:
            traffic = traffic_of(kind, ranks)
            placed = map_ranks(mapper, traffic, where, seed=3)
            assert placed.dtype == np.uint32
            assert len(set(placed.tolist())) == ranks
            assert placed.max() < where.places
            hosts = Counter(where.place_hosts[placed].tolist())
            assert all(count <= where.cores_per_host[host] for host, count in hosts.items())
            metrics_of(traffic, where, placed)


@pytest.mark.parametrize("mapper", MAPPERS)
def test_a_seed_means_one_mapping(mapper: str) -> None:
    for name in ("tree", "torus", "graph", "inside"):
        where = machine(name)
        if usable(mapper, where):
            traffic = traffic_of("random", where.places)
            once, again = (map_ranks(mapper, traffic, where, seed=5) for _ in range(2))
            assert np.array_equal(once, again)


@pytest.mark.parametrize("mapper", MAPPERS)
def test_options_are_named_and_bounded(mapper: str) -> None:
    with pytest.raises(InvalidInput, match="no such option"):
        map_ranks(mapper, Traffic.silent(1), machine("tree"), colour="red")
    for option in MAPPERS[mapper].options:
        with pytest.raises(InvalidInput, match=r"must be|unknown value"):
            MAPPERS[mapper].read({option.name: "nonsense"})


def hosts_of(mapper: str, ranks: int, cores: list[int], **options: int) -> list[int]:
    document = {"type": "mesh", "dims": [len(cores)], "cores_per_host": cores}
    graphs: dict[str, Graph] = {}
    where = read_hop_machine(document, read_graph=graphs.__getitem__)
    placed = map_ranks(mapper, Traffic.silent(ranks), where, **options)
    hosts: list[int] = where.place_hosts[placed].tolist()
    return hosts


def test_the_simple_methods_differ_when_hosts_have_several_cores() -> None:
    assert hosts_of("by-order", 5, [4, 4, 4]) == [0, 0, 1, 1, 2]
    assert hosts_of("packed", 5, [4, 4, 4]) == [0, 0, 0, 0, 1]
    assert hosts_of("round-robin", 5, [4, 4, 4]) == [0, 1, 2, 0, 1]
    assert hosts_of("blocked", 5, [4, 4, 4]) == [0, 0, 0, 0, 1]
    assert hosts_of("blocked", 8, [4, 4, 4], block=2) == [0, 0, 1, 1, 2, 2, 0, 0]
    assert hosts_of("cyclic", 5, [4, 4, 4]) == [0, 1, 2, 0, 1]


def test_hosts_of_fewer_cores_fill_up_first() -> None:
    assert hosts_of("by-order", 6, [1, 4, 0, 4]) == [0, 1, 1, 1, 3, 3]
    assert hosts_of("round-robin", 6, [1, 4, 0, 2]) == [0, 1, 3, 1, 3, 1]


def test_by_order_puts_rank_n_on_host_n_while_there_are_hosts() -> None:
    assert hosts_of("by-order", 3, [4] * 8) == [0, 1, 2]


def test_cyclic_deals_to_the_parts_of_a_hierarchy() -> None:
    where = machine("tree")
    silent = Traffic.silent(6)
    assert map_ranks("cyclic", silent, where, level=1).tolist() == [0, 6, 1, 7, 2, 8]
    assert map_ranks("cyclic", silent, where, level=2).tolist() == [0, 2, 4, 6, 8, 10]


def test_refuses_more_ranks_than_cores_and_unknown_methods() -> None:
    with pytest.raises(InvalidInput, match=r"19 ranks do not fit on 6 hosts of 3 cores \(1 to 18"):
        map_ranks("packed", Traffic.silent(19), machine("cores"))
    with pytest.raises(InvalidInput, match="allowed: by-order, packed"):
        map_ranks("spread", Traffic.silent(1), machine("tree"))


@pytest.mark.parametrize("mapper", ["recursive-tree", "recursive-graph"])
def test_a_seed_decides_whatever_else_is_mapped_at_the_same_time(mapper: str) -> None:
    """METIS has one sequence of random numbers for all threads."""
    draw = np.random.default_rng(0)
    one, other = draw.integers(0, 256, (2, 1500))
    traffic = Traffic.from_pairs(256, one, other, draw.integers(1, 1000, 1500))
    hosts = HopMachine(Tree((8, 8)), (4,) * 64)
    alone = map_ranks(mapper, traffic, hosts, seed=1).tolist()
    done = threading.Event()

    def map_otherwise() -> None:
        while not done.is_set():
            map_ranks(mapper, traffic, hosts, seed=7)

    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(map_otherwise)
        try:
            for _ in range(20):
                assert map_ranks(mapper, traffic, hosts, seed=1).tolist() == alone
        finally:
            done.set()
        beside.result()

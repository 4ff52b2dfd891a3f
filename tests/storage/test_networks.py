from __future__ import annotations

import threading
from typing import Any

import pytest

from searchspace.graph import Graph
from searchspace.topology.network_cache import generate_once, network_key
from storage.networks import ProjectNetworks
from storage.storage import Storage

RING = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
SWITCHED = Graph(4, ((0, 2), (1, 3), (2, 3)), 2, (1, 1, 3))
KEY = "a" * 64


def forbidden() -> Graph:
    raise AssertionError("it is kept already")


@pytest.mark.parametrize("network", [RING, SWITCHED])
def test_a_network_is_found_as_it_was_kept(storage: Storage, network: Graph) -> None:
    assert storage.networks.find(KEY) is None

    storage.networks.put(KEY, network)
    storage.networks.put(KEY, network)

    assert storage.networks.find(KEY) == network


def test_a_network_is_built_once_for_all_jobs_of_a_project(storage: Storage) -> None:
    assert ProjectNetworks(storage.networks, "default").once(KEY, lambda: RING) == RING

    assert ProjectNetworks(storage.networks, "default").once(KEY, forbidden) == RING


def test_projects_do_not_see_what_others_have_built(storage: Storage) -> None:
    ProjectNetworks(storage.networks, "default").once(KEY, lambda: RING)

    assert ProjectNetworks(storage.networks, "other").once(KEY, lambda: SWITCHED) == SWITCHED
    assert ProjectNetworks(storage.networks, "other").once(KEY, forbidden) == SWITCHED


def test_threads_wait_for_the_one_that_builds(storage: Storage) -> None:
    built: list[int] = []
    networks = ProjectNetworks(storage.networks, "default")
    together = threading.Barrier(4)

    def build() -> Graph:
        built.append(1)
        return RING

    def ask() -> None:
        together.wait()
        assert networks.once(KEY, build) == RING

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert built == [1]


def test_old_networks_are_forgotten(storage: Storage) -> None:
    networks = ProjectNetworks(storage.networks, "default")
    networks.once(KEY, lambda: RING)
    made = storage.retention.now()

    assert storage.retention.forget_networks(made - 86400.0) == 0
    assert networks.once(KEY, forbidden) == RING
    assert storage.retention.forget_networks(made + 1.0) == 1
    assert networks.once(KEY, lambda: SWITCHED) == SWITCHED


def test_only_networks_that_take_long_are_kept(storage: Storage) -> None:
    networks = ProjectNetworks(storage.networks, "default")
    description: dict[str, Any] = {"degree": 3, "seed": 5, "iterations": 50}

    found = generate_once(networks, "optimised", 16, degree=3, seed=5, iterations=50)
    generate_once(networks, "random", 16, degree=3, seed=5)

    assert storage.networks.find(network_key("optimised", 16, **description)) == found
    assert storage.networks.find(network_key("random", 16, degree=3, seed=5)) is None

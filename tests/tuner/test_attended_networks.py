"""What a waiting thread sees to while a network is built beside it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from searchspace.graph import Graph
from storage.networks import ProjectNetworks
from tests.tuner.analytic import open_storage
from tuner.attended_networks import AttendedNetworks

RING = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
KEY = "a" * 64


def test_what_must_not_wait_is_seen_to_while_a_network_is_built(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    attended = threading.Semaphore(0)
    networks = AttendedNetworks(ProjectNetworks(storage.networks, "default"), attended.release)

    def build() -> Graph:
        for _ in range(3):  # it takes until somebody has looked so often
            attended.acquire()
        return RING

    assert networks.once(KEY, build) == RING
    assert ProjectNetworks(storage.networks, "default").once(KEY, pytest.fail) == RING
    assert networks.scope == "default"
    storage.close()


def test_a_lease_that_is_lost_meanwhile_is_told(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    lost = threading.Event()

    def attend() -> None:
        lost.set()
        raise RuntimeError("the lease is lost")

    def build() -> Graph:
        lost.wait()
        return RING

    networks = AttendedNetworks(ProjectNetworks(storage.networks, "default"), attend)
    with pytest.raises(RuntimeError, match="lease"):
        networks.once(KEY, build)
    storage.close()

"""A network cache for a thread that has something to see to while a network is built."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from searchspace.graph import Graph
from searchspace.topology.network_cache import NetworkCache
from tuner.lease import LOOK_SECONDS

__all__ = ["AttendedNetworks"]


class AttendedNetworks:
    """Networks that are built beside the thread that wants them. Implements `NetworkCache`.

    To build one takes longer than a lease may go without being renewed.

    Args:
        networks: Where they are kept.
        attend: Called again and again by the waiting thread until the network is there; what it
            raises is raised then.
    """

    def __init__(self, networks: NetworkCache, attend: Callable[[], object]) -> None:
        self._networks = networks
        self._attend = attend

    @property
    def scope(self) -> str:
        """Whose networks they are."""
        return self._networks.scope

    def once(self, key: str, build: Callable[[], Graph]) -> Graph:
        """The network kept under a key; where there is none, what `build` makes is kept there."""
        with ThreadPoolExecutor(1, "network") as beside:
            network = beside.submit(self._networks.once, key, build)
            while wait([network], LOOK_SECONDS).not_done:
                self._attend()
        return network.result()

"""Networks that took long to build, by the digest of their descriptions."""

from __future__ import annotations

import threading
from collections.abc import Callable

from searchspace.graph import Graph
from storage.errors import NotFound
from storage.evaluations import key_within
from storage.models import NetworkRow
from storage.repository import Repository

__all__ = ["Networks", "ProjectNetworks", "StoredNetworks"]

_LOCKS = tuple(threading.Lock() for _ in range(64))
"""Threads that want the same network at once wait for one that builds it."""


class Networks(Repository):
    """Networks, whose keys are those of a project: see `ProjectNetworks`."""

    def find(self, key: str) -> Graph | None:
        """The network that is kept under a key, if there is one."""
        with self._database.reading() as session:
            row = session.get(NetworkRow, key)
            if row is None:
                return None
            return Graph(
                row.nodes,
                tuple((u, v) for u, v in row.cables["edges"]),
                row.switches,
                tuple(row.cables["widths"]),
            )

    def put(self, key: str, network: Graph) -> None:
        """Keep a network; where the key has one, that one stays: they are the same."""
        with self._database.writing() as session:
            values = {
                "key": key,
                "nodes": network.nodes,
                "switches": network.switches,
                "created_at": self._database.now(session),
                "cables": {"edges": network.edges, "widths": network.widths},
            }
            self._database.insert_new(session, NetworkRow, values)


class ProjectNetworks:
    """The networks that the jobs of a project have built. Implements `NetworkCache`.

    Projects do not share them, as they do not share outcomes: how soon a network is there would
    tell what others have asked for.
    """

    def __init__(self, networks: Networks, project: str) -> None:
        self._networks = networks
        self._project = project

    @property
    def scope(self) -> str:
        """The project."""
        return self._project

    def once(self, key: str, build: Callable[[], Graph]) -> Graph:
        """The network kept under a key; where there is none, what `build` makes is kept there.

        Threads of one process build it once; processes that begin at the same time may each.
        """
        own = key_within(self._project, key)
        with _LOCKS[int(own[:8], 16) % len(_LOCKS)]:
            known = self._networks.find(own)
            if known is None:
                known = build()
                self._networks.put(own, known)
            return known


class StoredNetworks(ProjectNetworks):
    """The networks that the jobs of a project have built, for those who must not wait for others.

    Nothing is built or written. Implements `NetworkCache`.
    """

    def once(self, key: str, build: Callable[[], Graph]) -> Graph:
        """The network kept under a key.

        Raises:
            NotFound: There is none, or none any more.
        """
        known = self._networks.find(key_within(self._project, key))
        if known is None:
            raise NotFound("its network is not kept")
        return known

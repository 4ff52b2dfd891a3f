"""A network as files hold it: the graph, and the names of its hosts and switches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = ["MOST_CABLES", "MOST_NODES", "Fabric", "build_fabric", "check_size"]

MOST_NODES = 1 << 20
MOST_CABLES = 2_000_000


@dataclass(frozen=True)
class Fabric:
    """A network from a file.

    Attributes:
        graph: The network.
        names: The names of its nodes, hosts first; empty where they have none.
    """

    graph: Graph
    names: tuple[str, ...] = ()

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of the hosts, if they have any."""
        return self.names[: self.graph.hosts]


def check_size(nodes: int, cables: int) -> None:
    """Refuses what is too large to be read.

    Raises:
        InvalidInput: There are too many nodes or cables.
    """
    if nodes > MOST_NODES:
        raise InvalidInput(f"the network has {nodes} nodes; at most {MOST_NODES} can be read")
    if cables > MOST_CABLES:
        raise InvalidInput(f"the network has {cables} cables; at most {MOST_CABLES} can be read")


def build_fabric(
    hosts: Sequence[str], switches: Sequence[str], cables: Iterable[tuple[str, str]]
) -> Fabric:
    """Puts a network together from names; several cables may join the same two nodes.

    Raises:
        InvalidInput: There is no host, a host is plugged into nothing or into another host although
            there are switches, or the network is too large.
    """
    names = (*hosts, *switches)
    number: Mapping[str, int] = {name: index for index, name in enumerate(names)}
    # One more than may be: a file of little says of many cables that they are there.
    pairs = [(number[a], number[b]) for a, b in islice(cables, MOST_CABLES + 1)]
    if len(pairs) > MOST_CABLES:
        raise InvalidInput(f"the network has more than the {MOST_CABLES} cables that can be read")
    check_size(len(names), len(pairs))
    if not hosts:
        raise InvalidInput("the network has no hosts")
    graph = Graph.from_cables(len(names), pairs, switches=len(switches))
    lonely = next((name for name, near in zip(names, graph.neighbors, strict=True) if not near), "")
    if lonely and len(names) > 1:
        raise InvalidInput(f"{lonely} has no cable")
    return Fabric(graph, names)

"""Hosts on the switches of any direct network."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.options import Whole

__all__ = ["HOSTS_PER_SWITCH", "attach_hosts"]

HOSTS_PER_SWITCH = Whole(
    "hosts_per_switch",
    "hosts plugged into each switch; 0 when every node is a host with its switch",
    low=0,
    high=4096,
    default=0,
)


def attach_hosts(switches: Graph, hosts_per_switch: int) -> Graph:
    """Plugs as many hosts into every node of a direct network, which become its switches.

    The hosts of switch 0 are numbered first, then those of switch 1, and so on.
    """
    hosts = switches.nodes * hosts_per_switch
    edges = [(host, hosts + host // hosts_per_switch) for host in range(hosts)]
    edges += [(hosts + u, hosts + v) for u, v in switches.edges]
    return Graph.from_edges(hosts + switches.nodes, edges, switches=switches.nodes)

"""How good a network is: average shortest path length, diameter, and what no network can beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import aspl_diameter
from searchspace.topology.structure import attachments, hop_histogram, switch_network

__all__ = ["Metrics", "aspl_lower_bound", "diameter_lower_bound", "measure"]


@dataclass(frozen=True)
class Metrics:
    """Distances of a network, in hops, beside their lower bounds for its nodes and degree.

    In a network with switches of their own, distances are those between hosts, in cables, and the
    bounds hold for as many hosts on such switches.
    """

    nodes: int  # that are hosts
    degree: int  # of the node with most cables; cables to other switches, where these are
    diameter: int
    aspl: float
    aspl_lower_bound: float
    diameter_lower_bound: int

    @property
    def aspl_gap(self) -> float:
        """How much the ASPL is above its bound, as a share of it."""
        return self.aspl / self.aspl_lower_bound - 1 if self.aspl_lower_bound else 0.0

    @property
    def diameter_gap(self) -> int:
        """How many hops the diameter is above its bound."""
        return self.diameter - self.diameter_lower_bound


def measure(graph: Graph) -> Metrics:
    """Measures a connected network.

    Raises:
        InvalidInput: The network is not connected.
    """
    if graph.switches:
        return _measure_hosts(graph)
    try:
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
    except ValueError as error:
        raise InvalidInput(graph.why_apart) from error
    degree = max(graph.degrees)
    return Metrics(
        nodes=graph.nodes,
        degree=degree,
        diameter=diameter,
        aspl=aspl,
        aspl_lower_bound=aspl_lower_bound(graph.nodes, degree),
        diameter_lower_bound=diameter_lower_bound(graph.nodes, degree),
    )


def _measure_hosts(graph: Graph) -> Metrics:
    counts = hop_histogram(graph)
    pairs = graph.hosts * (graph.hosts - 1) // 2
    total = sum(hops * count for hops, count in counts.items())
    degree = max(switch_network(graph).degrees)
    rings = list(_hosts_by_distance(graph, degree))
    bound = sum(hops * count for hops, count in rings)
    return Metrics(
        nodes=graph.hosts,
        degree=degree,
        diameter=max(counts, default=0),
        aspl=total / pairs if pairs else 0.0,
        aspl_lower_bound=bound / (graph.hosts - 1) if pairs else 0.0,
        diameter_lower_bound=max((hops for hops, _ in rings), default=0),
    )


def _hosts_by_distance(graph: Graph, degree: int) -> Iterator[tuple[int, int]]:
    """Yields (hops, how many hosts are that far at best) for hosts on switches of a degree.

    As below, with the switches of a host as the root of the Moore tree and as many hosts on each
    switch as on the one that has most.
    """
    plugged = [0] * graph.switches
    for switches, hosts in attachments(graph).items():
        for switch in switches:
            plugged[switch] += hosts
    most = max(plugged)
    ports = max(len(switches) for switches in attachments(graph))
    left, ring, hops = graph.hosts - 1, ports, 2
    while left > 0:
        taken = min(ring * most - (ports if hops == 2 else 0), left)
        if taken <= 0 and hops > 2:
            return  # no room by this count: the bound ends here
        yield hops, taken
        left -= taken
        ring *= degree if hops == 2 else degree - 1
        hops += 1


def _nodes_by_distance(nodes: int, degree: int) -> Iterator[tuple[int, int]]:
    """Yields (hops, how many nodes are at most that far at best): the Moore tree, cut to size.

    A node has at most `degree` nodes one hop away and (degree - 1) times as many with every
    further hop (Cerf, Cowan, Mullin and Stanton, "A lower bound on the average shortest path
    length in regular graphs", 1974).
    """
    if nodes > 1 and (degree < 1 or (degree == 1 and nodes > 2)):
        raise InvalidInput(f"no connected network of {nodes} nodes has degree {degree}")
    left, ring, hops = nodes - 1, degree, 1
    while left > 0:
        taken = min(ring, left)
        yield hops, taken
        left -= taken
        ring *= degree - 1
        hops += 1


def aspl_lower_bound(nodes: int, degree: int) -> float:
    """Returns the average shortest path length that no network of that degree can be below."""
    total = sum(hops * count for hops, count in _nodes_by_distance(nodes, degree))
    return total / (nodes - 1) if nodes > 1 else 0.0


def diameter_lower_bound(nodes: int, degree: int) -> int:
    """Returns the diameter that no network of that degree can be below (Moore)."""
    return max((hops for hops, _ in _nodes_by_distance(nodes, degree)), default=0)

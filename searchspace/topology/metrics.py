"""How good a network is: average shortest path length, diameter, and what no network can beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import aspl_diameter

__all__ = ["Metrics", "aspl_lower_bound", "diameter_lower_bound", "measure"]


@dataclass(frozen=True)
class Metrics:
    """Distances of a network, in hops, beside their lower bounds for its nodes and degree."""

    nodes: int
    degree: int  # of the node with most cables
    diameter: int
    aspl: float
    aspl_lower_bound: float
    diameter_lower_bound: int


def measure(graph: Graph) -> Metrics:
    """Measures a connected network.

    Raises:
        InvalidInput: The network is not connected.
    """
    try:
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
    except ValueError as error:
        raise InvalidInput(str(error)) from error
    degree = max(graph.degrees)
    return Metrics(
        nodes=graph.nodes,
        degree=degree,
        diameter=diameter,
        aspl=aspl,
        aspl_lower_bound=aspl_lower_bound(graph.nodes, degree),
        diameter_lower_bound=diameter_lower_bound(graph.nodes, degree),
    )


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

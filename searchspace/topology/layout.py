"""Where the nodes of a network stand, and how long its cables are.

Three layouts. On a `line` and on a `ring` nodes stand one unit apart in the order of their numbers:
the one-dimensional layout along a Hamiltonian cycle of Deng et al. (2019, section 4.4.1), for
networks numbered along one. On a `floor` they stand in racks that form a grid, and cables run along
the rows and aisles between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = ["Floor", "line_length", "ring_length"]


def line_length(graph: Graph) -> int:
    """The length of all cables when the nodes stand in a line, in units of their distance.

    Hosts on switches stand with their switch; their cables count nothing.
    """
    return sum(
        graph.width(index) * (v - u) for index, (u, v) in enumerate(graph.edges) if _long(graph, u)
    )


def ring_length(graph: Graph) -> int:
    """The same when they stand in a circle, along the shorter way round it."""
    places = graph.switches or graph.nodes
    return sum(
        graph.width(index) * min(v - u, places - (v - u))
        for index, (u, v) in enumerate(graph.edges)
        if _long(graph, u)
    )


def _long(graph: Graph, lower: int) -> bool:
    """Whether a cable leads from one place to another, not from a host to its switch."""
    return not graph.switches or lower >= graph.hosts


@dataclass(frozen=True)
class Floor:
    """A grid of racks, nearly square in metres; nodes fill one rack after the other, row by row.

    Attributes:
        rack_nodes: Nodes in a rack: hosts of a direct network, else switches with their hosts.
        width: Metres from a rack to the next in its row.
        depth: Metres from a row to the next, with the aisle.
        inside: Metres of a cable that stays in its rack.
        overhead: Metres that a cable between racks is longer than its way along the floor.

    Raises:
        InvalidInput: A length is negative or there is no node in a rack.
    """

    rack_nodes: int = 16
    width: float = 0.6
    depth: float = 2.1
    inside: float = 2.0
    overhead: float = 2.0

    def __post_init__(self) -> None:
        if self.rack_nodes < 1:
            raise InvalidInput("a rack holds at least one node")
        if min(self.width, self.depth, self.inside, self.overhead) < 0:
            raise InvalidInput("a length on the floor cannot be negative")

    def columns(self, nodes: int) -> int:
        """Racks in a row."""
        racks = -(-nodes // self.rack_nodes)
        if not self.width or not self.depth:
            return math.isqrt(racks - 1) + 1
        return min(racks, max(1, round(math.sqrt(racks * self.depth / self.width))))

    def lengths(self, graph: Graph) -> list[float]:
        """Metres of one cable of each edge."""
        first = graph.hosts if graph.switches else 0
        columns = self.columns(graph.nodes - first)

        def length(u: int, v: int) -> float:
            if u < first:
                return self.inside
            a, b = (u - first) // self.rack_nodes, (v - first) // self.rack_nodes
            if a == b:
                return self.inside
            across = abs(a % columns - b % columns) * self.width
            along = abs(a // columns - b // columns) * self.depth
            return across + along + self.overhead

        return [length(u, v) for u, v in graph.edges]

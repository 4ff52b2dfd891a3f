"""Networks as graphs: nodes are hosts with their switch, edges are cables."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from searchspace.errors import InvalidInput

__all__ = ["Graph"]


@dataclass(frozen=True)
class Graph:
    """A simple undirected graph on the nodes 0 to nodes - 1.

    Every edge is (u, v) with u < v, and the edges are sorted, so equal graphs compare equal.
    `Graph.from_edges` brings any list of pairs into this form.

    Example:
        >>> Graph.from_edges(3, [(2, 1), (0, 1)])
        Graph(nodes=3, edges=((0, 1), (1, 2)))

    Raises:
        InvalidInput: Not a simple graph in that form.
    """

    nodes: int
    edges: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if self.nodes < 1:
            raise InvalidInput(f"a network needs at least one node, not {self.nodes}")
        previous = (-1, -1)
        for edge in self.edges:
            u, v = edge
            if u == v:
                raise InvalidInput(f"edge ({u}, {v}) joins a node with itself")
            if u < 0 or v >= self.nodes:
                raise InvalidInput(
                    f"edge ({u}, {v}) names a node outside 0 to {self.nodes - 1}",
                )
            if edge == previous:
                raise InvalidInput(f"edge ({u}, {v}) occurs twice")
            if u > v or edge < previous:
                raise InvalidInput(f"edge ({u}, {v}) is out of order")
            previous = edge

    @classmethod
    def from_edges(cls, nodes: int, edges: Iterable[Sequence[int]]) -> Graph:
        """Builds the graph from pairs in any order and direction.

        Raises:
            InvalidInput: A pair joins a node with itself, occurs twice or names an unknown node.
        """
        ordered = sorted((min(u, v), max(u, v)) for u, v in edges)
        return cls(nodes, tuple(ordered))

    @functools.cached_property
    def neighbors(self) -> tuple[tuple[int, ...], ...]:
        """The neighbours of each node in increasing id."""
        found: list[list[int]] = [[] for _ in range(self.nodes)]
        for u, v in self.edges:
            found[u].append(v)
            found[v].append(u)
        return tuple(tuple(sorted(nodes)) for nodes in found)

    @property
    def degrees(self) -> tuple[int, ...]:
        """How many cables each node has."""
        return tuple(map(len, self.neighbors))

    @property
    def connected(self) -> bool:
        """Whether there is a path between every two nodes."""
        reached = {0}
        frontier = [0]
        while frontier:
            node = frontier.pop()
            for neighbor in self.neighbors[node]:
                if neighbor not in reached:
                    reached.add(neighbor)
                    frontier.append(neighbor)
        return len(reached) == self.nodes

    def relabel(self, order: Sequence[int]) -> Graph:
        """Renumbers the nodes; the network itself stays the same.

        Args:
            order: The old id of the new node 0, 1, ...

        Raises:
            InvalidInput: `order` is not a permutation of the nodes.
        """
        if sorted(order) != list(range(self.nodes)):
            raise InvalidInput(f"the order is not a permutation of 0 to {self.nodes - 1}")
        new_id = [0] * self.nodes
        for new, old in enumerate(order):
            new_id[old] = new
        return Graph.from_edges(self.nodes, ((new_id[u], new_id[v]) for u, v in self.edges))

"""Networks as graphs: nodes are hosts and switches, edges are cables.

In a direct network every node is a host with its switch. In an indirect one the last nodes are
switches, every host is plugged into at least one of them, and hosts do not forward.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from searchspace.errors import InvalidInput

__all__ = ["Graph"]

_MOST_STEPS = 10_000_000
"""Nodes and ends of cables that a search in Python may look at: some seconds."""


@dataclass(frozen=True)
class Graph:
    """A simple undirected graph on the nodes 0 to nodes - 1.

    Every edge is (u, v) with u < v, and the edges are sorted, so equal graphs compare equal.
    `Graph.from_edges` brings any list of pairs into this form.

    Attributes:
        nodes: Hosts and switches together.
        edges: The cables.
        switches: How many of the last nodes are switches without a host; 0 for a direct network,
            where every node is both.
        widths: How many parallel cables each edge stands for; empty when it is one everywhere.

    Example:
        >>> Graph.from_edges(3, [(2, 1), (0, 1)])
        Graph(nodes=3, edges=((0, 1), (1, 2)))

    Raises:
        InvalidInput: Not a simple graph in that form.
    """

    nodes: int
    edges: tuple[tuple[int, int], ...]
    switches: int = field(default=0, repr=False)
    widths: tuple[int, ...] = field(default=(), repr=False)

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
        if self.switches:
            self._check_switches()
        if self.widths and (len(self.widths) != len(self.edges) or min(self.widths) < 1):
            raise InvalidInput("every edge stands for at least one cable")

    def _check_switches(self) -> None:
        if not 0 < self.switches < self.nodes:
            raise InvalidInput(
                f"a network of {self.nodes} nodes cannot have {self.switches} switches"
            )
        for edge in self.edges:
            if edge[1] < self.hosts:
                raise InvalidInput(
                    f"edge {edge} joins two hosts; in a network with switches of their own hosts "
                    f"are plugged into these"
                )

    @classmethod
    def from_edges(cls, nodes: int, edges: Iterable[Sequence[int]], *, switches: int = 0) -> Graph:
        """Builds the graph from pairs in any order and direction.

        Raises:
            InvalidInput: A pair joins a node with itself, occurs twice or names an unknown node.
        """
        ordered = sorted((min(u, v), max(u, v)) for u, v in edges)
        return cls(nodes, tuple(ordered), switches)

    @classmethod
    def from_cables(
        cls, nodes: int, cables: Iterable[Sequence[int]], *, switches: int = 0
    ) -> Graph:
        """Builds the graph from single cables, of which several may join the same two nodes.

        Raises:
            InvalidInput: A cable joins a node with itself or names an unknown node.
        """
        counted = collections.Counter((min(u, v), max(u, v)) for u, v in cables)
        edges = tuple(sorted(counted))
        widths = tuple(counted[edge] for edge in edges)
        return cls(nodes, edges, switches, widths if max(widths, default=1) > 1 else ())

    @property
    def hosts(self) -> int:
        """How many nodes run ranks: the first ones."""
        return self.nodes - self.switches

    def width(self, edge: int) -> int:
        """How many parallel cables the edge of that index stands for."""
        return self.widths[edge] if self.widths else 1

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
        return len(self._reached_from(0)) == self.nodes

    @property
    def why_apart(self) -> str:
        """What is wrong with a network that is not connected, in words."""
        lonely = next((node for node, near in enumerate(self.neighbors) if not near), None)
        if lonely is not None:
            return f"the network is not connected: node {lonely} has no cable"
        parts, seen = 0, set[int]()
        for node in range(self.nodes):
            if node not in seen:
                seen |= self._reached_from(node)
                parts += 1
        return f"the network is not connected: {parts} parts"

    @property
    def has_equal_paths(self) -> bool:
        """Whether some host reaches another by several shortest paths: a rule has to choose one.

        Parallel cables of one edge count as one path. The search stops at the first such pair; in
        a large network with hardly any it is given up, and there are taken to be some.
        """
        if len(self.edges) < self.nodes and self.connected:
            return False  # a tree
        starts = {
            near[0] if self.switches and len(near) == 1 else host
            for host, near in enumerate(self.neighbors[: self.hosts])
        }
        most = _MOST_STEPS // (self.nodes + 2 * len(self.edges))
        return len(starts) > most or any(map(self._has_equal_paths_from, sorted(starts)))

    def _has_equal_paths_from(self, first: int) -> bool:
        paths, frontier = {first: 1}, [first]
        while frontier:
            reached: dict[int, int] = {}
            for node in frontier:
                if self.switches and node != first and node < self.hosts:
                    continue  # hosts do not forward
                for near in self.neighbors[node]:
                    if near not in paths:
                        reached[near] = reached.get(near, 0) + paths[node]
            if any(node < self.hosts and count > 1 for node, count in reached.items()):
                return True
            paths |= {node: min(count, 2) for node, count in reached.items()}
            frontier = list(reached)
        return False

    def _reached_from(self, first: int) -> set[int]:
        reached = {first}
        frontier = [first]
        while frontier:
            node = frontier.pop()
            if self.switches and node != first and node < self.hosts:
                continue  # hosts do not forward
            for neighbor in self.neighbors[node]:
                if neighbor not in reached:
                    reached.add(neighbor)
                    frontier.append(neighbor)
        return reached

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
        moved = [(min(new_id[u], new_id[v]), max(new_id[u], new_id[v])) for u, v in self.edges]
        widths = [
            self.widths[index] for index in sorted(range(len(moved)), key=moved.__getitem__)
        ] if self.widths else []  # fmt: skip
        return Graph(self.nodes, tuple(sorted(moved)), self.switches, tuple(widths))

"""Breadth-first order."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["BFS"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    """Level by level from node 0, neighbours by id; each further part from its lowest node."""
    found: list[int] = []
    seen = [False] * graph.nodes
    for root in range(graph.nodes):
        if seen[root]:
            continue
        seen[root] = True
        at = len(found)
        found.append(root)
        while at < len(found):
            for neighbor in graph.neighbors[found[at]]:
                if not seen[neighbor]:
                    seen[neighbor] = True
                    found.append(neighbor)
            at += 1
    return tuple(found)


BFS = Ordering("bfs", "breadth-first from node 0", _order)

"""Depth-first order."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["DFS"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    """In the order of first visits from node 0, neighbours by id."""
    found: list[int] = []
    seen = [False] * graph.nodes
    for root in range(graph.nodes):
        stack = [root]
        while stack:
            node = stack.pop()
            if seen[node]:
                continue
            seen[node] = True
            found.append(node)
            stack.extend(n for n in reversed(graph.neighbors[node]) if not seen[n])
    return tuple(found)


DFS = Ordering("dfs", "depth-first from node 0", _order)

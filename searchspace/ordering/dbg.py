"""Degree-based grouping (Faldu, Diamond and Grot, "A closer look at lightweight graph reordering",
2020, table V)."""  # noqa: D205, D209

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["DBG"]

# Lower ends of the groups, in multiples of the average degree.
_GROUPS = (32, 16, 8, 4, 2, 1, 0.5, 0)


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    """Gathers nodes into groups of like degree; within a group they keep their order."""
    degrees = graph.degrees
    average = sum(degrees) / graph.nodes

    def group(node: int) -> int:
        return next(i for i, low in enumerate(_GROUPS) if degrees[node] >= low * average)

    return tuple(sorted(range(graph.nodes), key=group))


DBG = Ordering("dbg", "groups of like degree, highest first (Faldu et al. 2020)", _order)

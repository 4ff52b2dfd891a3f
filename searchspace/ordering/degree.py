"""Order by degree."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["DEGREE"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    degrees = graph.degrees
    return tuple(sorted(range(graph.nodes), key=lambda node: -degrees[node]))


DEGREE = Ordering("degree", "nodes with more cables first; equal ones keep their order", _order)

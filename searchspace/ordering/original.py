"""The order in which the network came."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["ORIGINAL"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    return tuple(range(graph.nodes))


ORIGINAL = Ordering("original", "the nodes keep their numbers", _order)

"""HubSort (Zhang et al., "Making caches work for graph analytics", IEEE Big Data 2017)."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["HUBSORT"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    """Puts the hubs (more cables than the average) first, by degree; the rest keeps its order."""
    degrees = graph.degrees
    average = sum(degrees) / graph.nodes
    hubs = [node for node in range(graph.nodes) if degrees[node] > average]
    others = [node for node in range(graph.nodes) if degrees[node] <= average]
    return (*sorted(hubs, key=lambda node: -degrees[node]), *others)


HUBSORT = Ordering("hubsort", "nodes of more than average degree first (Zhang et al. 2017)", _order)

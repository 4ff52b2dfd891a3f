"""The ring: every node is joined to the one before and the one after it."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family, Wanted

__all__ = ["RING", "ring_edges"]


def ring_edges(nodes: int) -> list[tuple[int, int]]:
    """The cables of a ring in the order of the numbers."""
    return [(node, (node + 1) % nodes) for node in range(nodes)]


def _obstacle(wanted: Wanted) -> str | None:
    return None if wanted.nodes >= 3 else f"a ring has at least 3 nodes, not {wanted.nodes}"


def _generate(wanted: Wanted) -> Graph:
    return Graph.from_edges(wanted.nodes, ring_edges(wanted.nodes))


RING = Family(
    name="ring",
    description="ring: every node joined to the one before and the one after it",
    obstacle=_obstacle,
    generate=_generate,
)

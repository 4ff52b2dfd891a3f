"""The ring: every node is joined to the one before and the one after it."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family, NetworkSpec

__all__ = ["RING", "ring_edges"]


def ring_edges(nodes: int) -> list[tuple[int, int]]:
    """The cables of a ring in the order of the numbers."""
    return [(node, (node + 1) % nodes) for node in range(nodes)]


def _obstacle(spec: NetworkSpec) -> str | None:
    return None if spec.nodes >= 3 else f"a ring has at least 3 nodes, not {spec.nodes}"


def _generate(spec: NetworkSpec) -> Graph:
    return Graph.from_edges(spec.nodes, ring_edges(spec.nodes))


RING = Family(
    name="ring",
    description="ring: every node joined to the one before and the one after it",
    obstacle=_obstacle,
    generate=_generate,
)

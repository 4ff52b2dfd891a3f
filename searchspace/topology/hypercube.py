"""The hypercube: nodes are joined where their numbers differ in one bit."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family, Wanted

__all__ = ["HYPERCUBE"]


def _obstacle(wanted: Wanted) -> str | None:
    if wanted.nodes < 2 or wanted.nodes & (wanted.nodes - 1):
        return f"a hypercube has a power of two nodes, not {wanted.nodes}"
    return None


def _generate(wanted: Wanted) -> Graph:
    bits = [1 << bit for bit in range(wanted.nodes.bit_length() - 1)]
    edges = [(node, node | bit) for node in range(wanted.nodes) for bit in bits if not node & bit]
    return Graph.from_edges(wanted.nodes, edges)


HYPERCUBE = Family(
    name="hypercube",
    description="hypercube: nodes joined where their numbers differ in one bit",
    obstacle=_obstacle,
    generate=_generate,
)

"""The hypercube: nodes are joined where their numbers differ in one bit."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family, NetworkSpec

__all__ = ["HYPERCUBE"]


def _obstacle(spec: NetworkSpec) -> str | None:
    if spec.nodes < 2 or spec.nodes & (spec.nodes - 1):
        return f"a hypercube has a power of two nodes, not {spec.nodes}"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    bits = [1 << bit for bit in range(spec.nodes.bit_length() - 1)]
    edges = [(node, node | bit) for node in range(spec.nodes) for bit in bits if not node & bit]
    return Graph.from_edges(spec.nodes, edges)


HYPERCUBE = Family(
    name="hypercube",
    description="hypercube: nodes joined where their numbers differ in one bit",
    obstacle=_obstacle,
    generate=_generate,
)

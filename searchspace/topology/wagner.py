"""The Wagner graph and its generalisation, the Moebius ladder: a ring with all its diameters.

The Wagner graph has 8 nodes; Deng et al. (2019, tables 1 and 4) use 16, 32 and 256.
"""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.ring import ring_edges

__all__ = ["WAGNER"]


def _obstacle(spec: NetworkSpec) -> str | None:
    if spec.nodes < 4 or spec.nodes % 2:
        return f"a Moebius ladder has an even number of nodes, at least 4, not {spec.nodes}"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    half = spec.nodes // 2
    diameters = [(node, node + half) for node in range(half)]
    return Graph.from_edges(spec.nodes, [*ring_edges(spec.nodes), *diameters])


WAGNER = Family(
    name="wagner",
    description="Moebius ladder: a ring with all its diameters, degree 3 (8 nodes: Wagner graph)",
    obstacle=_obstacle,
    generate=_generate,
)

"""The Chvatal graph: the smallest 4-regular graph without triangles that needs four colours.

Chvatal, "The smallest triangle-free 4-chromatic 4-regular graph" (1970). Deng et al. (2019) use a
form of 32 nodes, of which the paper gives the diameter, the mean path length and a drawing but no
edges; it is left out, since these do not determine a graph.
"""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.ring import ring_edges

__all__ = ["CHVATAL"]

_NODES = 12
_CHORDS = ((0, 3), (1, 5), (1, 7), (2, 8))
"""Chords of a ring through all nodes; turning them by 3, 6 and 9 nodes gives the others."""


def _obstacle(spec: NetworkSpec) -> str | None:
    if spec.nodes != _NODES:
        return f"the Chvatal graph has {_NODES} nodes, not {spec.nodes}"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    chords = {
        tuple(sorted(((u + turn) % _NODES, (v + turn) % _NODES)))
        for u, v in _CHORDS
        for turn in range(0, _NODES, 3)
    }
    return Graph.from_edges(_NODES, [*ring_edges(_NODES), *sorted(chords)])


CHVATAL = Family(
    name="chvatal",
    description="Chvatal graph: 12 nodes of degree 4 without triangles",
    obstacle=_obstacle,
    generate=_generate,
    implied=lambda _spec: _NODES,
)

"""The Bidiakis cube, generalised: a ring of four arcs, opposite arcs joined by parallel chords.

With 12 nodes it is the Bidiakis cube. With 16, 32 and 256 nodes it has the diameters and mean path
lengths that Deng et al. (2019, tables 1 and 4) print for theirs (5 and 2.53, 9 and 4.06, 65 and
25.09), which is how this generalisation was found: the paper does not spell it out.
"""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.ring import ring_edges

__all__ = ["BIDIAKIS"]


def _obstacle(spec: NetworkSpec) -> str | None:
    if spec.nodes < 8 or spec.nodes % 4:
        return f"a Bidiakis graph has a multiple of 4 nodes, at least 8, not {spec.nodes}"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    nodes, arc = spec.nodes, spec.nodes // 4
    chords = [(first + at, first + 3 * arc - 1 - at) for first in (0, arc) for at in range(arc)]
    return Graph.from_edges(nodes, [*ring_edges(nodes), *chords])


BIDIAKIS = Family(
    name="bidiakis",
    description="ring of four arcs, opposite ones joined by parallel chords, degree 3 "
    "(12 nodes: Bidiakis cube)",
    obstacle=_obstacle,
    generate=_generate,
)

"""The 3-D torus: a grid whose opposite ends are joined."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family
from searchspace.topology.grid import grid_graph, grid_obstacle

__all__ = ["TORUS_3D"]


def _obstacle(nodes: int, degree: int | None) -> str | None:
    return grid_obstacle(nodes, 3)


def _generate(nodes: int, *, degree: int | None, seed: int) -> Graph:
    return grid_graph(nodes, 3, wrap=True)


TORUS_3D = Family(
    name="torus-3d",
    description="3-D torus with the most cubic extents, nodes numbered row-major",
    uses_degree=False,
    uses_seed=False,
    obstacle=_obstacle,
    generate=_generate,
)

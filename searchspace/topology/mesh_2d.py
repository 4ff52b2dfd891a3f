"""The 2-D mesh: a grid whose opposite ends are not joined."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.topology.family import Family
from searchspace.topology.grid import grid_graph, grid_obstacle

__all__ = ["MESH_2D"]


def _obstacle(nodes: int, degree: int | None) -> str | None:
    return grid_obstacle(nodes, 2)


def _generate(nodes: int, *, degree: int | None, seed: int) -> Graph:
    return grid_graph(nodes, 2, wrap=False)


MESH_2D = Family(
    name="mesh-2d",
    description="2-D mesh with the most cubic extents, nodes numbered row-major",
    uses_degree=False,
    uses_seed=False,
    obstacle=_obstacle,
    generate=_generate,
)

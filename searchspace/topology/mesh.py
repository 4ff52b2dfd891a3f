"""Meshes of 2 to 5 dimensions: grids whose opposite ends are not joined."""

from __future__ import annotations

from searchspace.topology.grid import grid_family

__all__ = ["MESHES"]

MESHES = tuple(grid_family("mesh", dimensions, wrap=False) for dimensions in range(2, 6))

"""Tori of 2 to 5 dimensions: grids whose opposite ends are joined."""

from __future__ import annotations

from searchspace.topology.grid import grid_family

__all__ = ["TORI"]

TORI = tuple(grid_family("torus", dimensions, wrap=True) for dimensions in range(2, 6))

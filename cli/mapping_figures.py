"""Heat maps of traffic: what the places of a machine exchange before and after mapping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from cli.figures import TEXT
from searchspace.mapping import Places
from searchspace.traffic import Traffic

__all__ = ["heat_map", "heat_maps"]

_MOST_CELLS = 512


def heat_map(
    traffic: Traffic, mappings: Sequence[tuple[str, Places]], places: int, *, unit: str = "place"
) -> Figure:
    """Draws what every two places exchange under each of some mappings, side by side.

    Args:
        traffic: What the ranks exchange.
        mappings: A title for each, and the place of each rank.
        places: How many places there are; many of them share a cell.
        unit: What a place is called.
    """
    titles = [title for title, _ in mappings]
    grids = [_cells(traffic, mapping, places) for _, mapping in mappings]
    return heat_maps(titles, grids, places, unit=unit)


def heat_maps(
    titles: Sequence[str], grids: Sequence[NDArray[np.float64]], places: int, *, unit: str
) -> Figure:
    """Draws square tables of bytes side by side, in one scale.

    Args:
        titles: One for each.
        grids: Bytes both ways, of one size.
        places: How many places the rows, and columns, stand for.
        unit: What a place is called.
    """
    figure = Figure(figsize=(4.6 * len(grids) + 0.8, 4.6), layout="constrained")
    panels = figure.subplots(1, len(grids), squeeze=False)[0]
    most = max(1.0, *(float(grid.max(initial=0)) for grid in grids))
    least = min((float(grid[grid > 0].min()) for grid in grids if grid.any()), default=1.0)
    scale = LogNorm(vmin=min(least, most / 10), vmax=most)
    image = None
    for axes, title, grid in zip(panels, titles, grids, strict=True):
        image = axes.imshow(
            np.ma.masked_equal(grid, 0),
            norm=scale,
            cmap="viridis_r",
            interpolation="nearest",
            extent=(-0.5, places - 0.5, places - 0.5, -0.5),
        )
        axes.set_title(title, loc="left", color=TEXT, fontsize=11)
        axes.set_xlabel(unit)
    panels[0].set_ylabel(unit)
    assert image is not None
    figure.colorbar(image, ax=list(panels), label="bytes both ways", shrink=0.85)
    return figure


def _cells(traffic: Traffic, mapping: Places, places: int) -> NDArray[np.float64]:
    side = min(places, _MOST_CELLS)
    low, high, size = traffic.pairs
    cell = mapping.astype(np.int64) * side // places
    grid = np.zeros((side, side))
    np.add.at(grid, (cell[low], cell[high]), size)
    np.add.at(grid, (cell[high], cell[low]), size)
    return grid

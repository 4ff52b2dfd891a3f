"""Networks as points and lines, in a layout that suits them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, Field

from searchspace.graph import Graph
from searchspace.topology.drawing import MOST_EDGES, place

__all__ = ["EXAMPLE", "Drawing", "draw", "layout_of"]

MOST_FORCED = 400
"""More nodes than that take the layout by forces too long to wait for; they stand on a ring."""

_BY_NUMBER = ("grid", "ring")
"""Layouts that show the structure by the numbers which the family has given to hosts."""

EXAMPLE = {
    "hosts": 3,
    "switches": 0,
    "edges": [[0, 1, 1], [0, 2, 1], [1, 2, 1]],
    "places": [[0.5, 0.0], [1.0, 1.0], [0.0, 1.0]],
    "names": ["node-0", "node-1", "node-2"],
    "layout": "force",
}


class Drawing(BaseModel):
    """Where to draw the nodes of a network, and its cables."""

    hosts: int
    switches: int = Field(description="The nodes after the hosts; 0 where each host is one.")
    edges: list[tuple[int, int, int]] = Field(
        description="Two nodes, and how many parallel cables join them."
    )
    places: list[tuple[float, float]] = Field(
        description="Of each node, from the upper left corner (0, 0) to the lower right one (1, 1)."
    )
    names: list[str] = Field(description="Of the hosts.")
    layout: str


def layout_of(graph: Graph, family: str) -> str:
    """The layout in which a network shows its structure."""
    if graph.switches:
        return "levels"
    if family.endswith("-2d"):
        return "grid"
    if family in ("ring", "circulant") or graph.nodes > MOST_FORCED:
        return "ring"
    return "force"


def draw(
    graph: Graph, names: tuple[str, ...], family: str, order: Sequence[int] = ()
) -> Drawing | None:
    """Draw a network; None where it has more cables than a picture can show.

    Args:
        graph: The network, as ordered.
        names: Of its hosts.
        family: Its family.
        order: The number that each host had before; empty where none has another.
    """
    if len(graph.edges) > MOST_EDGES:
        return None
    layout = layout_of(graph, family)
    places = place(graph, layout)
    if order and layout in _BY_NUMBER:
        places = places[list(order)]
    low = places.min(axis=0)
    span = np.maximum(places.max(axis=0) - low, 1e-9)
    scaled = (places - low) / (span if layout == "levels" else span.max())
    # Upwards in the plane is downwards on a screen.
    scaled[:, 1] = scaled[:, 1].max() - scaled[:, 1]
    return Drawing(
        hosts=graph.hosts,
        switches=graph.switches,
        edges=[(u, v, graph.width(index)) for index, (u, v) in enumerate(graph.edges)],
        places=[(round(float(x), 4), round(float(y), 4)) for x, y in scaled],
        names=list(names),
        layout=layout,
    )

"""Where to draw the nodes of a network, and which of its cables look alike."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology.grid import cubic_extents, divisors

__all__ = ["LAYOUTS", "MOST_EDGES", "edge_classes", "place", "rotation"]

Places = NDArray[np.float64]

MOST_EDGES = 20_000
"""More cables than that are a blot."""


def _circle(count: int, radius: float = 1.0) -> Places:
    angles = 0.5 * math.pi - 2 * math.pi * np.arange(count) / max(count, 1)
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _ring(graph: Graph, seed: int) -> Places:
    """Nodes on a circle in the order of their numbers; hosts of switches on one around these."""
    if not graph.switches:
        return _circle(graph.nodes)
    return np.concatenate([_circle(graph.hosts, 1.35), _circle(graph.switches)])


def _force(graph: Graph, seed: int) -> Places:
    """Kamada and Kawai's springs, or the forces of Fruchterman and Reingold for many nodes."""
    import igraph  # takes a second, since it brings matplotlib

    network = igraph.Graph(n=graph.nodes, edges=graph.edges)
    start = (_ring(graph, seed) * math.sqrt(graph.nodes)).tolist()
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 - no secret
    try:
        if graph.nodes <= 300:
            layout = network.layout_kamada_kawai(seed=start)
        else:
            layout = network.layout_fruchterman_reingold(seed=start, niter=300)
    finally:
        igraph.set_random_number_generator(random)
    return np.asarray(layout.coords, dtype=float)


def _grid(graph: Graph, seed: int) -> Places:
    """Nodes row by row in the most square grid, later ones a little off, so that cables show."""
    count = graph.switches or graph.nodes
    columns = (cubic_extents(count, 2) or (math.isqrt(count - 1) + 1,))[0]
    switches = [
        (index % columns + 0.12 * (index // columns % 2), -(index // columns) - 0.12 * (index % 2))
        for index in range(count)
    ]
    if not graph.switches:
        return np.asarray(switches, dtype=float)
    beside: dict[int, int] = {}
    hosts = []
    for near in graph.neighbors[: graph.hosts]:
        x, y = switches[near[0] - graph.hosts]
        turn = beside[near[0]] = beside.get(near[0], -1) + 1
        hosts.append((x + 0.28 * math.cos(2.4 * turn), y + 0.28 * math.sin(2.4 * turn)))
    return np.asarray([*hosts, *switches], dtype=float)


def _levels(graph: Graph, seed: int) -> Places:
    """Hosts at the bottom, every switch as high as it is hops away from the nearest host."""
    height = [0] * graph.hosts + [-1] * graph.switches
    frontier = list(range(graph.hosts if graph.switches else 1))
    if not graph.switches:
        height = [0] + [-1] * (graph.nodes - 1)
    while frontier:
        above = []
        for node in frontier:
            for near in graph.neighbors[node]:
                if height[near] < 0:
                    height[near] = height[node] + 1
                    above.append(near)
        frontier = above
    levels: dict[int, list[int]] = {}
    for node, level in enumerate(height):
        levels.setdefault(level, []).append(node)
    places = np.zeros((graph.nodes, 2))
    for level, nodes in levels.items():
        for index, node in enumerate(nodes):
            places[node] = ((index + 0.5) / len(nodes), 0.35 * level)
    return places


LAYOUTS: dict[str, Callable[[Graph, int], Places]] = {
    "ring": _ring,
    "symmetric": _ring,
    "force": _force,
    "grid": _grid,
    "levels": _levels,
}
"""Layouts by name; `symmetric` is a ring whose cables are coloured by the rotation they share."""


def place(graph: Graph, layout: str, *, seed: int = 0) -> Places:
    """Finds a place for every node.

    Returns:
        x and y of each node, shape (nodes, 2).

    Raises:
        InvalidInput: There is no such layout, or the network is too large for a picture.
    """
    if layout not in LAYOUTS:
        raise InvalidInput(f"unknown layout '{layout}'; allowed: {', '.join(LAYOUTS)}")
    if len(graph.edges) > MOST_EDGES:
        raise InvalidInput(
            f"the network has {len(graph.edges)} cables; at most {MOST_EDGES} can be drawn"
        )
    return LAYOUTS[layout](graph, seed)


def rotation(graph: Graph) -> int:
    """The largest s so that turning the numbers by nodes / s maps the network onto itself."""
    if graph.switches:
        return 1
    edges, nodes = set(graph.edges), graph.nodes

    def turns(step: int) -> bool:
        moved = (((u + step) % nodes, (v + step) % nodes) for u, v in graph.edges)
        return all((min(edge), max(edge)) in edges for edge in moved)

    return next(nodes // step for step in divisors(nodes) if turns(step))


def edge_classes(graph: Graph) -> list[int]:
    """Numbers the cables so that those which the rotation maps onto each other are equal."""
    nodes, step = graph.nodes, graph.nodes // rotation(graph)
    number = {edge: index for index, edge in enumerate(graph.edges)}
    classes = [-1] * len(graph.edges)
    found = 0
    for index, edge in enumerate(graph.edges):
        if classes[index] >= 0:
            continue
        u, v = edge
        while classes[number[min(u, v), max(u, v)]] < 0:
            classes[number[min(u, v), max(u, v)]] = found
            u, v = (u + step) % nodes, (v + step) % nodes
        found += 1
    return classes

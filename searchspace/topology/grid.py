"""What meshes and tori share: the shape of a grid and the numbering of its nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from searchspace.graph import Graph

__all__ = ["cubic_extents", "grid_edges", "grid_graph", "grid_obstacle"]


def cubic_extents(nodes: int, dimensions: int) -> tuple[int, ...] | None:
    """Finds the most cubic box of `nodes` nodes: the one with the least sum of extents.

    Returns:
        The extents, largest first, each at least 2; None when `nodes` has no such factorisation.
    """
    return min(
        _factorisations(nodes, dimensions, nodes), key=lambda box: (sum(box), box), default=None
    )


def _factorisations(product: int, factors: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yields the ways to write `product` as that many factors >= 2, in decreasing order."""
    if factors == 1:
        if 2 <= product <= largest:
            yield (product,)
        return
    for first in _divisors(product):
        if 2 <= first <= largest:
            for rest in _factorisations(product // first, factors - 1, first):
                yield (first, *rest)


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def grid_obstacle(nodes: int, dimensions: int) -> str | None:
    """Says why `nodes` nodes make no grid of that many dimensions, or returns None."""
    if cubic_extents(nodes, dimensions) is None:
        return f"{nodes} is not a product of {dimensions} extents of at least 2"
    return None


def grid_edges(extents: Sequence[int], *, wrap: bool) -> Iterator[tuple[int, int]]:
    """Yields the cables of a grid whose nodes are numbered row-major, (u, v) with u != v.

    With `wrap`, opposite ends of each dimension are joined too, unless they already are (extent
    2) : there is never more than one cable between two nodes.
    """
    strides = [math.prod(extents[axis + 1 :]) for axis in range(len(extents))]
    for position in itertools.product(*map(range, extents)):
        node = sum(p * stride for p, stride in zip(position, strides, strict=True))
        for coordinate, extent, stride in zip(position, extents, strides, strict=True):
            if coordinate + 1 < extent:
                yield node, node + stride
            elif wrap and extent > 2:
                yield node - coordinate * stride, node


def grid_graph(nodes: int, dimensions: int, *, wrap: bool) -> Graph:
    """Builds the most cubic mesh (or, with `wrap`, torus) of that many nodes and dimensions."""
    extents = cubic_extents(nodes, dimensions)
    if extents is None:
        raise ValueError(grid_obstacle(nodes, dimensions))
    return Graph.from_edges(nodes, grid_edges(extents, wrap=wrap))

"""What meshes and tori share: the shape of a grid and the numbering of its nodes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from searchspace.graph import Graph
from searchspace.options import Numbers
from searchspace.topology.family import Family, NetworkSpec

__all__ = ["cubic_extents", "divisors", "grid_edges", "grid_family", "grid_graph", "grid_obstacle"]


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
    for first in divisors(product):
        if 2 <= first <= largest:
            for rest in _factorisations(product // first, factors - 1, first):
                yield (first, *rest)


def divisors(number: int) -> list[int]:
    """The divisors of a number in increasing order."""
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def grid_obstacle(nodes: int, dimensions: int, given: Sequence[int] | None = None) -> str | None:
    """Says why `nodes` nodes make no grid of that many dimensions, or returns None.

    Args:
        nodes: How many nodes.
        dimensions: How many extents the grid has.
        given: The extents, if they are given.
    """
    if given is None:
        if cubic_extents(nodes, dimensions) is None:
            return f"{nodes} is not a product of {dimensions} extents of at least 2"
        return None
    shape = "x".join(map(str, given))
    if len(given) != dimensions or min(given) < 2:
        return f"needs {dimensions} extents of at least 2, not {shape}"
    if math.prod(given) != nodes:
        return f"{shape} nodes are {math.prod(given)}, not {nodes}"
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


def grid_graph(
    nodes: int, dimensions: int, *, wrap: bool, given: Sequence[int] | None = None
) -> Graph:
    """Builds a mesh (or, with `wrap`, torus): the most cubic one, or that of the given extents."""
    extents = given or cubic_extents(nodes, dimensions)
    if extents is None:
        raise ValueError(grid_obstacle(nodes, dimensions))
    return Graph.from_edges(nodes, grid_edges(extents, wrap=wrap))


def grid_family(name: str, dimensions: int, *, wrap: bool) -> Family:
    """Makes the family of meshes (or, with `wrap`, tori) of that many dimensions."""

    def obstacle(spec: NetworkSpec) -> str | None:
        return grid_obstacle(spec.nodes, dimensions, spec.numbers("dims"))

    def generate(spec: NetworkSpec) -> Graph:
        return grid_graph(spec.nodes, dimensions, wrap=wrap, given=spec.numbers("dims"))

    ends = "joined" if wrap else "not joined"
    return Family(
        name=f"{name}-{dimensions}d",
        description=f"{dimensions}-D {name}: a grid whose opposite ends are {ends}, "
        "numbered row-major",
        obstacle=obstacle,
        generate=generate,
        implied=lambda spec: math.prod(spec.numbers("dims") or (0,)) or None,
        options=(Numbers("dims", "the extents; the most cubic ones if not given", low=2),),
    )

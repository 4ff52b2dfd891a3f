"""The k-ary n-cube: a torus of n dimensions with k nodes along each (Dally 1990)."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.options import Whole
from searchspace.topology.family import Family, Wanted
from searchspace.topology.grid import grid_edges

__all__ = ["K_ARY_N_CUBE", "whole_power"]


def whole_power(number: int, base: int) -> int | None:
    """The exponent e >= 1 with base ** e == number, or None."""
    exponent = 0
    while number > 1 and number % base == 0:
        number //= base
        exponent += 1
    return exponent if number == 1 and exponent else None


def _shape(wanted: Wanted) -> tuple[int, int] | None:
    """Returns k and n; the smallest k from 3 on when it is not given."""
    given = wanted.whole("k")
    for k in range(3, wanted.nodes + 1) if given is None else (given,):
        n = whole_power(wanted.nodes, k)
        if n is not None:
            return k, n
    return None


def _obstacle(wanted: Wanted) -> str | None:
    if _shape(wanted) is not None:
        return None
    k = wanted.whole("k")
    return f"{wanted.nodes} is not a power of {'3 or more' if k is None else k}"


def _generate(wanted: Wanted) -> Graph:
    shape = _shape(wanted)
    if shape is None:
        raise ValueError(_obstacle(wanted))
    k, n = shape
    return Graph.from_edges(wanted.nodes, grid_edges([k] * n, wrap=True))


K_ARY_N_CUBE = Family(
    name="k-ary-n-cube",
    description="k-ary n-cube: a torus of n dimensions with k nodes along each",
    obstacle=_obstacle,
    generate=_generate,
    options=(Whole("k", "nodes along each dimension; the smallest from 3 on if not given", 2),),
)

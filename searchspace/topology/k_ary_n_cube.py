"""The k-ary n-cube: a torus of n dimensions with k nodes along each (Dally 1990)."""

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.options import Whole
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.grid import grid_edges

__all__ = ["K_ARY_N_CUBE", "whole_power"]


def whole_power(number: int, base: int) -> int | None:
    """The exponent e >= 1 with base ** e == number, or None."""
    exponent = 0
    while number > 1 and number % base == 0:
        number //= base
        exponent += 1
    return exponent if number == 1 and exponent else None


def _shape(spec: NetworkSpec) -> tuple[int, int] | None:
    """Returns k and n; the smallest k from 3 on when it is not given."""
    given = spec.whole("k")
    for k in range(3, spec.nodes + 1) if given is None else (given,):
        n = whole_power(spec.nodes, k)
        if n is not None:
            return k, n
    return None


def _obstacle(spec: NetworkSpec) -> str | None:
    if _shape(spec) is not None:
        return None
    k = spec.whole("k")
    return f"{spec.nodes} is not a power of {'3 or more' if k is None else k}"


def _generate(spec: NetworkSpec) -> Graph:
    shape = _shape(spec)
    if shape is None:
        raise ValueError(_obstacle(spec))
    k, n = shape
    return Graph.from_edges(spec.nodes, grid_edges([k] * n, wrap=True))


K_ARY_N_CUBE = Family(
    name="k-ary-n-cube",
    description="k-ary n-cube: a torus of n dimensions with k nodes along each",
    obstacle=_obstacle,
    generate=_generate,
    options=(Whole("k", "nodes along each dimension; the smallest from 3 on if not given", 2),),
)

"""A machine as a balanced tree: its own, or one made from distances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Network, Tree

__all__ = ["Hierarchy", "hierarchy_of"]


@dataclass(frozen=True)
class Hierarchy:
    """A balanced tree over the places of a machine.

    Attributes:
        arity: From the root to the leaves.
        places: The place at each leaf.
    """

    arity: tuple[int, ...]
    places: NDArray[np.uint32]


def hierarchy_of(machine: HopMachine) -> Hierarchy:
    """The levels of a tree or dragonfly whose hosts are all used alike; else levels by distance.

    Without levels of its own, a machine is divided again and again into as many equal parts as the
    next prime factor of its hosts says, largest first: one part is what is closest to a place at
    the edge, the next likewise from the rest. Where hosts differ in their cores, places are
    divided, not hosts.
    """
    every = np.arange(machine.places, dtype=np.uint32)
    cores = max(machine.cores_per_host)
    inside = machine.inside if math.prod(machine.inside) == cores else (cores,)
    if set(machine.cores_per_host) == {cores}:
        match machine.shape:
            case Tree(arity):
                return Hierarchy(_levels(*arity, *inside), every)
            case Dragonfly(groups, routers, nodes):
                return Hierarchy(_levels(groups, routers, nodes, *inside), every)
            case Grid() | Network():
                pass
    if set(machine.cores_per_host) <= {0, cores}:
        heads = every[::cores]
        order = _divided(machine, heads)
        within = np.arange(cores, dtype=np.uint32)
        places = (heads[order][:, None] + within).ravel()
        return Hierarchy(_levels(*_factors(len(heads)), *inside), places)
    return Hierarchy(_levels(*_factors(len(every))), every[_divided(machine, every)])


def _levels(*widths: int) -> tuple[int, ...]:
    return tuple(width for width in widths if width > 1) or (1,)


def _factors(number: int) -> tuple[int, ...]:
    """The prime factors, largest first."""
    found: list[int] = []
    factor = 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor = factor + 1 if factor * factor <= number else max(number, factor + 1)
    return tuple(reversed(found))


def _divided(machine: HopMachine, places: NDArray[np.uint32]) -> NDArray[np.intp]:
    """An order of the places in which each part of each level is a block."""

    def hops(place: np.uint32, others: NDArray[np.uint32]) -> NDArray[np.int64]:
        return machine.hops.table(np.array([place]), others).ravel().astype(np.int64)

    order = np.arange(len(places))
    size = len(places)
    for factor in _factors(len(places)):
        part = size // factor
        for begin in range(0, len(places), size):
            for first in range(begin, begin + size - part, part):
                rest = order[first : begin + size]
                edge = np.argmax(hops(places[rest[0]], places[rest]))
                near = hops(places[rest[edge]], places[rest])
                far = hops(places[rest[np.argmax(near)]], places[rest])
                order[first : begin + size] = rest[np.argsort(near - far, kind="stable")]
        size = part
    return order

"""Ranks of a grid on hosts of a torus or mesh, both along a curve that keeps neighbours close.

Space-filling curves for mapping: Pilkington and Baden, "Dynamic partitioning of non-uniform
structured workloads with spacefilling curves", 1996.
"""

from __future__ import annotations

import math

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.hop_machine import Grid, HopMachine
from searchspace.mapping.curves import CURVES, along
from searchspace.mapping.mapper import Mapper, Places, laid_over
from searchspace.options import Choice, Numbers
from searchspace.traffic import Traffic

__all__ = ["GEOMETRIC", "grid_of"]

_UNKNOWN = "0"


def grid_of(traffic: Traffic) -> tuple[int, ...]:
    """The grid whose neighbours exchange messages when ranks are numbered row by row.

    A stride belongs to it when at least every other rank has a partner at that distance. Ranks
    without such a structure are a line.
    """
    ranks = traffic.ranks
    low, high, _ = traffic.pairs
    strides, counts = np.unique(high - low, return_counts=True)
    chain = [1]
    for stride in strides[counts * 2 >= ranks].tolist():
        if stride > chain[-1] and stride % chain[-1] == 0 and ranks % stride == 0:
            chain.append(stride)
    ends = [*chain[1:], ranks]
    return tuple(end // stride for stride, end in zip(chain, ends, strict=True))[::-1]


def _obstacle(machine: HopMachine) -> str | None:
    if isinstance(machine.shape, Grid):
        return None
    return "needs the coordinates of hosts: a torus or mesh"


def _place(traffic: Traffic, machine: HopMachine, *, seed: int, grid: str, curve: str) -> Places:
    assert isinstance(machine.shape, Grid)
    dims = grid_of(traffic) if grid == _UNKNOWN else tuple(map(int, grid.split(",")))
    if math.prod(dims) != traffic.ranks:
        raise InvalidInput(
            f"a grid of {'x'.join(map(str, dims))} has {math.prod(dims)} ranks, not "
            f"{traffic.ranks}",
            field="grid",
        )
    points = np.stack(np.unravel_index(np.arange(traffic.ranks), dims), axis=-1)
    ranks = along(curve, points.astype(np.int64))
    hosts = along(curve, machine.shape.coordinates(np.arange(machine.hosts, dtype=np.uint32)))
    return laid_over(machine, ranks, hosts)


GEOMETRIC = Mapper(
    "geometric",
    "ranks of a grid and hosts of a torus or mesh along one space-filling curve",
    _place,
    options=(
        Choice("curve", "which curve", CURVES),
        Numbers(
            "grid",
            "the grid of the ranks, like 8,8,8; 0 to tell it from the traffic",
            low=0,
            default=_UNKNOWN,
        ),
    ),
    obstacle=_obstacle,
)

"""TreeMatch: groups of ranks that talk to each other, from the leaves of a tree upwards.

Jeannot and Mercier, "Near-optimal placement of MPI processes on hierarchical NUMA architectures",
Euro-Par 2010, algorithm 1 with the three heuristics of section 4.
"""

from __future__ import annotations

import math

import numpy as np

from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Network, Tree
from searchspace.kernels._native import bytes_by_hops, tree_match
from searchspace.mapping.mapper import Mapper, Places
from searchspace.options import Choice, Whole
from searchspace.traffic import Traffic

__all__ = ["TREEMATCH"]

_HEURISTICS = ("smallest-first", "largest-last", "degree-first")


def _arity(machine: HopMachine) -> tuple[int, ...]:
    """The machine as a tree of places; a network without levels of its own is one level."""
    cores = max(machine.cores_per_host)
    inside = machine.inside if math.prod(machine.inside) == cores else (cores,)
    match machine.shape:
        case Tree(arity):
            outside = arity
        case Dragonfly(groups, routers, nodes):
            outside = (groups, routers, nodes)
        case _:
            outside = (machine.hosts,)
    return tuple(width for width in (*outside, *inside) if width > 1) or (1,)


def _obstacle(machine: HopMachine) -> str | None:
    if len(set(machine.cores_per_host)) > 1:
        return "needs a balanced machine: as many usable cores on every host"
    flat = isinstance(machine.shape, Grid | Network)
    if flat and machine.hosts > 1 and max(machine.cores_per_host) == 1:
        return "needs a hierarchy: a tree, a dragonfly, or several cores in a host"
    return None


def _place(
    traffic: Traffic, machine: HopMachine, *, seed: int, heuristic: str, split: str, groups: int
) -> Places:
    tried = _HEURISTICS if heuristic == "best" else (heuristic,)
    arrays = (traffic.first, traffic.partner, traffic.size)
    found = [
        np.asarray(
            tree_match(
                *arrays,
                list(_arity(machine)),
                _HEURISTICS.index(each),
                split == "yes",
                groups,
            ),
            dtype=np.uint32,
        )
        for each in tried
    ]

    def hop_bytes(places: Places) -> int:
        by_hops = bytes_by_hops(*arrays, machine.hops, places)
        return sum(hops * size for hops, size in enumerate(by_hops))

    return min(found, key=hop_bytes) if len(found) > 1 else found[0]


TREEMATCH = Mapper(
    "treematch",
    "groups ranks by traffic from the leaves of a tree upwards (Jeannot 2010)",
    _place,
    options=(
        Choice(
            "heuristic",
            "how groups are picked; best tries all three and keeps the least hop-bytes",
            ("best", *_HEURISTICS),
        ),
        Choice("split", "treat large arities as levels of their prime factors", ("yes", "no")),
        Whole(
            "groups",
            "most possible groups of a level that are all looked at",
            1,
            10_000_000,
            200_000,
        ),
    ),
    obstacle=_obstacle,
)

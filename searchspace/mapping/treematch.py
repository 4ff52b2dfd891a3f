"""TreeMatch: groups of ranks that talk to each other, from the leaves of a tree upwards.

Jeannot and Mercier, "Near-optimal placement of MPI processes on hierarchical NUMA architectures",
Euro-Par 2010, algorithm 1 with the three heuristics of section 4. On a network without levels, the
tree is one of parts that are close together (`searchspace.mapping.hierarchy`).
"""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine
from searchspace.kernels._native import bytes_by_hops, tree_match
from searchspace.mapping.hierarchy import hierarchy_of
from searchspace.mapping.mapper import Mapper, Places
from searchspace.options import Choice, Whole
from searchspace.traffic import Traffic

__all__ = ["TREEMATCH"]

_HEURISTICS = ("smallest-first", "largest-last", "degree-first")


def _place(
    traffic: Traffic, machine: HopMachine, *, seed: int, heuristic: str, split: str, groups: int
) -> Places:
    tried = _HEURISTICS if heuristic == "best" else (heuristic,)
    arrays = (traffic.first, traffic.partner, traffic.size)
    tree = hierarchy_of(machine)
    arity = list(tree.arity)
    leaves = [
        tree_match(*arrays, arity, _HEURISTICS.index(each), split == "yes", groups)
        for each in tried
    ]
    found = [tree.places[np.asarray(each)] for each in leaves]

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
)

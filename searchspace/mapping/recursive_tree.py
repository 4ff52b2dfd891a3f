"""Recursive tree mapping: partitions ranks along the neighbour-joining tree of the hosts.

Wu, Xiong and Lan, "Hierarchical task mapping for parallel applications on supercomputers", 2015,
algorithm 1 and section 3.2, with METIS and the correction of its imbalance of section 4.
"""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine, Tree
from searchspace.kernels._native import recursive_tree
from searchspace.mapping.mapper import SCOPE, Mapper, Places, kernel_seed
from searchspace.traffic import Traffic

__all__ = ["RECURSIVE_TREE"]

_MOST_JOINED = 8192


def _obstacle(machine: HopMachine) -> str | None:
    used = sum(cores > 0 for cores in machine.cores_per_host)
    if not isinstance(machine.shape, Tree) and used > _MOST_JOINED:
        return f"joins neighbours among at most {_MOST_JOINED} hosts"
    return None


def _place(traffic: Traffic, machine: HopMachine, *, seed: int, scope: str) -> Places:
    # Joining neighbours in a tree finds the tree itself.
    arity = list(machine.shape.arity) if isinstance(machine.shape, Tree) else []
    places = recursive_tree(
        traffic.first,
        traffic.partner,
        traffic.size,
        machine.hops,
        arity,
        list(machine.inside),
        scope == "inter+intra",
        kernel_seed(seed),
    )
    return np.asarray(places, dtype=np.uint32)


RECURSIVE_TREE = Mapper(
    "recursive-tree",
    "partitions ranks along the neighbour-joining tree of the hosts (Wu 2015)",
    _place,
    options=(SCOPE,),
    uses_seed=True,
    obstacle=_obstacle,
)

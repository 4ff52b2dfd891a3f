"""Recursive bipartitioning: halves ranks and, by their coordinates, the hosts of a torus or mesh.

Wu, Xiong and Lan, "Hierarchical task mapping for parallel applications on supercomputers", 2015,
algorithm 2 and section 3.2, with METIS and the correction of its imbalance of section 4.
"""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import Grid, HopMachine
from searchspace.kernels._native import recursive_bipartition
from searchspace.mapping.mapper import SCOPE, Mapper, Places, kernel_seed
from searchspace.traffic import Traffic

__all__ = ["RECURSIVE_BIPARTITION"]


def _obstacle(machine: HopMachine) -> str | None:
    if isinstance(machine.shape, Grid):
        return None
    return "needs the coordinates of hosts: a torus or mesh"


def _place(traffic: Traffic, machine: HopMachine, *, seed: int, scope: str) -> Places:
    places = recursive_bipartition(
        traffic.first,
        traffic.partner,
        traffic.size,
        machine.hops,
        list(machine.inside),
        scope == "inter+intra",
        kernel_seed(seed),
    )
    return np.asarray(places, dtype=np.uint32)


RECURSIVE_BIPARTITION = Mapper(
    "recursive-bipartition",
    "halves ranks and the hosts of a torus or mesh by their coordinates (Wu 2015)",
    _place,
    options=(SCOPE,),
    uses_seed=True,
    obstacle=_obstacle,
)

"""The parts that a machine falls into, one level below another, where it is a hierarchy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from searchspace.hop_machine import Dragonfly, HopMachine, Tree

__all__ = ["levels"]


def levels(machine: HopMachine) -> list[NDArray[np.uint32]]:
    """The part of each place at every level, from the coarsest to the places themselves.

    Parts are numbered like the hosts in them. Trees give all their levels, dragonflies their groups
    and routers, everything has hosts and the levels of the tree inside them. Levels on which
    nothing is divided further are left out.
    """
    host = machine.place_hosts.astype(np.int64)
    sizes: list[int] = []  # hosts of a part, from the coarsest to single hosts
    match machine.shape:
        case Tree(arity):
            sizes = [math.prod(arity[level:]) for level in range(1, len(arity))]
        case Dragonfly(_, routers, nodes):
            sizes = [routers * nodes, nodes]
    found = [host // size for size in (*sizes, 1)]
    leaves = math.prod(machine.inside)
    below = host * leaves + machine.place_cores
    for level in range(1, len(machine.inside)):
        found.append(below // math.prod(machine.inside[level:]))
    if machine.places > len(np.unique(host)):
        found.append(np.arange(machine.places))
    kept: list[NDArray[np.uint32]] = []
    parts = 1
    for level_of in found:
        names, numbered = np.unique(level_of, return_inverse=True)
        if len(names) > parts:
            kept.append(numbered.astype(np.uint32))
            parts = len(names)
    return kept

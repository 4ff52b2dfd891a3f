"""Ranks and hosts both in reverse Cuthill-McKee order.

Hoefler and Snir, "Generic topology mapping strategies for large-scale parallel architectures",
ICS 2011 (the bandwidth heuristic of LibTopoMap): two orders of small bandwidth are laid over
each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from searchspace.hop_machine import HopMachine
from searchspace.mapping.mapper import Mapper, Places, laid_over
from searchspace.traffic import Traffic

__all__ = ["RCM"]


def _order(first: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.int64]:
    from scipy.sparse import csr_array  # here, since most commands do without
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    nodes = len(first) - 1
    ones = np.ones(len(target), dtype=np.int8)
    matrix = csr_array((ones, target.astype(np.int32), first), shape=(nodes, nodes))
    return np.asarray(reverse_cuthill_mckee(matrix, symmetric_mode=True), dtype=np.int64)


def _place(traffic: Traffic, machine: HopMachine, *, seed: int) -> Places:
    ranks = _order(traffic.first, traffic.partner.astype(np.int64))
    near = machine.network.neighbors
    first = np.concatenate(([0], np.cumsum([len(nodes) for nodes in near])))
    target = np.fromiter((node for nodes in near for node in nodes), dtype=np.int64)
    return laid_over(machine, ranks, _order(first, target))


RCM = Mapper(
    "rcm",
    "ranks and hosts in orders of small bandwidth, laid over each other (Hoefler and Snir 2011)",
    _place,
)

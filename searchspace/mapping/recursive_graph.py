"""Recursive bisection of the ranks and of the network, both as graphs.

Hoefler and Snir, "Generic topology mapping strategies for large-scale parallel architectures",
ICS 2011 (the recursive heuristic of LibTopoMap), with METIS.
"""

from __future__ import annotations

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.kernels import edge_array
from searchspace.kernels._native import bisect_both, settle_within
from searchspace.mapping.mapper import Mapper, Places, kernel_seed
from searchspace.traffic import Traffic

__all__ = ["RECURSIVE_GRAPH"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int) -> Places:
    arrays = (traffic.first, traffic.partner, traffic.size)
    network = machine.network
    if not network.connected:
        raise InvalidInput(network.why_apart)
    hosts = bisect_both(
        *arrays,
        network.nodes,
        edge_array(network.edges),
        list(network.widths),
        list(machine.cores_per_host),
        kernel_seed(seed),
    )
    within = settle_within(*arrays, machine.hops, hosts, [], within=False, seed=0)
    return np.asarray(within, dtype=np.uint32)


RECURSIVE_GRAPH = Mapper(
    "recursive-graph",
    "halves ranks and the graph of the network over and over (Hoefler and Snir 2011)",
    _place,
    uses_seed=True,
)

"""Scotch: dual recursive bipartitioning of ranks and machine.

Pellegrini, "Static mapping by dual recursive bipartitioning of process and architecture graphs",
SHPCC 1994, as libscotch 7 does it. Where Scotch puts more ranks on a host than it has cores, they
move to the free host that costs the fewest hop-bytes.
"""

from __future__ import annotations

import math

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.hop_machine import Grid, HopMachine, Tree
from searchspace.kernels import edge_array
from searchspace.kernels._native import scotch_network, scotch_regular, settle_within
from searchspace.mapping.mapper import Mapper, Places, kernel_seed
from searchspace.options import Choice
from searchspace.traffic import Traffic

__all__ = ["SCOTCH"]

_STRATEGIES = {"default": 0x0, "quality": 0x1, "speed": 0x2, "balance": 0x4, "recursive": 0x100}
"""The flags of libscotch."""

_MOST_AXES = 5
_MOST_BUILT = 8192


def _regular(machine: HopMachine) -> tuple[int, list[int]] | None:
    """The number of an architecture of Scotch's own, and its extents; None when none fits."""
    if len(set(machine.cores_per_host)) > 1:
        return None
    match machine.shape:
        case Tree(arity):
            whole = math.prod(machine.inside) == machine.cores_per_host[0]
            return 0, [*arity, *(machine.inside if whole else ())]
        case Grid(dims, wrapped):
            sides = [side for side in dims if side > 1] or [1]
            # The first axis of Scotch runs fastest, ours last.
            return (1 if wrapped else 2, sides[::-1]) if len(sides) <= _MOST_AXES else None
        case _:
            return None


def _obstacle(machine: HopMachine) -> str | None:
    used = sum(cores > 0 for cores in machine.cores_per_host)
    if _regular(machine) is None and used > _MOST_BUILT:
        return f"takes at most {_MOST_BUILT} hosts of a network that is no full tree, torus or mesh"
    return None


def _place(traffic: Traffic, machine: HopMachine, *, seed: int, strategy: str) -> Places:
    arrays = (traffic.first, traffic.partner, traffic.size)
    flags, start = _STRATEGIES[strategy], kernel_seed(seed)
    regular = _regular(machine)
    if traffic.total == 0:  # Scotch may crash on a graph without edges
        return np.arange(traffic.ranks, dtype=np.uint32)
    if sum(cores > 0 for cores in machine.cores_per_host) == 1:
        hosts = [int(machine.place_hosts[0])] * traffic.ranks
    elif regular is not None:
        shape, extents = regular
        places = math.prod(extents)
        each = machine.places // places
        hosts = scotch_regular(*arrays, shape, extents, each, flags, start)
        if each == 1:
            return np.asarray(hosts, dtype=np.uint32)
    else:
        network = machine.network
        if not network.connected:
            raise InvalidInput(network.why_apart)
        edges = edge_array(network.edges)
        holds = list(machine.cores_per_host)
        hosts = scotch_network(*arrays, machine.hops, network.nodes, edges, holds, flags, start)
    within = settle_within(*arrays, machine.hops, hosts, list(machine.inside), True, start)
    return np.asarray(within, dtype=np.uint32)


SCOTCH = Mapper(
    "scotch",
    "halves ranks and machine over and over, by libscotch (Pellegrini 1994)",
    _place,
    options=(Choice("strategy", "a strategy of libscotch", tuple(_STRATEGIES)),),
    uses_seed=True,
    obstacle=_obstacle,
    version=2,
)

"""Mappers: which core of a machine runs which rank."""

from __future__ import annotations

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.mapping.auto import AUTO
from searchspace.mapping.blocked import BLOCKED
from searchspace.mapping.by_order import BY_ORDER
from searchspace.mapping.contention_free import CONTENTION_FREE
from searchspace.mapping.cyclic import CYCLIC
from searchspace.mapping.geometric import GEOMETRIC
from searchspace.mapping.greedy import GREEDY
from searchspace.mapping.mapper import Mapper, Places
from searchspace.mapping.mpipp import MPIPP
from searchspace.mapping.packed import PACKED
from searchspace.mapping.random import RANDOM
from searchspace.mapping.rcm import RCM
from searchspace.mapping.recursive_bipartition import RECURSIVE_BIPARTITION
from searchspace.mapping.recursive_graph import RECURSIVE_GRAPH
from searchspace.mapping.recursive_tree import RECURSIVE_TREE
from searchspace.mapping.round_robin import ROUND_ROBIN
from searchspace.mapping.scotch import SCOTCH
from searchspace.mapping.treematch import TREEMATCH
from searchspace.mapping.weighted import WEIGHTED
from searchspace.traffic import Traffic

__all__ = ["MAPPERS", "Mapper", "Places", "map_ranks"]

MAPPERS: dict[str, Mapper] = {
    mapper.name: mapper
    for mapper in (
        BY_ORDER,
        PACKED,
        BLOCKED,
        CYCLIC,
        ROUND_ROBIN,
        RANDOM,
        TREEMATCH,
        MPIPP,
        RECURSIVE_TREE,
        RECURSIVE_BIPARTITION,
        GREEDY,
        RECURSIVE_GRAPH,
        RCM,
        SCOTCH,
        CONTENTION_FREE,
        GEOMETRIC,
        AUTO,
        WEIGHTED,
    )
}


def map_ranks(
    name: str, traffic: Traffic, machine: HopMachine, *, seed: int = 0, **options: Scalar
) -> Places:
    """Places ranks by a mapper: the place of rank 0, 1, ..., all distinct.

    `machine.place_hosts` has the host of each place, `machine.place_cores` its core there.

    Raises:
        InvalidInput: There is no such mapper, or it has no such option, or cannot be used on this
            machine; or there are more ranks than cores.
    """
    if name not in MAPPERS:
        raise InvalidInput(f"unknown mapping '{name}'; allowed: {', '.join(MAPPERS)}")
    return MAPPERS[name].place(traffic, machine, seed=seed, **options)

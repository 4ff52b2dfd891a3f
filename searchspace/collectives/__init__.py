"""The catalogue of collective algorithms that SMPI (SimGrid 3.32) can simulate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from searchspace.collectives.algorithm import Algorithm, Collective
from searchspace.collectives.allgather import ALLGATHER
from searchspace.collectives.allgatherv import ALLGATHERV
from searchspace.collectives.allreduce import ALLREDUCE
from searchspace.collectives.alltoall import ALLTOALL
from searchspace.collectives.alltoallv import ALLTOALLV
from searchspace.collectives.barrier import BARRIER
from searchspace.collectives.bcast import BCAST
from searchspace.collectives.gather import GATHER
from searchspace.collectives.reduce import REDUCE
from searchspace.collectives.reduce_scatter import REDUCE_SCATTER
from searchspace.collectives.scatter import SCATTER
from searchspace.collectives.tables import LIBRARIES, SELECTORS

__all__ = [
    "COLLECTIVES",
    "DECIDED_BY_ANOTHER",
    "DEFAULT",
    "LIBRARIES",
    "SELECTORS",
    "WORLD",
    "Algorithm",
    "Collective",
    "Groups",
    "called_collectives",
    "non_commutative_reductions",
]

DEFAULT = "default"
"""The choice of an algorithm that leaves it to the MPI implementation."""

COLLECTIVES: dict[str, Collective] = {
    collective.name: collective
    for collective in (
        ALLTOALL,
        ALLREDUCE,
        ALLGATHER,
        BCAST,
        REDUCE,
        ALLTOALLV,
        ALLGATHERV,
        REDUCE_SCATTER,
        GATHER,
        SCATTER,
        BARRIER,
    )
}

DECIDED_BY_ANOTHER = {"reduce_scatter_block": "reduce_scatter"}
"""Collectives without a choice of their own in SMPI, and whose algorithm they run by."""


Groups = tuple[tuple[int, ...], ...]
"""Communicators, each as ranks of the world in its order; an empty one is the world itself."""

WORLD: Groups = ((),)


def called_collectives(summary: Mapping[str, Any]) -> dict[str, Groups]:
    """Returns on which communicators a program calls the collectives whose algorithms matter.

    SMPI runs a blocking `reduce_scatter_block` by the algorithm of `reduce_scatter`, which is then
    listed too; libraries decide the two apart. Non-blocking collectives have fixed algorithms.

    Args:
        summary: Of its trace; one that was stored before communicators were listed is taken to use
            the world alone.
    """
    listed: Mapping[str, Any] = summary.get("communicators", {})
    called: dict[str, set[tuple[int, ...]]] = {}
    for call in summary["calls"]:
        for name in {call, DECIDED_BY_ANOTHER.get(call, call)}:
            groups = {tuple(group) for group in listed.get(call, WORLD)}
            called.setdefault(name, set()).update(groups)
    known = (*COLLECTIVES, *DECIDED_BY_ANOTHER)
    return {name: tuple(sorted(called[name])) for name in known if name in called}


def non_commutative_reductions(summary: Mapping[str, Any]) -> frozenset[str] | None:
    """Returns the reductions that a program calls with operations that do not commute.

    Args:
        summary: Of its trace; None of one that was stored before these were listed.
    """
    named = summary.get("non_commutative")
    return None if named is None else frozenset(named)

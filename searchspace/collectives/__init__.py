"""The catalogue of collective algorithms that SMPI (SimGrid 3.32) can simulate."""

from __future__ import annotations

from collections.abc import Iterable

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
from searchspace.collectives.tables import SELECTORS

__all__ = ["COLLECTIVES", "DEFAULT", "SELECTORS", "Algorithm", "Collective", "collectives_of"]

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

_DECIDED_BY_ANOTHER = {"reduce_scatter_block": "reduce_scatter"}


def collectives_of(calls: Iterable[str]) -> frozenset[str]:
    """Returns the collectives whose algorithms matter to a program that makes these calls.

    SMPI runs a blocking `reduce_scatter_block` by the algorithm of `reduce_scatter`. Non-blocking
    collectives have fixed algorithms.
    """
    return frozenset(COLLECTIVES) & {_DECIDED_BY_ANOTHER.get(call, call) for call in calls}

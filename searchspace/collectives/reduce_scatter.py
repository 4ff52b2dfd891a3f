"""Algorithms of MPI_Reduce_scatter in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import more_than_one_rank
from searchspace.collectives.tables import decision_tables

__all__ = ["REDUCE_SCATTER"]

REDUCE_SCATTER = collective(
    "reduce_scatter",
    "combines a vector of every rank and gives each rank a part of the result",
    [
        Algorithm("ompi_basic_recursivehalving", "recursive halving, as in Open MPI"),
        Algorithm("ompi_ring", "around a ring, as in Open MPI"),
        Algorithm("ompi_butterfly", "a butterfly, as in Open MPI", (more_than_one_rank,)),
        Algorithm("mpich_pair", "pairwise exchange, as in MPICH"),
        Algorithm("mpich_rdb", "recursive doubling, as in MPICH"),
        Algorithm(
            "mpich_noncomm",
            "for operators that do not commute, as in MPICH",
            withheld="stops the program unless all parts have the same size and ranks are 2^k",
        ),
        *decision_tables(rules={"ompi": (more_than_one_rank,)}),
    ],
)

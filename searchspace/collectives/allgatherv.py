"""Algorithms of MPI_Allgatherv in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import power_of_two
from searchspace.collectives.tables import decision_tables

__all__ = ["ALLGATHERV"]

ALLGATHERV = collective(
    "allgatherv",
    "collects a block of any size of every rank on all ranks",
    [
        Algorithm("GB", "gather to rank 0, then broadcast"),
        Algorithm("pair", "ranks - 1 rounds of exchange with rank XOR round", (power_of_two,)),
        Algorithm("ring", "ranks - 1 rounds: own block to rank + round (a pairwise shift)"),
        Algorithm("ompi_neighborexchange", "exchange with left and right in turn, as in Open MPI"),
        Algorithm("ompi_bruck", "log2(ranks) rounds of combined blocks, as in Open MPI"),
        Algorithm("mpich_rdb", "recursive doubling, as in MPICH"),
        Algorithm("mpich_ring", "around a ring, as in MPICH"),
        *decision_tables(),
    ],
)

"""Algorithms of MPI_Allgather in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import (
    consecutive_ranks,
    mesh_2d,
    mesh_3d,
    power_of_two,
    regular_hosts,
)
from searchspace.collectives.tables import decision_tables

__all__ = ["ALLGATHER"]

ALLGATHER = collective(
    "allgather",
    "collects a block of every rank on all ranks",
    [
        Algorithm("bruck", "log2(ranks) rounds of combined blocks"),
        Algorithm("2dmesh", "along the rows, then the columns of a 2-D mesh of ranks", (mesh_2d,)),
        Algorithm("3dmesh", "along the three dimensions of a 3-D mesh of ranks", (mesh_3d,)),
        Algorithm("rdb", "recursive doubling"),
        Algorithm("rhv", "recursive halving: the farthest partner first", (power_of_two,)),
        Algorithm("pair", "ranks - 1 rounds of exchange with rank XOR round", (power_of_two,)),
        Algorithm("ring", "ranks - 1 rounds: own block to rank + round (a pairwise shift)"),
        Algorithm("NTSLR", "logical ring: the last block received goes on to the next rank"),
        Algorithm("NTSLR_NB", "NTSLR with non-blocking messages"),
        Algorithm("GB", "gather to rank 0, then broadcast"),
        Algorithm("spreading_simple", "own block to every rank, non-blocking"),
        Algorithm("loosely_lr", "logical ring that overlaps hosts"),
        Algorithm("SMP_NTS", "a ring between hosts, a gather within them"),
        Algorithm("smp_simple", "within hosts, then all leaders to all"),
        Algorithm("ompi_neighborexchange", "exchange with left and right in turn, as in Open MPI"),
        Algorithm(
            "mvapich2_smp",
            "within hosts, then between leaders, as in MVAPICH2",
            (regular_hosts, consecutive_ranks),
        ),
        *decision_tables(),
    ],
)

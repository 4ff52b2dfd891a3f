"""Algorithms of MPI_Alltoall in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.exchanges import PAIR, RING
from searchspace.collectives.rules import mesh_2d, mesh_3d
from searchspace.collectives.tables import decision_tables

__all__ = ["ALLTOALL"]

ALLTOALL = collective(
    "alltoall",
    "every rank sends a block of its own to every rank",
    [
        Algorithm("basic_linear", "all blocks at once, non-blocking"),
        Algorithm(
            "ompi_linear_sync",
            "all blocks at once, as Open MPI's with its own limit of requests",
            own=True,
            same_in_smpi="basic_linear",
        ),
        Algorithm("bruck", "log2(ranks) rounds of combined blocks; for short messages"),
        Algorithm("2dmesh", "along the rows, then the columns of a 2-D mesh of ranks", (mesh_2d,)),
        Algorithm("3dmesh", "along the three dimensions of a 3-D mesh of ranks", (mesh_3d,)),
        Algorithm(
            "rdb", "recursive doubling of all data; its memory grows with the cube of the ranks"
        ),
        *PAIR,
        Algorithm(
            "pair_rma",
            "pair with one-sided puts",
            withheld="gives wrong data from about 250 elements on",
        ),
        *RING,
        Algorithm(
            "mvapich2_scatter_dest", "a few non-blocking exchanges at a time, as in MVAPICH2"
        ),
        *decision_tables(),
    ],
)

"""Algorithms of MPI_Gather in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.tables import decision_tables

__all__ = ["GATHER"]

GATHER = collective(
    "gather",
    "collects a block of every rank on one rank",
    [
        Algorithm("ompi_basic_linear", "every rank to the root, as in Open MPI"),
        Algorithm("ompi_binomial", "up a binomial tree, as in Open MPI"),
        Algorithm("ompi_linear_sync", "every rank to the root when asked, as in Open MPI"),
        Algorithm(
            "mvapich2_two_level",
            "within hosts, then between leaders, as in MVAPICH2",
            withheld="crashes when the root is not rank 0 or hosts run unequal numbers of ranks",
        ),
        *decision_tables(),
    ],
)

"""Algorithms of MPI_Scatter in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import consecutive_ranks
from searchspace.collectives.tables import decision_tables

__all__ = ["SCATTER"]

SCATTER = collective(
    "scatter",
    "sends each rank a block of one rank",
    [
        Algorithm("ompi_basic_linear", "the root to every rank in turn, as in Open MPI"),
        Algorithm("ompi_linear_nb", "the root to every rank, non-blocking, as in Open MPI"),
        Algorithm("ompi_binomial", "down a binomial tree, as in Open MPI"),
        Algorithm(
            "mvapich2_two_level_binomial",
            "a binomial tree between leaders, then within hosts, as in MVAPICH2",
            (consecutive_ranks,),
        ),
        Algorithm(
            "mvapich2_two_level_direct",
            "the root to the leaders, then within hosts, as in MVAPICH2",
            (consecutive_ranks,),
        ),
        *decision_tables(),
    ],
)

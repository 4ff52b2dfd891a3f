"""Algorithms of MPI_Barrier in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import exactly_two_ranks
from searchspace.collectives.tables import decision_tables

__all__ = ["BARRIER"]

BARRIER = collective(
    "barrier",
    "waits until all ranks have come",
    [
        Algorithm("ompi_basic_linear", "every rank reports to rank 0, as in Open MPI"),
        Algorithm("ompi_two_procs", "one exchange of two ranks", (exactly_two_ranks,)),
        Algorithm("ompi_tree", "up and down a binomial tree, as in Open MPI"),
        Algorithm("ompi_bruck", "dissemination in log2(ranks) rounds, as in Open MPI"),
        Algorithm("ompi_recursivedoubling", "recursive doubling, as in Open MPI"),
        Algorithm("ompi_doublering", "twice around a ring, as in Open MPI"),
        Algorithm("mpich_smp", "within hosts, then between leaders, as in MPICH"),
        Algorithm("mvapich2_pair", "pairwise exchange, as in MVAPICH2"),
        *decision_tables(),
    ],
)

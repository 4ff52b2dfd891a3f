"""Algorithms of MPI_Alltoallv in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.exchanges import PAIR, RING
from searchspace.collectives.tables import decision_tables

__all__ = ["ALLTOALLV"]

ALLTOALLV = collective(
    "alltoallv",
    "every rank sends a block of its own, of any size, to every rank",
    [
        Algorithm("bruck", "non-blocking exchange with a few partners at a time"),
        *PAIR,
        *RING,
        Algorithm("ompi_basic_linear", "all blocks at once, non-blocking, as in Open MPI"),
        *decision_tables(),
    ],
)

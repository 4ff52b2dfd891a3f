"""Algorithms of MPI_Alltoallv in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import power_of_two
from searchspace.collectives.tables import decision_tables

__all__ = ["ALLTOALLV"]

ALLTOALLV = collective(
    "alltoallv",
    "every rank sends a block of its own, of any size, to every rank",
    [
        Algorithm("bruck", "non-blocking exchange with a few partners at a time"),
        Algorithm("pair", "ranks - 1 rounds of exchange with rank XOR round", (power_of_two,)),
        Algorithm(
            "pair_light_barrier",
            "pair with a light barrier between the rounds",
            (power_of_two,),
        ),
        Algorithm(
            "pair_mpi_barrier", "pair with an MPI barrier between the rounds", (power_of_two,)
        ),
        Algorithm(
            "pair_one_barrier", "pair with one barrier before the first round", (power_of_two,)
        ),
        Algorithm("ring", "ranks - 1 rounds: to rank + round, from rank - round"),
        Algorithm("ring_light_barrier", "ring with a light barrier between the rounds"),
        Algorithm("ring_mpi_barrier", "ring with an MPI barrier between the rounds"),
        Algorithm("ring_one_barrier", "ring with one barrier before the first round"),
        Algorithm("ompi_basic_linear", "all blocks at once, non-blocking, as in Open MPI"),
        *decision_tables(),
    ],
)

"""Algorithms that MPI_Alltoall and MPI_Alltoallv in SMPI share: rounds of exchanges of two."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm
from searchspace.collectives.rules import power_of_two

__all__ = ["PAIR", "RING"]

PAIR = (
    Algorithm("pair", "ranks - 1 rounds of exchange with rank XOR round", (power_of_two,)),
    Algorithm(
        "pair_light_barrier", "pair with a light barrier between the rounds", (power_of_two,)
    ),
    Algorithm("pair_mpi_barrier", "pair with an MPI barrier between the rounds", (power_of_two,)),
    Algorithm("pair_one_barrier", "pair with one barrier before the first round", (power_of_two,)),
)

RING = (
    Algorithm("ring", "ranks - 1 rounds: to rank + round, from rank - round"),
    Algorithm("ring_light_barrier", "ring with a light barrier between the rounds"),
    Algorithm("ring_mpi_barrier", "ring with an MPI barrier between the rounds"),
    Algorithm("ring_one_barrier", "ring with one barrier before the first round"),
)

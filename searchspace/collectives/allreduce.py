"""Algorithms of MPI_Allreduce in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import more_than_one_rank, power_of_two
from searchspace.collectives.tables import decision_tables

__all__ = ["ALLREDUCE"]

ALLREDUCE = collective(
    "allreduce",
    "combines a value of every rank and gives the result to all",
    [
        Algorithm("rdb", "recursive doubling"),
        Algorithm("lr", "logical ring: reduce-scatter, then allgather around a ring"),
        Algorithm("rab", "Rabenseifner: reduce-scatter, then allgather", (more_than_one_rank,)),
        Algorithm("rab_rdb", "Rabenseifner: recursive halving, then recursive doubling"),
        Algorithm(
            "rab1",
            "Rabenseifner, variant 1: halving and a pairwise allgather",
            (more_than_one_rank, power_of_two),
        ),
        Algorithm(
            "rab2",
            "Rabenseifner, variant 2: the alltoall and the allgather in use",
        ),
        Algorithm("redbcast", "the reduce in use to rank 0, then the bcast in use"),
        Algorithm("smp_binomial", "binomial trees within hosts and between them"),
        Algorithm("smp_rdb", "binomial trees within hosts, recursive doubling between them"),
        Algorithm(
            "smp_binomial_pipeline",
            "smp_binomial in segments",
            withheld="gives wrong data for large messages",
        ),
        Algorithm(
            "smp_rsag",
            "binomial trees within hosts, reduce-scatter and allgather between them",
            withheld="gives wrong data for messages of few elements",
        ),
        Algorithm(
            "smp_rsag_lr",
            "smp_rsag with a logical ring",
            withheld="gives wrong data for messages of one element",
        ),
        Algorithm(
            "smp_rsag_rab",
            "smp_rsag with Rabenseifner's algorithm",
            withheld="gives wrong data for messages of few elements",
        ),
        Algorithm("ompi_basic_linear", "all to rank 0 and back, in turn, as in Open MPI", own=True),
        Algorithm("ompi_ring_segmented", "a ring over segments, as in Open MPI"),
        Algorithm("mvapich2_rs", "reduce-scatter, then allgather, as in MVAPICH2"),
        Algorithm("mvapich2_two_level", "within hosts, then between their leaders, as in MVAPICH2"),
        *decision_tables(),
    ],
)

"""Algorithms of MPI_Reduce in SMPI."""

from __future__ import annotations

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import more_than_one_rank, power_of_two
from searchspace.collectives.tables import decision_tables

__all__ = ["REDUCE"]

REDUCE = collective(
    "reduce",
    "combines a value of every rank on one rank",
    [
        Algorithm("binomial", "up a binomial tree"),
        Algorithm("flat_tree", "every rank to the root in turn"),
        Algorithm("NTSL", "up a chain, in segments", (more_than_one_rank,)),
        Algorithm("scatter_gather", "reduce-scatter, then gather", (power_of_two,)),
        Algorithm("arrival_pattern_aware", "combines ranks as they arrive"),
        Algorithm("rab", "Rabenseifner: reduce-scatter, then gather", (more_than_one_rank,)),
        Algorithm("ompi_chain", "up chains, in segments, as in Open MPI", (more_than_one_rank,)),
        Algorithm(
            "ompi_pipeline", "up one chain, in segments, as in Open MPI", (more_than_one_rank,)
        ),
        Algorithm("ompi_chain_whole", "up a chain, without segments, as in Open MPI", own=True),
        Algorithm(
            "ompi_chain_segmented", "up a chain, in segments of 8 KiB, as in Open MPI", own=True
        ),
        Algorithm(
            "ompi_four_chains", "up four chains, in segments of 32 KiB, as in Open MPI", own=True
        ),
        Algorithm("ompi_binary_whole", "up a binary tree, as in Open MPI", own=True),
        Algorithm("ompi_basic_linear", "every rank to the root, as in Open MPI"),
        Algorithm(
            "ompi_in_order_binary",
            "up a binary tree that keeps the order of operands, as in Open MPI",
            (more_than_one_rank,),
        ),
        Algorithm(
            "ompi_binary", "up a binary tree, in segments, as in Open MPI", (more_than_one_rank,)
        ),
        Algorithm(
            "ompi_binomial",
            "up a binomial tree, in segments, as in Open MPI",
            (more_than_one_rank,),
        ),
        Algorithm("mvapich2_knomial", "up a k-nomial tree, as in MVAPICH2"),
        Algorithm("mvapich2_two_level", "within hosts, then between leaders, as in MVAPICH2"),
        *decision_tables(),
    ],
)

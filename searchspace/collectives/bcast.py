"""Algorithms of MPI_Bcast in SMPI."""

from __future__ import annotations

from collections.abc import Sequence

from searchspace.collectives.algorithm import Algorithm, collective
from searchspace.collectives.rules import hosts_with_several_ranks, one_rank_per_host
from searchspace.collectives.tables import decision_tables

__all__ = ["BCAST"]


def _impi_avoids_smp_linear(ranks: int, rank_hosts: Sequence[int] | None) -> str | None:
    """Intel MPI's table chooses SMP_linear for 2 and for 5 to 8 ranks, one a host."""
    if ranks in (2, 5, 6, 7, 8) and hosts_with_several_ranks(ranks, rank_hosts):
        return f"may choose SMP_linear for {ranks} ranks, which needs hosts with several of them"
    return None


BCAST = collective(
    "bcast",
    "sends a block of one rank to all",
    [
        Algorithm("binomial_tree", "down a binomial tree"),
        Algorithm("flattree", "from the root to every rank in turn"),
        Algorithm(
            "flattree_pipeline",
            "flattree in segments",
            withheld="gives wrong data for large messages",
        ),
        Algorithm("NTSL", "down a chain, in segments"),
        Algorithm("NTSL_Isend", "down a chain, in segments, non-blocking"),
        Algorithm(
            "NTSB",
            "down a binary tree, in segments",
            withheld="fails in communicators of one rank, which other collectives make inside",
        ),
        Algorithm("scatter_LR_allgather", "scatter, then a logical-ring allgather"),
        Algorithm("scatter_rdb_allgather", "scatter, then a recursive-doubling allgather"),
        Algorithm("SMP_binary", "binary trees between hosts and within them, in segments"),
        Algorithm("SMP_binomial", "binomial trees between hosts and within them"),
        Algorithm(
            "SMP_linear", "chains between hosts and within them", (hosts_with_several_ranks,)
        ),
        Algorithm("arrival_pattern_aware", "to the ranks that have arrived first, in segments"),
        Algorithm("arrival_pattern_aware_wait", "waits for some ranks to arrive, then a chain"),
        Algorithm(
            "arrival_scatter",
            "scatters to the ranks that have arrived, then a ring",
            withheld="crashes when there are fewer elements than ranks",
        ),
        Algorithm(
            "ompi_split_bintree",
            "two halves down a binary tree, as in Open MPI",
            (hosts_with_several_ranks,),
        ),
        Algorithm("ompi_pipeline", "down a chain, in segments, as in Open MPI"),
        Algorithm(
            "ompi_binomial", "down a binomial tree, near ranks first, as in Open MPI", own=True
        ),
        Algorithm("ompi_knomial", "down a tree of degree 4, as in Open MPI", own=True),
        Algorithm("ompi_binary_tree", "down a binary tree, as in Open MPI", own=True),
        Algorithm(
            "ompi_binary_tree_segmented",
            "down a binary tree, in segments of 8 KiB, as in Open MPI",
            own=True,
        ),
        Algorithm("ompi_chain_whole", "down a chain, without segments, as in Open MPI", own=True),
        Algorithm(
            "ompi_four_chains", "down four chains, in segments of 8 KiB, as in Open MPI", own=True
        ),
        Algorithm(
            "mvapich2_inter_node",
            "between the leaders of hosts only, as in MVAPICH2",
            (one_rank_per_host,),
        ),
        Algorithm("mvapich2_intra_node", "within hosts, as in MVAPICH2", (one_rank_per_host,)),
        Algorithm("mvapich2_knomial_intra_node", "a k-nomial tree within hosts, as in MVAPICH2"),
        *decision_tables(rules={"impi": (_impi_avoids_smp_linear,)}),
    ],
)

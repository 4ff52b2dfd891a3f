"""Intel MPI 2021: `I_MPI_ADJUST_*`, from its reference manual; never run here."""

from __future__ import annotations

from collections.abc import Mapping

from searchspace.collectives.equivalents.equivalent import Entry, Target, near

__all__ = ["INTEL_MPI"]


def _settings(collective: str, algorithm: str) -> Mapping[str, str]:
    return {f"I_MPI_ADJUST_{collective.upper()}": algorithm}


_RABENSEIFNER = near("2", "another variant of Rabenseifner's")
_SMP = near("4", "topology aware: reduce and bcast within hosts and between them")
_PAIRWISE = near("3", "pairwise exchange; the manual does not say with whom in which round")

INTEL_MPI = Target(
    name="intelmpi-2021",
    title="Intel MPI 2021",
    selector="impi",
    format="intelmpi",
    checked_on=None,
    entries={
        "alltoall": {
            "bruck": Entry("1"),
            "basic_linear": Entry("2"),
            "mvapich2_scatter_dest": near("2", "all messages at once"),
            "pair": _PAIRWISE,
            "ring": _PAIRWISE,
        },
        "allreduce": {
            "rdb": Entry("1"),
            "rab_rdb": Entry("2"),
            "rab": _RABENSEIFNER,
            "rab1": _RABENSEIFNER,
            "rab2": _RABENSEIFNER,
            "mvapich2_rs": _RABENSEIFNER,
            "redbcast": near("3", "reduce and bcast are then those that the library uses"),
            "lr": near("8", "a ring, whose details the manual does not tell"),
            "mvapich2_two_level": _SMP,
            "smp_binomial": _SMP,
            "smp_rdb": _SMP,
        },
        "allgather": {
            "rdb": Entry("1"),
            "bruck": Entry("2"),
            "NTSLR": Entry("3"),
            "NTSLR_NB": near("3", "blocking, one message at a time"),
            "GB": near("4", "topology aware gather and bcast"),
        },
        "bcast": {
            "binomial_tree": Entry("1"),
            "scatter_rdb_allgather": Entry("2"),
            "scatter_LR_allgather": Entry("3"),
            "NTSL": near("3", "a ring, but of scattered parts"),
            "NTSL_Isend": near("3", "a ring, but of scattered parts"),
            "SMP_binomial": near("4", "topology aware binomial"),
            "mvapich2_inter_node": near("8", "a k-nomial tree"),
            "mvapich2_knomial_intra_node": near("8", "a k-nomial tree"),
        },
        "reduce": {
            "binomial": Entry("2"),
            "ompi_binomial": near("2", "without segments"),
            "rab": near("5", "another variant of Rabenseifner's"),
            "scatter_gather": Entry("5"),
            "mvapich2_knomial": near("2", "a tree of degree 2"),
            "mvapich2_two_level": near("4", "topology aware binomial"),
        },
        "alltoallv": {
            "ompi_basic_linear": Entry("1"),
            "bruck": near("1", "all messages at once"),
        },
        "allgatherv": {
            "mpich_rdb": Entry("1"),
            "ompi_bruck": Entry("2"),
            "mpich_ring": Entry("3"),
        },
        "reduce_scatter": {
            "ompi_basic_recursivehalving": Entry("1"),
            "mpich_pair": Entry("2"),
            "mpich_rdb": Entry("3"),
        },
        "gather": {"ompi_binomial": Entry("1")},
        "scatter": {"ompi_binomial": Entry("1")},
        "barrier": {
            "ompi_bruck": Entry("1"),
            "ompi_recursivedoubling": Entry("2"),
            "mpich_smp": near("3", "topology aware dissemination"),
        },
    },
    settings_of=_settings,
    # The manual does not tell which of them keep it.
    in_order=dict.fromkeys(("allreduce", "reduce", "reduce_scatter"), frozenset()),
)

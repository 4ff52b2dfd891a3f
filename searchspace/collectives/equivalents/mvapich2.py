"""MVAPICH2 2.3.7: `MV2_*_TUNING`, from its documents and sources; never run here."""

from __future__ import annotations

from collections.abc import Mapping

from searchspace.collectives.equivalents.equivalent import Entry, Target, near

__all__ = ["MVAPICH2"]

_VARIABLES = {
    "alltoall": "MV2_ALLTOALL_TUNING",
    "allreduce": "MV2_INTER_ALLREDUCE_TUNING",
    "allgather": "MV2_INTER_ALLGATHER_TUNING",
    "bcast": "MV2_INTER_BCAST_TUNING",
}


def _settings(collective: str, algorithm: str) -> Mapping[str, str]:
    return {_VARIABLES[collective]: algorithm}


def _intra_allreduce(number: str) -> tuple[tuple[str, str], ...]:
    return (
        ("MV2_INTER_ALLREDUCE_TUNING_TWO_LEVEL", "1"),
        ("MV2_INTRA_ALLREDUCE_TUNING", number),
    )


_RABENSEIFNER = near("2", "another variant of Rabenseifner's")

MVAPICH2 = Target(
    name="mvapich2-2.3",
    title="MVAPICH2 2.3",
    selector="mvapich2",
    format="mvapich2",
    checked_on=None,
    entries={
        "alltoall": {
            "bruck": Entry("0"),
            "rdb": Entry("1"),
            "mvapich2_scatter_dest": Entry("2"),
            "basic_linear": near("2", "a few messages at a time"),
            "pair": Entry("3", more=(("MV2_USE_XOR_ALLTOALL", "1"),)),
            "ring": Entry("3", more=(("MV2_USE_XOR_ALLTOALL", "0"),)),
        },
        "allreduce": {
            "rdb": Entry("1", more=(("MV2_INTER_ALLREDUCE_TUNING_TWO_LEVEL", "0"),)),
            "rab_rdb": Entry("2"),
            "mvapich2_rs": Entry("2"),
            "rab": _RABENSEIFNER,
            "rab1": _RABENSEIFNER,
            "rab2": _RABENSEIFNER,
            "mvapich2_two_level": Entry("1", more=_intra_allreduce("5")),
            "smp_rdb": Entry("1", more=_intra_allreduce("6")),
            "smp_binomial": near("1", "recursive doubling between hosts", *_intra_allreduce("6")),
        },
        "allgather": {
            "rdb": Entry("2"),
            "bruck": Entry("3"),
            "NTSLR": Entry("4"),
            "NTSLR_NB": near("4", "blocking, one message at a time"),
            "ring": near("5", "all messages at once"),
            "spreading_simple": Entry("6"),
            "GB": Entry("7"),
            "smp_simple": near("10", "direct in two levels"),
            "SMP_NTS": near("11", "a ring in two levels"),
            "mvapich2_smp": Entry("2", more=(("MV2_INTER_ALLGATHER_TUNING_TWO_LEVEL", "1"),)),
        },
        "bcast": {
            "binomial_tree": Entry("1"),
            "scatter_rdb_allgather": Entry("3"),
            "scatter_LR_allgather": Entry("5"),
            "mvapich2_inter_node": Entry("8"),
            "NTSL": near("9", "pipelined, other segments"),
            "NTSL_Isend": near("9", "pipelined, other segments"),
            "SMP_binomial": near(
                "1", "a k-nomial tree within hosts", ("MV2_INTRA_BCAST_TUNING", "1")
            ),
        },
    },
    settings_of=_settings,
    # Nothing is published of which of them keep it.
    in_order=dict.fromkeys(("allreduce", "reduce", "reduce_scatter"), frozenset()),
)

"""MPICH: what `MPIR_CVAR_*_INTRA_ALGORITHM` can force, checked on 4.0.2 (names, data, fallbacks).

A choice that a communicator does not allow falls back without a word, unless
`MPIR_CVAR_COLLECTIVE_FALLBACK` says `print`; device collectives would go before those forced here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from searchspace.collectives.equivalents.equivalent import (
    Entry,
    Kind,
    Target,
    TransportSetting,
    near,
    not_power_of_two,
    power_of_two,
)
from searchspace.configuration import Scalar

__all__ = ["MPICH_4_0", "MPICH_4_1", "MPICH_ENTRIES"]


def _settings(collective: str, algorithm: str) -> Mapping[str, str]:
    return {f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM": algorithm}


_RABENSEIFNER = near("reduce_scatter_allgather", "another variant of Rabenseifner's")
_SMP = near("smp", "the library's own algorithms between hosts")
_FALLS_BACK: tuple[Kind, str] = ("none", "recursive doubling needs a power of two ranks there")

MPICH_ENTRIES: dict[str, dict[str, Entry]] = {
    "alltoall": {
        "bruck": Entry("brucks"),
        "basic_linear": near(
            "scattered",
            "in batches, which the throttle makes as large as they can be",
            ("MPIR_CVAR_ALLTOALL_THROTTLE", "0"),
        ),
        "pair": Entry("pairwise"),
        "ring": Entry(
            "pairwise",
            only=not_power_of_two,
            otherwise=("nearest", "the partner is rank XOR round where ranks are a power of two"),
        ),
        "mvapich2_scatter_dest": Entry("scattered"),
    },
    "allreduce": {
        "rdb": Entry("recursive_doubling"),
        "rab_rdb": Entry("reduce_scatter_allgather"),
        "rab": _RABENSEIFNER,
        "rab1": _RABENSEIFNER,
        "rab2": _RABENSEIFNER,
        "mvapich2_rs": Entry("reduce_scatter_allgather"),
        "mvapich2_two_level": _SMP,
        "smp_binomial": _SMP,
        "smp_rdb": _SMP,
    },
    "allgather": {
        "bruck": Entry("brucks"),
        "rdb": Entry("recursive_doubling", only=power_of_two, otherwise=_FALLS_BACK),
        "NTSLR": Entry("ring"),
        "NTSLR_NB": near("ring", "blocking, one message at a time"),
    },
    "bcast": {
        "binomial_tree": Entry("binomial"),
        "scatter_LR_allgather": Entry("scatter_ring_allgather"),
        "scatter_rdb_allgather": Entry(
            "scatter_recursive_doubling_allgather", only=power_of_two, otherwise=_FALLS_BACK
        ),
        "SMP_binomial": near("smp", "the library's own algorithms between hosts"),
    },
    "reduce": {
        "binomial": Entry("binomial"),
        "ompi_binomial": near("binomial", "without segments"),
        "scatter_gather": Entry("reduce_scatter_gather"),
        "rab": near("reduce_scatter_gather", "another variant of Rabenseifner's"),
        "mvapich2_knomial": near("binomial", "a tree of degree 2"),
        "mvapich2_two_level": near("smp", "the library's own algorithms between hosts"),
    },
    "alltoallv": {
        "ompi_basic_linear": near("scattered", "in batches"),
        "bruck": Entry("scattered"),
    },
    "allgatherv": {
        "mpich_ring": Entry("ring"),
        "mpich_rdb": Entry("recursive_doubling", only=power_of_two, otherwise=_FALLS_BACK),
        "ompi_bruck": Entry("brucks"),
        "ring": near("ring", "the blocks go from neighbour to neighbour"),
    },
    "reduce_scatter": {
        "mpich_pair": Entry("pairwise"),
        "mpich_rdb": Entry("recursive_doubling"),
        "ompi_basic_recursivehalving": Entry("recursive_halving"),
    },
    "gather": {"ompi_binomial": Entry("binomial")},
    "scatter": {"ompi_binomial": Entry("binomial")},
    "barrier": {
        "ompi_bruck": Entry("dissemination"),
        "mpich_smp": Entry("smp"),
        "ompi_recursivedoubling": near("dissemination", "log2(ranks) rounds too, in one direction"),
    },
}
"""The lines for 4.0; MVAPICH 4 and later MPICH have these names too."""

_LATER: dict[str, dict[str, Entry]] = {
    "allreduce": {"lr": Entry("ring")},
    "bcast": {
        "NTSL": near("pipelined_tree", "a tree of degree 1", ("MPIR_CVAR_BCAST_TREE_KVAL", "1")),
        "mvapich2_inter_node": near("tree", "not between leaders of hosts only"),
        "mvapich2_knomial_intra_node": near("tree", "not within hosts only"),
    },
}

_APART: dict[str, dict[str, Entry]] = {
    "reduce_scatter_block": MPICH_ENTRIES["reduce_scatter"],
}

_IN_ORDER = {
    "allreduce": frozenset({"rdb"}),
    "reduce": frozenset({"binomial"}),
    "reduce_scatter": frozenset({"mpich_rdb"}),
    "reduce_scatter_block": frozenset({"mpich_rdb"}),
}
_COMMUTATIVE_ONLY = {
    "allreduce": frozenset({"rab_rdb", "smp_rdb"}),
    "reduce": frozenset({"scatter_gather", "mvapich2_two_level"}),
    "reduce_scatter": frozenset({"mpich_pair", "ompi_basic_recursivehalving"}),
    "reduce_scatter_block": frozenset({"mpich_pair", "ompi_basic_recursivehalving"}),
}
"""Facts from the selection tree inside the library."""

_FORCED = (
    ("MPIR_CVAR_COLLECTIVE_FALLBACK", "print"),
    ("MPIR_CVAR_DEVICE_COLLECTIVES", "none"),
)


def _rendezvous(value: Scalar) -> Mapping[str, str]:
    # Messages of at least so many bytes wait.
    return {"UCX_RNDV_THRESH": str(int(value) + 1)}


_TRANSPORT = {
    "eager_limit": TransportSetting(_rendezvous, "where MPICH goes by UCX, device ch4:ucx")
}
"""UCX counts the bytes of a message alone. Its other thresholds (copies, segments, buffers) are
nothing that the model of packets knows, and it has no setting for both directions at once."""

MPICH_4_0 = Target(
    name="mpich-4.0",
    title="MPICH 4.0",
    selector="mpich-4.0",
    old_selector="mpich",
    format="mpich",
    checked_on="MPICH 4.0.2",
    entries=MPICH_ENTRIES,
    settings_of=_settings,
    always=_FORCED,
    apart=_APART,
    transport=_TRANSPORT,
    in_order=_IN_ORDER,
    falls_back=_COMMUTATIVE_ONLY,
)

MPICH_4_1 = replace(
    MPICH_4_0,
    name="mpich-4.1",
    title="MPICH 4.1",
    checked_on=None,
    entries={name: {**lines, **_LATER.get(name, {})} for name, lines in MPICH_ENTRIES.items()},
)

"""Open MPI: what the component `tuned` has, checked on 4.1.4 (ids, names, traffic between ranks).

The ids and names are those of `ompi_info --param coll tuned --level 9`. That an algorithm is the
same is held against the bytes that each pair of ranks exchanges in the library and in SMPI
(`tests/service/exports/test_openmpi_traffic.py`).
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

__all__ = ["ALGORITHM_IDS", "OPENMPI_4", "OPENMPI_5", "algorithm_parameter"]

ALGORITHM_IDS: dict[str, tuple[str, ...]] = {
    "allgather": (
        "ignore", "linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc",
    ),
    "allgatherv": ("ignore", "default", "bruck", "ring", "neighbor", "two_proc"),
    "allreduce": (
        "ignore", "basic_linear", "nonoverlapping", "recursive_doubling", "ring",
        "segmented_ring", "rabenseifner",
    ),
    "alltoall": ("ignore", "linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "alltoallv": ("ignore", "basic_linear", "pairwise"),
    "barrier": (
        "ignore", "linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree",
    ),
    "bcast": (
        "ignore", "basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree",
        "binomial", "knomial", "scatter_allgather", "scatter_allgather_ring",
    ),
    "gather": ("ignore", "basic_linear", "binomial", "linear_sync"),
    "reduce": (
        "ignore", "linear", "chain", "pipeline", "binary", "binomial", "in-order_binary",
        "rabenseifner",
    ),
    "reduce_scatter": ("ignore", "non-overlapping", "recursive_halving", "ring", "butterfly"),
    "reduce_scatter_block": (
        "ignore", "basic_linear", "recursive_doubling", "recursive_halving", "butterfly",
    ),
    "scatter": ("ignore", "basic_linear", "binomial", "linear_nb"),
}  # fmt: skip
"""The names of the algorithms of each collective; the index is the id in dynamic rules files."""

SEGMENT_8K = "8192"


def algorithm_parameter(collective: str) -> str:
    """The MCA parameter that forces an algorithm of a collective."""
    return f"coll_tuned_{collective}_algorithm"


def _settings(collective: str, algorithm: str) -> Mapping[str, str]:
    return {algorithm_parameter(collective): algorithm}


def _segment(collective: str, size: str) -> tuple[str, str]:
    return (f"coll_tuned_{collective}_algorithm_segmentsize", size)


_HAN = "within hosts and then between them, which only the component han does"
_TWO_LEVEL = near("rabenseifner", f"not {_HAN}")
_RABENSEIFNER = near("rabenseifner", "another variant of Rabenseifner's")
_SWITCHES: tuple[Kind, str] = (
    "nearest",
    "the library switches to bruck unless ranks are a power of two",
)

_ENTRIES: dict[str, dict[str, Entry]] = {
    "alltoall": {
        "basic_linear": Entry("linear"),
        "bruck": Entry("modified_bruck"),
        "ring": Entry("pairwise"),
        "ompi_linear_sync": Entry("linear_sync"),
        "pair": near("pairwise", "the partner is rank + round, not rank XOR round"),
        "mvapich2_scatter_dest": near("linear", "all messages at once, not a few at a time"),
    },
    "allreduce": {
        "rdb": Entry("recursive_doubling"),
        "lr": Entry("ring"),
        "ompi_ring_segmented": Entry("segmented_ring", more=(_segment("allreduce", "1048576"),)),
        "rab": Entry("rabenseifner"),
        "ompi_basic_linear": Entry("basic_linear"),
        "rab_rdb": Entry(
            "rabenseifner",
            only=power_of_two,
            otherwise=("nearest", "ranks beyond a power of two are taken in by halves"),
        ),
        "rab1": _RABENSEIFNER,
        "rab2": _RABENSEIFNER,
        "mvapich2_rs": _RABENSEIFNER,
        "redbcast": near("nonoverlapping", "reduce and bcast are then those that the library uses"),
        "mvapich2_two_level": _TWO_LEVEL,
        "smp_binomial": near("recursive_doubling", f"not {_HAN}"),
        "smp_rdb": near("recursive_doubling", f"not {_HAN}"),
    },
    "allgather": {
        "bruck": Entry("bruck"),
        "rdb": Entry("recursive_doubling", only=power_of_two, otherwise=_SWITCHES),
        "NTSLR": Entry("ring"),
        "NTSLR_NB": near("ring", "blocking, one message at a time"),
        "GB": near("linear", "gather and bcast are then those that the library has built in"),
        "ompi_neighborexchange": Entry("neighbor"),
    },
    "bcast": {
        "binomial_tree": near("binomial", "a binomial tree with other ranks below each other"),
        "ompi_binomial": Entry("binomial"),
        "ompi_knomial": Entry("knomial"),
        "ompi_binary_tree": Entry("binary_tree"),
        "ompi_binary_tree_segmented": Entry("binary_tree", more=(_segment("bcast", SEGMENT_8K),)),
        "ompi_chain_whole": Entry("pipeline"),
        "ompi_four_chains": Entry("chain", more=(_segment("bcast", SEGMENT_8K),)),
        "flattree": Entry("basic_linear"),
        "NTSL": Entry("pipeline", more=(_segment("bcast", SEGMENT_8K),)),
        "NTSL_Isend": near("pipeline", "other sends overlap", _segment("bcast", SEGMENT_8K)),
        "ompi_pipeline": near("pipeline", "segments that do not depend on the message size"),
        "ompi_split_bintree": Entry("split_binary_tree", more=(_segment("bcast", SEGMENT_8K),)),
        "scatter_LR_allgather": Entry("scatter_allgather_ring"),
        "scatter_rdb_allgather": Entry("scatter_allgather"),
        "mvapich2_inter_node": near("knomial", "not between leaders of hosts only"),
        "mvapich2_knomial_intra_node": near("knomial", "not within hosts only"),
        "SMP_binomial": near("binomial", f"not {_HAN}"),
    },
    "reduce": {
        "binomial": Entry("binomial"),
        "ompi_binomial": near("binomial", "segments that do not depend on the message size"),
        "flat_tree": Entry("linear"),
        "ompi_basic_linear": Entry("linear"),
        "ompi_chain_whole": Entry("pipeline"),
        "ompi_chain_segmented": Entry("pipeline", more=(_segment("reduce", SEGMENT_8K),)),
        "ompi_four_chains": Entry("chain", more=(_segment("reduce", "32768"),)),
        "ompi_binary_whole": Entry("binary"),
        "ompi_chain": near("chain", "the number of chains does not grow with the ranks"),
        "ompi_pipeline": near("pipeline", "segments that do not depend on the message size"),
        "ompi_binary": Entry("binary", more=(_segment("reduce", "32768"),)),
        "ompi_in_order_binary": Entry("in-order_binary"),
        "NTSL": near(
            "pipeline", "the rest of the last segment too", _segment("reduce", SEGMENT_8K)
        ),
        "rab": near("rabenseifner", "another variant of Rabenseifner's"),
        "scatter_gather": Entry("rabenseifner"),
        "mvapich2_knomial": near("binomial", "a tree of degree 2"),
    },
    "alltoallv": {
        "ompi_basic_linear": Entry("basic_linear"),
        "ring": Entry("pairwise"),
        "pair": near("pairwise", "the partner is rank + round, not rank XOR round"),
        "bruck": near("basic_linear", "all messages at once, not a few at a time"),
    },
    "allgatherv": {
        "GB": near("default", "gathers along another tree"),
        "ompi_bruck": Entry("bruck"),
        "mpich_ring": Entry("ring"),
        "ompi_neighborexchange": Entry("neighbor"),
        "ring": near("ring", "the blocks go from neighbour to neighbour"),
    },
    "reduce_scatter": {
        "ompi_basic_recursivehalving": Entry("recursive_halving"),
        "ompi_ring": Entry("ring"),
        "ompi_butterfly": Entry("butterfly"),
    },
    "gather": {
        "ompi_basic_linear": Entry("basic_linear"),
        "ompi_binomial": Entry("binomial"),
        "ompi_linear_sync": Entry("linear_sync"),
    },
    "scatter": {
        "ompi_basic_linear": Entry("basic_linear"),
        "ompi_binomial": Entry("binomial"),
        "ompi_linear_nb": Entry("linear_nb"),
    },
    "barrier": {
        "ompi_basic_linear": Entry("linear"),
        "ompi_two_procs": Entry("two_proc"),
        "ompi_tree": Entry("tree"),
        "ompi_bruck": Entry("bruck"),
        "ompi_recursivedoubling": Entry("recursive_doubling"),
        "ompi_doublering": Entry("double_ring"),
        "mvapich2_pair": near("recursive_doubling", "for ranks beyond a power of two it differs"),
    },
}

_APART: dict[str, dict[str, Entry]] = {
    "reduce_scatter_block": {
        "ompi_basic_recursivehalving": Entry("recursive_halving"),
        "ompi_butterfly": Entry(
            "butterfly",
            only=not_power_of_two,
            otherwise=("nearest", "without the exchange that puts the parts in order"),
        ),
        "mpich_rdb": Entry("recursive_doubling"),
    },
}

_FORCED = (("coll_tuned_use_dynamic_rules", "1"),)

_TCP_FLAGS = {"full": "send", "half": "send,put,inplace,need-ack,need-csum,hetero-rdma"}
"""`half` are the library's own. With `put`, the announcement of a large message has none of its
bytes, and the answer to it waits behind what the answerer sends itself."""
_HEADERS = 56
"""Bytes of `btl_tcp_eager_limit` that are headers, whatever a message has."""
_ANNOUNCED = 65_536
"""The library's own `btl_tcp_rndv_eager_limit`, which must not be above the eager limit."""
_BY_TCP = "where messages go by the component tcp of btl"


def _flags(value: Scalar) -> Mapping[str, str]:
    return {"btl_tcp_flags": _TCP_FLAGS[str(value)]}


def _eager_limit(value: Scalar) -> Mapping[str, str]:
    limit = int(value) + _HEADERS
    return {
        "btl_tcp_eager_limit": str(limit),
        "btl_tcp_rndv_eager_limit": str(min(limit, _ANNOUNCED)),
    }


_TRANSPORT = {
    "exchange": TransportSetting(_flags, _BY_TCP),
    "eager_limit": TransportSetting(_eager_limit, _BY_TCP),
}

_IN_ORDER = {
    "allreduce": frozenset({"ompi_basic_linear", "rdb"}),
    "reduce": frozenset({"flat_tree", "ompi_basic_linear", "ompi_in_order_binary"}),
    "reduce_scatter": frozenset({"ompi_butterfly"}),
    "reduce_scatter_block": frozenset({"ompi_butterfly", "mpich_rdb"}),
}
"""What is forced is run as it is for operations that do not commute; of the others these give right
numbers. Tried on 4.1.4."""
_FALLS_BACK = {
    "allreduce": frozenset({"rab"}),
    "reduce": frozenset({"scatter_gather"}),
}
"""Rabenseifner's: to the linear algorithm."""

OPENMPI_4 = Target(
    name="openmpi-4.1",
    title="Open MPI 4.1",
    selector="openmpi-4.1",
    old_selector="ompi",
    format="openmpi",
    checked_on="Open MPI 4.1.4",
    entries=_ENTRIES,
    settings_of=_settings,
    always=_FORCED,
    apart=_APART,
    transport=_TRANSPORT,
    in_order=_IN_ORDER,
    falls_back=_FALLS_BACK,
)

OPENMPI_5 = replace(
    OPENMPI_4,
    name="openmpi-5",
    title="Open MPI 5",
    checked_on=None,
    # In this release han takes communicators over several hosts before tuned can.
    always=(*_FORCED, ("coll_han_priority", "0")),
)

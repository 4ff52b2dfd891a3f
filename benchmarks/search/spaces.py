"""The spaces that techniques are compared on: jobs small enough to be evaluated whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["KEPT", "SPACES", "TRANSFER"]

KEPT = "ft-6"
"""The space whose table is kept beside this module, for the tests."""

_MACHINE: Mapping[str, Any] = {
    "nodes": 16,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    "switch_latency": "60ns",
    "network": "packets",
}
# Of the kept table, which is to stay true when the catalogue grows.
_ALLTOALL = [
    "basic_linear",
    "ompi_linear_sync",
    "bruck",
    "2dmesh",
    "3dmesh",
    "rdb",
    "pair",
    "pair_light_barrier",
    "pair_mpi_barrier",
    "pair_one_barrier",
    "ring",
    "ring_light_barrier",
    "ring_mpi_barrier",
    "ring_one_barrier",
    "mpich",
    "ompi",
    "mvapich2",
    "impi",
    "openmpi-4.1",
    "mpich-4.0",
]
_EVERY_MPI = ["mpich", "ompi", "mvapich2", "impi"]
_MAPPINGS = ["by-order", "treematch", "recursive-bipartition", {"mapper": "random", "instances": 4}]
_MAPPINGS_OF_TREES = [
    "by-order",
    "cyclic",
    "treematch",
    "greedy",
    "rcm",
    {"mapper": "scotch", "instances": 3},
    {"mapper": "random", "instances": 6},
]

_BT = {"builtin": "bt", "class": "S"}
_CG = {"builtin": "cg", "class": "S"}
_FFT = {"builtin": "fft1d"}
_FT = {"builtin": "ft", "class": "S"}
_GRAPH500 = {"builtin": "graph500", "scale": 8, "searches": 2}
_IS = {"builtin": "is", "class": "S"}
_LU = {"builtin": "lu", "class": "S"}
_MG = {"builtin": "mg", "class": "S"}
_MM = {"builtin": "mm", "n": 250}


def _designed(
    program: Mapping[str, Any], degree: int, networks: int, **search: Any
) -> dict[str, Any]:
    """A machine to be designed: which network, in which order, with which algorithms?"""
    topology = [{"family": "random", "instances": networks}, "torus-2d"]
    return {
        "application": {**program, "ranks": 16},
        "machine": {**_MACHINE, "degree": degree},
        "search": {"topology": topology, "ordering": ["original", "hamorder"], **search},
    }


def _on_a_fat_tree(application: Mapping[str, Any], **search: Any) -> dict[str, Any]:
    """An existing cluster, two layers of switches above its hosts: which host for which rank?"""
    topology = {"family": "xgft", "children": "4,4", "parents": "1,2"}
    return {
        **application,
        "machine": {**_MACHINE, "tie_rule": "spread"},
        "search": {"topology": topology, **search},
    }


def _part(program: Mapping[str, Any], ranks: int) -> dict[str, Any]:
    return {"name": program["builtin"], "application": {**program, "ranks": ranks}}


SPACES: dict[str, dict[str, Any]] = {
    "ft-4": _designed(_FT, 4, 2, mpi=_EVERY_MPI, collectives={"alltoall": "all", "reduce": "all"}),
    "ft-6": _designed(
        _FT,
        6,
        20,
        mapping=["by-order", "treematch"],
        mpi=["mpich", "ompi"],
        collectives={"alltoall": _ALLTOALL},
    ),
    "mg-4": _designed(_MG, 4, 2, mpi=_EVERY_MPI, collectives={"allreduce": "all", "bcast": "all"}),
    "mg-6": _designed(_MG, 6, 10, mapping=_MAPPINGS, collectives={"allreduce": "all"}),
    "lu-4": _designed(_LU, 4, 7, mapping=_MAPPINGS, mpi=["ompi"], collectives={"bcast": "all"}),
    "cg-6": _designed(_CG, 6, 8, mapping=_MAPPINGS, mpi=["ompi"], collectives={"reduce": "all"}),
    "is-4": _designed(
        _IS,
        4,
        2,
        mpi=["mpich", "ompi"],
        collectives={"alltoall": "all", "alltoallv": "all", "allreduce": ["default", "rdb", "lr"]},
    ),
    "is-6": _designed(
        _IS, 6, 4, mpi=["ompi", "mvapich2"], collectives={"alltoallv": "all", "allreduce": "all"}
    ),
    "bt-4": _designed(_BT, 4, 6, mapping=_MAPPINGS, mpi=["ompi"], collectives={"bcast": "all"}),
    "mm-6": _designed(_MM, 6, 2, mpi=_EVERY_MPI, collectives={"bcast": "all", "reduce": "all"}),
    "fft-4": _designed(
        _FFT,
        4,
        8,
        mpi=_EVERY_MPI,
        collectives={"alltoall": "all", "reduce": ["default", "binomial", "flat_tree"]},
    ),
    "graph500-6": _designed(
        _GRAPH500, 6, 6, mpi=["ompi"], collectives={"alltoallv": "all", "allreduce": "all"}
    ),
    "tree-mg": _on_a_fat_tree(
        {"application": {**_MG, "ranks": 16}},
        mapping=_MAPPINGS_OF_TREES,
        mpi=["ompi"],
        collectives={"allreduce": "all", "bcast": "all"},
    ),
    "tree-two": _on_a_fat_tree(
        {"applications": [_part(_FT, 8), _part(_MG, 8)], "objective": "mean"},
        mapping=_MAPPINGS_OF_TREES,
        mpi=["ompi"],
        collectives={"allreduce": "all", "alltoall": "all"},
    ),
}
"""Jobs by name, without a name and a budget: 2,000 to 10,000 configurations each."""

_OLD = {"host_speed": "50Gf", "link_bandwidth": "10Gbps", "switch_latency": "400ns"}
_PLACED = ["by-order", "treematch", {"mapper": "random", "instances": 3}]
_IS_CALLS = {"alltoall": ["default", "bruck", "pair", "ring"], "alltoallv": "all"}


def _transfer(
    program: Mapping[str, Any], collectives: Mapping[str, Any], **machine: Any
) -> dict[str, Any]:
    """A program on a machine to be designed, with faster or slower parts."""
    topology = [{"family": "random", "instances": 5}, "torus-2d"]
    return {
        "application": {**program, "ranks": 16},
        "machine": {**_MACHINE, "degree": 4, **machine},
        "search": {
            "topology": topology,
            "ordering": ["original", "hamorder"],
            "mapping": _PLACED,
            "mpi": ["mpich", "ompi"],
            "collectives": collectives,
        },
    }


_SUMS = {"allreduce": "all", "reduce": ["default", "binomial", "flat_tree"]}
TRANSFER: dict[str, dict[str, Any]] = {
    "new-ft": _transfer(_FT, {"alltoall": "all"}),
    "old-ft": _transfer(_FT, {"alltoall": "all"}, degree=5, **_OLD),
    "large-ft": _transfer({**_FT, "class": "W"}, {"alltoall": "all"}),
    "new-is": _transfer(_IS, _IS_CALLS),
    "new-mg": _transfer(_MG, _SUMS),
    "old-mg": _transfer(_MG, _SUMS, degree=5, **_OLD),
    "old-lu": _transfer(_LU, {"bcast": "all"}, degree=5, **_OLD),
}
"""Jobs for what one learns from another, likewise: programs, classes and machines vary apart."""

"""What is measured: networks, collectives on them, programs on them.

The first set is what the network model was made with; the second was never looked at meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from searchspace.builtins import BuiltinRun, validate
from searchspace.collectives.equivalents import TARGETS
from searchspace.graph import Graph
from searchspace.topology import generate

__all__ = [
    "HOSTS",
    "NETWORKS",
    "PROGRAMS",
    "PROGRAM_ALGORITHMS",
    "PROGRAM_NETWORKS",
    "SETS",
    "Case",
    "Network",
    "settings_of",
]

HOSTS = 16
KIB = 1 << 10
TARGET = TARGETS["openmpi-4.1"]

# What the exports call near: a binomial tree with other ranks below each other. With this radix
# Open MPI's k-nomial tree is that of SMPI: the same ranks exchange the same bytes.
_SAME_TREE = {
    "coll_tuned_bcast_algorithm": "knomial",
    "coll_tuned_bcast_algorithm_knomial_radix": "2",
}


@dataclass(frozen=True)
class Network:
    """A network of `HOSTS` hosts, as `hamtune topology generate` makes it."""

    family: str
    degree: int | None = None
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def graph(self) -> Graph:
        """Builds it."""
        return generate(self.family, HOSTS, degree=self.degree, seed=self.seed, **self.options)


NETWORKS = {
    "torus": Network("torus-2d"),
    "ring": Network("ring"),
    "random4": Network("random", degree=4, seed=1),
    "random3": Network("random", degree=3, seed=1),
    "hypercube": Network("hypercube"),
    "optimal3": Network("optimised", degree=3, seed=1),
}


@dataclass(frozen=True, order=True)
class Case:
    """One collective by one algorithm, by SMPI's name, on one network.

    Attributes:
        bytes: For each pair of ranks or, where there are none, of the whole vector.
    """

    network: str
    collective: str
    bytes: int
    algorithm: str

    @property
    def group(self) -> tuple[str, str, int]:
        """What one chooses an algorithm for."""
        return (self.network, self.collective, self.bytes)

    @property
    def choice(self) -> tuple[str, int]:
        """What one chooses an algorithm and a network for."""
        return (self.collective, self.bytes)


_CALLS = {
    "first": (
        ("alltoall", 16 * KIB, ("basic_linear", "ring", "bruck")),
        ("alltoall", KIB, ("basic_linear", "ring", "bruck")),
        ("allreduce", 256 * KIB, ("rdb", "lr", "rab")),
        ("bcast", 512 * KIB, ("NTSL", "binomial_tree", "flattree")),
    ),
    "second": (
        ("allgather", 4 * KIB, ("bruck", "rdb", "NTSLR")),
        ("allgather", 32 * KIB, ("bruck", "rdb", "NTSLR")),
        ("reduce", 128 * KIB, ("binomial", "flat_tree", "scatter_gather")),
        ("alltoall", 128 * KIB, ("basic_linear", "ring", "bruck")),
        ("bcast", 128 * KIB, ("NTSL", "binomial_tree", "flattree", "scatter_LR_allgather")),
        ("allreduce", 1024 * KIB, ("rdb", "lr", "rab")),
        ("allreduce", 16 * KIB, ("rdb", "lr", "rab")),
    ),
}
_SET_NETWORKS = {
    "first": ("torus", "ring", "random4", "random3"),
    "second": ("hypercube", "optimal3"),
}


def _cases(name: str) -> Iterator[Case]:
    for network in _SET_NETWORKS[name]:
        for collective, size, algorithms in _CALLS[name]:
            for algorithm in algorithms:
                yield Case(network, collective, size, algorithm)


SETS = {name: tuple(_cases(name)) for name in _CALLS}
"""The cases of each set, network by network."""

PROGRAM_NETWORKS = ("random3", "torus")
PROGRAMS: dict[str, BuiltinRun] = {
    **{
        f"{name}.S": validate(name, {"class": "S"}, HOSTS)
        for name in ("cg", "lu", "mg", "is", "ft")
    },
    "stencil3d": validate("stencil3d", {"points": 64, "iterations": 50}, HOSTS),
}
PROGRAM_ALGORITHMS = {
    "allreduce": "rdb",
    "alltoall": "ring",
    "alltoallv": "ring",
    "barrier": "ompi_recursivedoubling",
    "bcast": "binomial_tree",
    "reduce": "binomial",
}
"""What programs call their collectives by: the same in both, whatever a library would choose."""


def settings_of(algorithms: Mapping[str, str]) -> dict[str, str]:
    """The parameters that make Open MPI use these algorithms."""
    settings = dict(TARGET.always)
    for collective, algorithm in algorithms.items():
        if (collective, algorithm) == ("bcast", "binomial_tree"):
            settings |= _SAME_TREE
            continue
        equivalent = TARGET.equivalent(collective, algorithm, (HOSTS,))
        assert equivalent.kind == "same", (collective, algorithm)
        settings |= equivalent.settings or {}
    return settings

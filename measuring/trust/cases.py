"""What is measured: collectives by several algorithms and sizes, and programs, on networks.

Every algorithm is one for which the library sends the same messages as SimGrid's, so that a
difference in time is one of the network model.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from measuring.clusters import Library
from searchspace.builtins import BuiltinRun, validate
from searchspace.collectives import DEFAULT
from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.configuration import Configuration
from searchspace.graph import Graph
from searchspace.machine import Machine, NetworkDescription, parse_machine
from searchspace.topology import generate

__all__ = [
    "CALIBRATED_ON",
    "MANY_BYTES",
    "MANY_BYTES_OF_A_VECTOR",
    "NETWORKS",
    "PROGRAMS",
    "SCALE",
    "SLOW_SCALE",
    "TARGET_OF",
    "Case",
    "Network",
    "Plan",
    "plan",
]

KIB = 1 << 10

TARGET_OF: Mapping[Library, Target] = {
    "openmpi": TARGETS["openmpi-4.1"],
    "mpich": TARGETS["mpich-4.0"],
}
"""The release of each library that is measured: Debian's."""


@dataclass(frozen=True)
class Network:
    """A network as `hamtune topology generate` makes it, a core a host."""

    family: str
    hosts: int = 16
    degree: int | None = None
    seed: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    tie_rule: str = "lowest-id"

    def graph(self) -> Graph:
        """Builds it."""
        return generate(self.family, self.hosts, degree=self.degree, seed=self.seed, **self.options)

    def machine(self) -> Machine:
        """With gigabit cables: what a vendor's sheet says, and nothing measured."""
        return parse_machine(
            {
                "nodes": self.hosts,
                "host_speed": "2Gf",
                "link_bandwidth": "1Gbps",
                "topology": NetworkDescription.of(self.graph()),
                "tie_rule": self.tie_rule,
                "network": "packets",
            }
        )


NETWORKS: Mapping[str, Network] = {
    "ring": Network("ring"),
    "torus": Network("torus-2d"),
    "random3": Network("random", degree=3),
    "random4": Network("random", degree=4),
    "optimal3": Network("optimised", degree=3),
    "fat-tree": Network("fat-tree", options={"ports": 4}, tie_rule="spread"),
    "torus64": Network("torus-2d", hosts=64),
}
SCALE = 50.0
"""What rates are divided by where collectives of 16 hosts are measured: 20 Mbit/s are left."""
SLOW_SCALE = 200.0
"""The same where programs compute at once on all hosts, or there are 64."""
MANY_BYTES = 32 * KIB
"""Collectives of fewer bytes are called so often that they have as many, 20 times at most."""
MANY_BYTES_OF_A_VECTOR = 128 * KIB
"""The same, 50 times at most, where bytes are those of a whole vector: a rank has a part of them
for another, and what takes less than a tenth of a second is as often late by a fifth of it."""
VECTORS = ("allreduce", "bcast", "reduce", "reduce_scatter")
"""Operations whose bytes are those of the whole vector."""
CALIBRATED_ON = "ring"
"""The network on which the machine is calibrated, and nothing is judged: its ways are longest."""


@dataclass(frozen=True, order=True)
class Case:
    """A collective by one algorithm, or a program, under a library on a network.

    Attributes:
        network: Of `NETWORKS`.
        library: The MPI library.
        operation: A collective; or `program`.
        bytes: Of a collective: what one rank has for another or, where they do not differ by
            rank, the whole vector. 0 of a program.
        choice: The algorithm, by SMPI's name; `default` for the library's own choice; or the
            program, of `PROGRAMS`.
    """

    network: str
    library: Library
    operation: str
    bytes: int
    choice: str

    @property
    def group(self) -> tuple[str, str, str, int]:
        """What one chooses an algorithm for."""
        return (self.network, self.library, self.operation, self.bytes)

    @property
    def problem(self) -> tuple[str, str, int, str]:
        """What one chooses a network for."""
        return (self.library, self.operation, self.bytes, self.choice)

    @property
    def calls(self) -> int:
        """How often in a row a collective is called, so that it takes long beside its beginning."""
        if not self.bytes:
            return 1
        if self.operation in VECTORS:
            return max(1, min(50, MANY_BYTES_OF_A_VECTOR // self.bytes))
        return max(1, min(20, MANY_BYTES // self.bytes))

    @property
    def repetitions(self) -> int:
        """How often that is timed in one run; more often where it is short."""
        return 5 if self.operation in VECTORS and self.bytes < MANY_BYTES else 3

    @property
    def scale(self) -> float:
        """What the rates of its cables are divided by, so that two cores can play them."""
        return SLOW_SCALE if self.is_program or NETWORKS[self.network].hosts > 16 else SCALE

    @property
    def is_program(self) -> bool:
        """Whether a whole program is timed."""
        return self.operation == "program"

    @property
    def is_default(self) -> bool:
        """Whether the library chooses by itself."""
        return self.choice == DEFAULT

    @property
    def configuration(self) -> Configuration:
        """The choices under which it runs, the same in the library and in the simulator.

        Of a library's own choice: what it decides.
        """
        algorithms = PROGRAM_ALGORITHMS[self.library]
        if self.is_default:
            algorithms = {self.operation: TARGET_OF[self.library].name}
        elif not self.is_program:
            algorithms = {self.operation: self.choice}
        return Configuration({f"collectives.{name}": a for name, a in algorithms.items()})


@dataclass(frozen=True)
class Plan:
    """What a study measures.

    Attributes:
        cases: In the order of networks, libraries, operations and algorithms.
        runs: Of each collective and of each program.
    """

    cases: tuple[Case, ...]
    runs: int


_ALGORITHMS: Mapping[Library, Mapping[str, Sequence[str]]] = {
    "openmpi": {
        "allgather": ("bruck", "rdb", "NTSLR"),
        "allreduce": ("rdb", "lr", "rab"),
        "alltoall": ("basic_linear", "ring", "bruck"),
        "bcast": ("NTSL", "flattree", "scatter_LR_allgather"),
        "gather": ("ompi_basic_linear", "ompi_binomial"),
        "reduce": ("binomial", "flat_tree", "scatter_gather"),
        "reduce_scatter": ("ompi_basic_recursivehalving", "ompi_ring", "ompi_butterfly"),
        "scatter": ("ompi_basic_linear", "ompi_binomial"),
    },
    "mpich": {
        "allgather": ("bruck", "rdb", "NTSLR"),
        "allreduce": ("rdb", "rab_rdb"),
        "alltoall": ("bruck", "pair", "mvapich2_scatter_dest"),
        "bcast": ("binomial_tree", "scatter_LR_allgather", "scatter_rdb_allgather"),
        "reduce": ("binomial", "scatter_gather"),
        "reduce_scatter": ("ompi_basic_recursivehalving", "mpich_pair", "mpich_rdb"),
    },
}
_SIZES: Mapping[str, Sequence[int]] = {
    "allgather": (KIB, 8 * KIB, 32 * KIB),
    "allreduce": (KIB, 16 * KIB, 256 * KIB),
    "alltoall": (KIB, 8 * KIB, 32 * KIB),
    "bcast": (KIB, 16 * KIB, 256 * KIB),
    "gather": (KIB, 8 * KIB, 64 * KIB),
    "reduce": (KIB, 16 * KIB, 256 * KIB),
    "reduce_scatter": (KIB, 16 * KIB, 256 * KIB),
    "scatter": (KIB, 8 * KIB, 64 * KIB),
}
_LARGE_OPERATIONS = ("allreduce", "alltoall", "bcast", "gather", "reduce_scatter")
_LARGE_BYTES = 16 * KIB
"""On 64 hosts: operations, and the most that is sent, so that two cores can play them."""

PROGRAM_ALGORITHMS: Mapping[Library, Mapping[str, str]] = {
    "openmpi": {
        "allreduce": "rdb",
        "alltoall": "ring",
        "alltoallv": "ring",
        "barrier": "ompi_recursivedoubling",
        "bcast": "scatter_LR_allgather",
        "reduce": "binomial",
    },
    "mpich": {
        "allreduce": "rdb",
        "alltoall": "pair",
        "alltoallv": "bruck",
        "barrier": "ompi_bruck",
        "bcast": "binomial_tree",
        "reduce": "binomial",
    },
}
"""What programs call their collectives by."""

_PROGRAM_NETWORKS: Mapping[Library, Sequence[str]] = {
    "openmpi": ("torus", "random3", "fat-tree"),
    "mpich": ("random3",),
}


@functools.cache
def _program(name: str, **parameters: str | int) -> BuiltinRun:
    return validate(name, parameters, 16)


PROGRAMS: Mapping[str, BuiltinRun] = {
    **{f"{name}.S": _program(name, **{"class": "S"}) for name in ("is", "ft", "mg", "cg", "lu")},
    "stencil3d": _program("stencil3d", points=64, iterations=50),
}
"""Of 16 ranks."""


def plan(*, quick: bool) -> Plan:
    """The cases of the study; a few of them, on two networks, when it is to be quick."""
    if quick:
        cases = [
            case
            for network in ("torus", "random3")
            for case in _collectives(network, "openmpi", ("allreduce", "alltoall"))
        ]
        return Plan(tuple(cases), runs=1)
    cases = []
    for network in ("torus", "random3", "random4", "optimal3", "fat-tree"):
        cases += _collectives(network, "openmpi", tuple(_SIZES))
    for network in ("random3", "fat-tree"):
        cases += _collectives(network, "mpich", tuple(_ALGORITHMS["mpich"]))
    for case in _collectives("torus64", "openmpi", _LARGE_OPERATIONS):
        if case.bytes <= _LARGE_BYTES:
            cases.append(case)
    for library, networks in _PROGRAM_NETWORKS.items():
        cases += [
            Case(network, library, "program", 0, program)
            for network in networks
            for program in PROGRAMS
        ]
    return Plan(tuple(cases), runs=1)


def _collectives(network: str, library: Library, operations: Sequence[str]) -> list[Case]:
    return [
        Case(network, library, operation, size, algorithm)
        for operation in operations
        for algorithm in (*_ALGORITHMS[library][operation], DEFAULT)
        for size in _SIZES[operation]
    ]

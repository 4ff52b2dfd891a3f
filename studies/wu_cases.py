"""What Wu et al. (2015) map, and onto which machines (tables 1 and 2), made in their likeness."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from searchspace.hop_machine import Grid, HopMachine, Tree
from searchspace.traffic import Traffic
from studies.mapping_machines import CoreMachine, fragmented, torus_extents
from studies.mapping_patterns import (
    crankshaft,
    engine,
    kkt,
    partitioned,
    refined_mesh,
    stencil,
)

__all__ = ["MACHINES", "PATTERNS", "Platform", "traffic"]

_FULL, _QUICK = 100_000, 16_000
"""Rows of the matrices, about; quick."""

PATTERNS = ("3D stencil", "F1", "audikw_1", "nlpkkt120", "ART")


@dataclass(frozen=True)
class Platform:
    """One of the paper's machines.

    Attributes:
        name: As the paper calls it.
        cores: Of a node.
        default: The mapper that stands for the system's default.
        make: Builds the part of it that some nodes of a job are on.
    """

    name: str
    cores: int
    default: str
    make: Callable[[int], CoreMachine]

    def machine(self, processes: int) -> CoreMachine:
        """The machine as a job of so many processes finds it, one process a core."""
        return self.make(-(-processes // self.cores))


def _stampede(nodes: int) -> CoreMachine:
    """Nodes of a fat tree, half of which other jobs have; leaf switches of sixteen nodes."""
    leaves = max(2, -(-2 * nodes // 16))
    used = set(fragmented(16 * leaves, nodes, (5, 2, 7, 3)))
    cores = tuple(16 if host in used else 0 for host in range(16 * leaves))
    quantities = {"link_bandwidth": "1GBps", "link_latency": "150ns", **_COMMON}
    hops = HopMachine(Tree((leaves, 16)), cores, (2, 8))
    return CoreMachine("fat tree", hops, quantities, (77, 6), (16, 9))


def _kraken(nodes: int) -> CoreMachine:
    """Nodes here and there in a torus of twice as many, as other jobs leave them."""
    extents = torus_extents(2 * nodes)
    hosts = math.prod(extents)
    used = set(fragmented(hosts, nodes, (6, 3, 11, 4)))
    cores = tuple(12 if host in used else 0 for host in range(hosts))
    quantities = {"link_bandwidth": "1GBps", "link_latency": "300ns", **_COMMON}
    hops = HopMachine(Grid(extents, wrapped=True), cores, (2, 6))
    return CoreMachine("fragmented torus", hops, quantities, (3,), (7, 4))


def _intrepid(nodes: int) -> CoreMachine:
    """A partition of its own; below 512 nodes a mesh."""
    grid = Grid(torus_extents(nodes), wrapped=nodes >= 512)
    quantities = {"link_bandwidth": "425MBps", "link_latency": "100ns", **_COMMON}
    return CoreMachine("contiguous torus", HopMachine.uniform(grid, 4), quantities, (1,), (8,))


_COMMON: Mapping[str, Any] = {"host_speed": "10Gf", "model": "plain"}

MACHINES = (
    Platform("Stampede", 16, "packed", _stampede),
    Platform("Kraken", 12, "packed", _kraken),
    Platform("Intrepid", 4, "cyclic", _intrepid),
)
"""Blue Gene/P's own order, XYZT, puts consecutive processes on consecutive nodes."""


@cache
def _matrix(name: str, rows: int) -> tuple[Traffic, int]:
    """A matrix of about so many rows, and bytes that stand for a row of the real one's surface."""
    whole = {"F1": 343_791, "audikw_1": 943_695, "nlpkkt120": 3_542_400}[name]
    match name:
        case "F1":
            matrix = crankshaft(rows)
        case "audikw_1":
            matrix = engine(rows)
        case _:
            matrix = kkt(round((rows / 2) ** (1 / 3)))
    return matrix, max(8, round(8 * (whole / matrix.ranks) ** (2 / 3)))


def traffic(pattern: str, processes: int, *, quick: bool, seed: int) -> Traffic:
    """What processes exchange in a step.

    Matrices stand for larger ones: a row that is sent has as many more bytes as the surface of a
    part of the real one has more rows.
    """
    if pattern == "3D stencil":
        return stencil(torus_extents(processes), 64_000)
    if pattern == "ART":
        cells = 8 if quick and processes <= 512 else 16 if processes <= 4096 else 32
        return refined_mesh(processes, cells=cells, bytes_a_face=4_000, seed=seed)
    matrix, size = _matrix(pattern, _QUICK if quick else _FULL)
    return partitioned(matrix, processes, bytes_a_row=size * 10, seed=seed)

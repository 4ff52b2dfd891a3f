"""Machines that mappings are studied on, every core of them a host of the simulated network.

What cores share on the way to each other (a cache, a socket, a node and its interface) is a cable
of the network then, so that contention for it shows in simulated time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from searchspace.graph import Graph
from searchspace.hop_machine import Grid, HopMachine, Shape, Tree

__all__ = ["CoreMachine", "fragmented", "torus_extents"]


@dataclass(frozen=True)
class CoreMachine:
    """A machine with insides, for mappers and for the simulator.

    Attributes:
        name: For tables.
        hops: What mappers see.
        quantities: Speeds, bandwidths and latencies: a machine without its network.
        cables: Parallel cables from the root of a tree downwards, one number a level; of a grid,
            one number.
        inner: Parallel cables within a host, from the host down to its cores.
    """

    name: str
    hops: HopMachine
    quantities: Mapping[str, Any] = field(repr=False)
    cables: tuple[int, ...] = (1,)
    inner: tuple[int, ...] = ()

    @cached_property
    def network(self) -> Graph:
        """Cores are the hosts, numbered as the places; everything above them is a switch."""
        machine, outside = self.hops, self.hops.network
        shift = machine.places
        if not machine.inside and set(machine.cores_per_host) == {1}:
            edges = {
                edge: self._cable(index, machine.shape) for index, edge in enumerate(outside.edges)
            }
            if isinstance(machine.shape, Grid):  # hosts of a grid forward, cores do not
                edges = {(u + shift, v + shift): width for (u, v), width in edges.items()}
                edges |= {(core, core + shift): self._inner(0) for core in range(shift)}
                return _graph(outside.nodes + shift, edges, shift)
            return _graph(outside.nodes, edges, shift)
        edges = {
            (u + shift, v + shift): self._cable(index, machine.shape)
            for index, (u, v) in enumerate(outside.edges)
        }
        free = outside.nodes + shift
        cores = zip(machine.place_hosts.tolist(), machine.place_cores.tolist(), strict=True)
        inside = machine.inside or (max(machine.cores_per_host),)
        names: dict[tuple[int, ...], int] = {}
        for place, (host, core) in enumerate(cores):
            above = host + shift
            for level in range(len(inside)):
                part = core // math.prod(inside[level + 1 :])
                key = (host, level, part)
                node = place if level == len(inside) - 1 else names.setdefault(key, free)
                free = max(free, node + 1)
                edges[node, above] = self._inner(level)
                above = node
        return _graph(free, edges, shift)

    def _cable(self, index: int, shape: Shape) -> int:
        if not isinstance(shape, Tree) or len(self.cables) == 1:
            return self.cables[0]
        # Edges of a tree are sorted by their lower end: those of hosts first, of the root last.
        sizes = [math.prod(shape.arity[: level + 1]) for level in range(len(shape.arity))]
        for level in range(len(sizes) - 1, -1, -1):
            if index < sizes[level]:
                return self.cables[level]
            index -= sizes[level]
        raise AssertionError(index)

    def _inner(self, level: int) -> int:
        return self.inner[level] if self.inner else 1


def _graph(nodes: int, edges: Mapping[tuple[int, int], int], hosts: int) -> Graph:
    ordered = sorted((min(edge), max(edge), width) for edge, width in edges.items())
    return Graph(
        nodes,
        tuple((u, v) for u, v, _ in ordered),
        nodes - hosts,
        tuple(width for _, _, width in ordered),
    )


def torus_extents(nodes: int) -> tuple[int, int, int]:
    """The most cubic extents of so many nodes, the largest first."""
    best = min(
        (
            (a, b, nodes // (a * b))
            for a, b in itertools.product(range(1, nodes + 1), repeat=2)
            if a * b <= nodes and nodes % (a * b) == 0 and a >= b >= nodes // (a * b)
        ),
        key=lambda extents: (max(extents) - min(extents), extents),
    )
    return best


def fragmented(hosts: int, wanted: int, runs: Sequence[int]) -> tuple[int, ...]:
    """Hosts that a busy machine has left for a job: runs of free hosts between taken ones.

    Args:
        hosts: Of the machine.
        wanted: Hosts of the job, at most `hosts`.
        runs: Lengths of the free runs, used in turn, with taken runs between them that fill up.
    """
    taken = hosts - wanted
    lengths, left = [], wanted
    for length in itertools.cycle(runs):
        if left == 0:
            break
        lengths.append(min(length, left))
        left -= lengths[-1]
    chosen: list[int] = []
    at = 0
    for index, length in enumerate(lengths):
        gap = taken * (index + 1) // len(lengths) - taken * index // len(lengths)
        chosen += range(at, at + length)
        at += length + gap
    return tuple(chosen)

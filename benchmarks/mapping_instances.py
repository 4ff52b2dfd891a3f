"""Mapping problems made by rule: machines of every kind, traffic of every kind, ranks shuffled."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.graph import Graph
from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Network, Shape, Tree
from searchspace.traffic import Traffic

__all__ = ["Instance", "instances", "instances_of_cores", "shuffled_stencil", "stencil"]


@dataclass(frozen=True)
class Instance:
    """A traffic and a machine.

    Attributes:
        known: The best known hop-bytes; None where nobody has looked.
    """

    name: str
    traffic: Traffic
    machine: HopMachine
    known: int | None = None


def fat_tree(spines: int, leaves: int, hosts: int) -> Graph:
    """Leaf switches with `hosts` hosts each, all joined to all spines."""
    count = leaves * hosts
    cables = [(host, count + host // hosts) for host in range(count)]
    cables += [
        (count + leaf, count + leaves + spine)
        for leaf, spine in itertools.product(range(leaves), range(spines))
    ]
    return Graph.from_edges(count + leaves + spines, cables, switches=leaves + spines)


MACHINES: dict[str, Shape] = {
    "tree-256": Tree((4, 4, 16)),
    "tree-512": Tree((2, 8, 4, 8)),
    "tree-240": Tree((3, 5, 16)),
    "tree-180": Tree((5, 3, 12)),
    "tree-420": Tree((7, 6, 10)),
    "tree-324": Tree((6, 3, 3, 6)),
    "torus-8x8x8": Grid((8, 8, 8), wrapped=True),
    "mesh-16x32": Grid((16, 32), wrapped=False),
    "dragonfly-264": Dragonfly(11, 8, 3),
    "dragonfly-512": Dragonfly(16, 8, 4),
    "fat-tree-256": Network(fat_tree(8, 16, 16)),
    "torus-16x16x16": Grid((16, 16, 16), wrapped=True),
    "tree-4096": Tree((8, 16, 32)),
    "torus-32x16x16": Grid((32, 16, 16), wrapped=True),
}
SMALL = 600  # hosts at most in the quick run

# Hosts of several cores, in numbers that divide little.
OF_CORES: dict[str, tuple[Shape, int]] = {
    "torus-6x12 x 12": (Grid((6, 12), wrapped=True), 12),
    "torus-5x14 x 10": (Grid((5, 14), wrapped=True), 10),
    "torus-6x6 x 32": (Grid((6, 6), wrapped=True), 32),
    "torus-5x6x9 x 6": (Grid((5, 6, 9), wrapped=True), 6),
    "torus-6x4x10 x 5": (Grid((6, 4, 10), wrapped=True), 5),
    "mesh-10x14 x 8": (Grid((10, 14), wrapped=False), 8),
    "mesh-7x11 x 14": (Grid((7, 11), wrapped=False), 14),
    "dragonfly-264 x 4": (Dragonfly(11, 8, 3), 4),
    "dragonfly-72 x 10": (Dragonfly(9, 4, 2), 10),
    "dragonfly-105 x 6": (Dragonfly(7, 5, 3), 6),
    "tree-180 x 8": (Tree((5, 4, 9)), 8),
    "tree-168 x 6": (Tree((4, 7, 6)), 6),
    "fat-tree-126 x 6": (Network(fat_tree(5, 9, 14)), 6),
    "fat-tree-60 x 12": (Network(fat_tree(4, 10, 6)), 12),
}


def near_cubic(ranks: int, axes: int) -> tuple[int, ...]:
    """Extents with that product, as equal as can be."""
    extents: list[int] = []
    for left in range(axes, 0, -1):
        root = round(ranks ** (1 / left))
        extent = next(side for side in range(root, 0, -1) if ranks % side == 0)
        extents.append(extent)
        ranks //= extent
    return tuple(extents)


def stencil(
    extents: tuple[int, ...], *, rings: bool, weights: tuple[int, ...], corners: int = 0
) -> Traffic:
    """Neighbours along axis i exchange `weights[i]`, those across an edge of a face `corners`."""
    number = np.arange(math.prod(extents)).reshape(extents)
    ends: list[tuple[NDArray[np.int64], NDArray[np.int64], int]] = []
    for axis, extent in enumerate(extents):
        line = np.moveaxis(number, axis, 0)
        ends.append((line[:-1], line[1:], weights[axis]))
        if rings and extent > 2:
            ends.append((line[-1:], line[:1], weights[axis]))
    if corners:
        for pair in itertools.combinations(range(len(extents)), 2):
            plane = np.moveaxis(number, pair, (0, 1))
            ends.append((plane[:-1, :-1], plane[1:, 1:], corners))
            ends.append((plane[1:, :-1], plane[:-1, 1:], corners))
    return Traffic.from_pairs(
        number.size,
        np.concatenate([one.ravel() for one, _, _ in ends]),
        np.concatenate([other.ravel() for _, other, _ in ends]),
        np.concatenate([np.full(one.size, size) for one, _, size in ends]),
    )


def shuffled_stencil(extents: tuple[int, ...]) -> Traffic:
    """A stencil whose ranks are numbered at random."""
    traffic = stencil(extents, rings=False, weights=(1000,) * len(extents))
    return traffic.renumbered(np.random.default_rng(1).permutation(traffic.ranks))


def scattered(ranks: int, degree: int, skew: float, random: np.random.Generator) -> Traffic:
    """Random pairs; a rank's share of them falls with its number to the power of `skew`."""
    share = (np.arange(ranks) + 1.0) ** -skew
    one, other = random.choice(ranks, (2, ranks * degree // 2), p=share / share.sum())
    return Traffic.from_pairs(ranks, one, other, random.integers(1, 1000, len(one)))


def hierarchical(ranks: int, random: np.random.Generator) -> Traffic:
    """Random pairs in groups of 4, 16, 64, ...; each level exchanges a quarter of the one below."""
    one, other, size = [], [], []
    group, weight = 4, 1000
    while group <= ranks:
        for begin in range(0, ranks, group):
            end = min(begin + group, ranks)
            one.append(random.integers(begin, end, 2 * (end - begin)))
            other.append(random.integers(begin, end, 2 * (end - begin)))
            size.append(np.full(2 * (end - begin), max(weight, 1)))
        group, weight = 4 * group, weight // 4
    return Traffic.from_pairs(ranks, *map(np.concatenate, (one, other, size)))


def patterns(hosts: int, random: np.random.Generator) -> Iterator[tuple[str, Traffic]]:
    """Every kind of traffic for a machine of so many hosts."""
    two, three, few = near_cubic(hosts, 2), near_cubic(hosts, 3), 3 * hosts // 4
    even = (1000, 1000, 1000)
    yield "ring", stencil((hosts,), rings=True, weights=even)
    yield "stencil-2d", stencil(two, rings=False, weights=even)
    yield "stencil-2d-periodic", stencil(two, rings=True, weights=even)
    yield "stencil-3d", stencil(three, rings=False, weights=even)
    yield "stencil-3d-periodic", stencil(three, rings=True, weights=(1000, 500, 100))
    yield "stencil-3d-corners", stencil(three, rings=False, weights=even, corners=100)
    yield "stencil-2d-few", stencil(near_cubic(few, 2), rings=False, weights=even)
    yield "random", scattered(hosts, 8, 0, random)
    yield "random-few", scattered(few, 8, 0, random)
    yield "power-law", scattered(hosts, 8, 0.7, random)
    yield "hierarchical", hierarchical(hosts, random)


def shuffled_patterns(name: str, machine: HopMachine, seed: list[int]) -> Iterator[Instance]:
    """A machine with every kind of traffic."""
    random = np.random.default_rng(seed)
    for pattern, traffic in patterns(machine.places, random):
        shuffled = traffic.renumbered(random.permutation(traffic.ranks))
        yield Instance(f"{name} {pattern}", shuffled, machine)


def instances(*, seed: int, quick: bool) -> Iterator[Instance]:
    """All machines of one core a host with all traffic."""
    for name, shape in MACHINES.items():
        machine = HopMachine.uniform(shape)
        if quick and machine.hosts > SMALL:
            continue
        yield from shuffled_patterns(name, machine, [seed, machine.hosts])


def instances_of_cores(*, seed: int) -> Iterator[Instance]:
    """All machines whose hosts have several cores, with all traffic."""
    for name, (shape, cores) in OF_CORES.items():
        machine = HopMachine.uniform(shape, cores)
        yield from shuffled_patterns(name, machine, [seed, machine.hosts, cores])

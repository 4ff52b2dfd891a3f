"""The least hop-bytes that there can be, by formula, where traffic and machine suit each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.mapping_instances import Instance, stencil
from searchspace.hop_machine import Dragonfly, Grid, HopMachine, Tree
from searchspace.traffic import Traffic

__all__ = ["planted_instances"]

BYTES = 1000
TREES = {"tree-256": (4, 4, 16), "tree-512": (2, 8, 4, 8), "tree-4096": (4, 16, 4, 16)}
TORI = {"torus-8x8x8": (8, 8, 8), "torus-16x16x16": (16, 16, 16), "torus-32x16x16": (32, 16, 16)}
DRAGONFLIES = {"dragonfly-256": Dragonfly(8, 8, 4), "dragonfly-512": Dragonfly(16, 8, 4)}


def _even(axes: int) -> tuple[int, ...]:
    return (BYTES,) * axes


def ring(ranks: int) -> Traffic:
    return stencil((ranks,), rings=True, weights=_even(1))


def parts_of_tree(arity: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """How many nodes each level has, and how many leaves are below each; the root's excepted."""
    leaves = math.prod(arity)
    for level in range(1, len(arity) + 1):
        nodes = math.prod(arity[:level])
        yield nodes, leaves // nodes


def ring_on_tree(arity: tuple[int, ...]) -> int:
    """Two flows leave every set of consecutive ranks, the fewest; each flow leaves two sets."""
    return sum(2 * BYTES * nodes for nodes, _ in parts_of_tree(arity) if nodes > 1)


def square_on_tree(traffic: Traffic, arity: tuple[int, ...]) -> int:
    """What all flows cost that cannot stay within a set of s points.

    At most 2s - ceil(2 sqrt s) pairs in a set are neighbours in a square lattice (Harary and
    Harborth 1976). Reached where blocks of that shape nest.
    """
    flows = traffic.total // BYTES
    outside = (
        flows - nodes * (2 * size - math.ceil(2 * math.sqrt(size)))
        for nodes, size in parts_of_tree(arity)
    )
    return sum(2 * BYTES * max(0, count) for count in outside)


def nested(arity: tuple[int, ...]) -> tuple[Traffic, int]:
    """Traffic of all pairs, ten times as much a level further down the tree, and its hop-bytes.

    The tree's own order is best, since every level holds the heaviest pairs that it can.
    """
    machine = HopMachine.uniform(Tree(arity))
    every = np.arange(machine.places, dtype=np.uint32)
    levels = machine.hops.table(every, every).astype(np.int64) // 2
    rows, columns = np.nonzero(np.triu(levels, k=1))
    apart = levels[rows, columns]
    size = 10 ** (len(arity) - apart)
    traffic = Traffic.from_pairs(machine.places, rows, columns, size)
    return traffic, int((2 * size * apart).sum())


def hosts_of_dragonfly(shape: Dragonfly) -> tuple[Traffic, int]:
    """All hosts of a router exchange, nothing else: two hops a flow."""
    routers = shape.groups * shape.routers
    pairs = np.array(np.triu_indices(shape.nodes, k=1))
    first = np.arange(routers)[:, None] * shape.nodes
    one, other = ((first + end).ravel() for end in pairs)
    traffic = Traffic.from_pairs(
        routers * shape.nodes, one, other, np.full(len(one), BYTES, dtype=np.int64)
    )
    return traffic, 2 * traffic.total


def ring_on_dragonfly(shape: Dragonfly) -> int:
    """Two flows leave every router, the fewest, and take three hops at least; the others two."""
    routers = shape.groups * shape.routers
    return BYTES * (2 * routers * shape.nodes + routers)


def _cases() -> Iterator[tuple[str, Traffic, HopMachine, int]]:
    for name, arity in TREES.items():
        machine = HopMachine.uniform(Tree(arity))
        yield f"{name} ring", ring(machine.hosts), machine, ring_on_tree(arity)
        side = 2 ** (machine.hosts.bit_length() // 2)
        square = stencil((side, machine.hosts // side), rings=False, weights=_even(2))
        yield f"{name} stencil-2d", square, machine, square_on_tree(square, arity)
        if machine.hosts <= 512:
            traffic, least = nested(arity)
            yield f"{name} hierarchical", traffic, machine, least
    for name, dims in TORI.items():
        machine = HopMachine.uniform(Grid(dims, wrapped=True))
        for pattern, traffic in (
            ("ring", ring(machine.hosts)),
            ("stencil-3d", stencil(dims, rings=False, weights=_even(3))),
            ("stencil-3d-periodic", stencil(dims, rings=True, weights=(1000, 500, 100))),
        ):
            yield f"{name} {pattern}", traffic, machine, traffic.total
    for name, shape in DRAGONFLIES.items():
        machine = HopMachine.uniform(shape)
        yield f"{name} ring", ring(machine.hosts), machine, ring_on_dragonfly(shape)
        traffic, least = hosts_of_dragonfly(shape)
        yield f"{name} hierarchical", traffic, machine, least


def planted_instances(seed: int) -> Iterator[Instance]:
    """Ranks shuffled; `known` is the least hop-bytes that there can be."""
    random = np.random.default_rng(seed)
    for name, traffic, machine, least in _cases():
        shuffled = traffic.renumbered(random.permutation(traffic.ranks))
        yield Instance(name, shuffled, machine, least)

"""What ranks exchange in studies of mappings: matrices partitioned, meshes refined, hierarchies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from searchspace.hop_machine import HopMachine, Tree
from searchspace.mapping import map_ranks
from searchspace.mapping.curves import along
from searchspace.traffic import Traffic

__all__ = [
    "crankshaft",
    "engine",
    "hierarchical",
    "kkt",
    "partitioned",
    "refined_mesh",
    "stencil",
]

Points = NDArray[np.int64]


def stencil(extents: Sequence[int], size: int) -> Traffic:
    """A grid of ranks, row by row, that exchange `size` bytes each way with their neighbours."""
    points = np.array(list(itertools.product(*map(range, extents))), dtype=np.int64)
    one, other = _neighbours(points, np.eye(len(extents), dtype=np.int64))
    return Traffic.from_pairs(len(points), one, other, np.full(len(one), 2 * size))


def crankshaft(points: int) -> Traffic:
    """The graph of a stiffness matrix like F1's: a solid shaft with cranks, 26 neighbours a point.

    Args:
        points: About how many nodes the mesh has.
    """
    unit = max(1.0, (points / 58.0) ** (1 / 3))  # so that the solid has about that many points
    length, half = math.ceil(12 * unit), math.ceil(3.2 * unit)
    axis = np.arange(-half, half + 1)
    x, y, z = np.meshgrid(np.arange(length), axis, axis, indexing="ij")
    turn = np.floor(x / (3 * unit)) * (math.pi / 2)
    journal = y**2 + z**2 <= unit**2
    web = (x % (3 * unit) >= unit) & (x % (3 * unit) < 2 * unit)
    pin = (y - 1.5 * unit * np.cos(turn)) ** 2 + (z - 1.5 * unit * np.sin(turn)) ** 2
    solid = journal | (web & (pin <= (1.3 * unit) ** 2))
    return _mesh_graph(np.argwhere(solid))


def engine(points: int) -> Traffic:
    """The graph of a stiffness matrix like audikw_1's: a block with bores, 26 neighbours a point.

    Args:
        points: About how many nodes the mesh has.
    """
    unit = max(1.0, (points / 20.5) ** (1 / 3))
    length, width, height = (math.ceil(extent * unit) for extent in (4, 2, 4))
    x, y, z = np.meshgrid(np.arange(length), np.arange(width), np.arange(height), indexing="ij")
    bore = ((x % unit) - unit / 2) ** 2 + (y - unit) ** 2 <= (0.42 * unit) ** 2
    hollow = (z > unit) & (z < 3 * unit) & (y > 1.5 * unit)
    return _mesh_graph(np.argwhere(~(bore | hollow)))


def kkt(side: int) -> Traffic:
    """The graph of a KKT matrix like nlpkkt120's: states and multipliers on a cube of points.

    Every state is coupled to its multiplier and to the multipliers of the six neighbours, and to
    itself in the Hessian; so are the multipliers, the other way round.
    """
    points = np.array(list(itertools.product(range(side), repeat=3)), dtype=np.int64)
    one, other = _neighbours(points, np.eye(3, dtype=np.int64))
    count = len(points)
    own = np.arange(count)
    rows = np.concatenate((own, one, other))
    columns = np.concatenate((own, other, one)) + count
    return Traffic.from_pairs(2 * count, rows, columns, np.ones(len(rows), dtype=np.int64))


def partitioned(matrix: Traffic, parts: int, *, bytes_a_row: int, seed: int) -> Traffic:
    """What the owners of the parts of a matrix exchange to multiply it by a vector.

    METIS cuts the graph into equal parts (through the mapper `recursive-tree` on a machine of one
    level); an owner sends every row that another part refers to once.

    Args:
        matrix: The graph, a rank a row.
        parts: Into how many.
        bytes_a_row: Bytes of a row's entries of the vector.
        seed: Of METIS.
    """
    machine = HopMachine.uniform(Tree((parts,)), -(-matrix.ranks // parts))
    places = map_ranks("recursive-tree", matrix, machine, seed=seed, scope="inter")
    part = machine.place_hosts[places].astype(np.int64)
    one, other, _ = matrix.pairs
    crossing = part[one] != part[other]
    one, other = one[crossing], other[crossing]
    rows, receivers = np.concatenate((one, other)), part[np.concatenate((other, one))]
    sent = np.unique(rows * parts + receivers)
    senders, receivers = part[sent // parts], sent % parts
    return Traffic.from_pairs(
        parts, senders, receivers, np.full(len(sent), bytes_a_row, dtype=np.int64)
    )


def refined_mesh(ranks: int, *, cells: int, bytes_a_face: int, seed: int) -> Traffic:
    """What ranks exchange over an adaptively refined cube cut along a Hilbert curve (as ART's).

    Halos draw refinement; a cell is split into eight twice at most. Ranks have equal shares of the
    cells, in the order of the curve, and exchange what the faces between cells need.

    Args:
        ranks: How many.
        cells: Along each axis before refinement, a power of two.
        bytes_a_face: Bytes that go each way through the face of a smallest cell.
        seed: Of the places of the halos.
    """
    draw = np.random.default_rng(seed)
    centres = draw.random((12, 3)) * cells
    reach = draw.uniform(0.04, 0.12, 12) * cells
    fine = 4  # smallest cells along a side of a coarse one
    coarse = np.array(list(itertools.product(range(cells), repeat=3)), dtype=np.int64)
    near = np.min(
        np.linalg.norm(coarse[:, None, :] + 0.5 - centres[None], axis=2) / reach[None], axis=1
    )
    level = np.where(near < 0.5, 2, np.where(near < 1, 1, 0))
    corners, sides = [], []
    for depth in range(3):
        step = fine >> depth
        offsets = np.array(list(itertools.product(range(0, fine, step), repeat=3)), dtype=np.int64)
        chosen = coarse[level == depth] * fine
        corners.append((chosen[:, None, :] + offsets[None]).reshape(-1, 3))
        sides.append(np.full(len(corners[-1]), step))
    corner, extent = np.concatenate(corners), np.concatenate(sides)
    order = along("hilbert", corner)
    owner = np.empty(len(order), dtype=np.int64)
    owner[order] = np.arange(len(order)) * ranks // len(order)
    owners = np.zeros((cells * fine,) * 3, dtype=np.int32)
    for step in (1, 2, 4):
        which = extent == step
        for offset in itertools.product(range(step), repeat=3):
            at = corner[which] + np.array(offset)
            owners[at[:, 0], at[:, 1], at[:, 2]] = owner[which]
    one, other = [], []
    for axis in range(3):
        below = np.take(owners, range(cells * fine - 1), axis=axis).ravel()
        above = np.take(owners, range(1, cells * fine), axis=axis).ravel()
        apart = below != above
        one.append(below[apart])
        other.append(above[apart])
    firsts, seconds = np.concatenate(one), np.concatenate(other)
    return Traffic.from_pairs(
        ranks, firsts, seconds, np.full(len(firsts), 2 * bytes_a_face, dtype=np.int64)
    )


def hierarchical(ranks: int, *, seed: int) -> Traffic:
    """A random matrix with a clear hierarchy (Jeannot 2010, section 5.1), its ranks shuffled.

    Pairs exchange most, pairs of pairs about a fourth, and so on, each within 20%.
    """
    draw = np.random.default_rng(seed)
    widths, rest = [], ranks
    while rest % 2 == 0:
        widths.append(2)
        rest //= 2
    if rest > 1:
        widths.append(rest)
    matrix = np.zeros((ranks, ranks))
    block, size = 1, float(4 ** len(widths)) * 1000
    number = np.arange(ranks)
    for width in widths:
        parent = number // (block * width)
        together = (parent[:, None] == parent[None]) & (
            number[:, None] // block != number[None] // block
        )
        noise = draw.uniform(0.8, 1.2, matrix.shape)
        matrix += together * size * noise
        block, size = block * width, size / 4
    return Traffic.from_dense(np.triu(matrix, 1).astype(np.int64)).renumbered(
        draw.permutation(ranks)
    )


def _neighbours(
    points: Points, steps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of points, by their numbers, that are one of the steps apart."""
    shifted = points - points.min(axis=0) + 1  # so that a step never wraps around
    extents = shifted.max(axis=0) + 2
    strides = np.array([math.prod(extents[axis + 1 :].tolist()) for axis in range(points.shape[1])])
    number = np.full(int(extents.prod()), -1, dtype=np.int64)
    keys = shifted @ strides
    number[keys] = np.arange(len(points))
    one, other = [], []
    for step in steps:
        there = number[keys + step @ strides]
        inside = there >= 0
        one.append(np.flatnonzero(inside))
        other.append(there[inside])
    return np.concatenate(one), np.concatenate(other)


_HALF_CUBE = np.array(
    [step for step in itertools.product((-1, 0, 1), repeat=3) if step > (0, 0, 0)], dtype=np.int64
)


def _mesh_graph(points: Points) -> Traffic:
    one, other = _neighbours(points, _HALF_CUBE)
    return Traffic.from_pairs(len(points), one, other, np.ones(len(one), dtype=np.int64))

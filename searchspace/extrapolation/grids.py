"""Grids of ranks, and where a rank stands in one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LABELLINGS", "GridRule", "coordinates", "dims_create", "grid_rules", "strides"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class GridRule:
    """How so many ranks form a grid.

    Attributes:
        name: In words.
        dims: Extents of so many ranks, the axis along which rank numbers change slowest first; None
            where the rule does not fit.
    """

    name: str
    dims: Callable[[int], tuple[int, ...] | None]


def dims_create(ranks: int, axes: int) -> tuple[int, ...]:
    """Extents as close to each other as can be, largest first, as `MPI_Dims_create` gives them.

    Example:
        >>> dims_create(128, 3), dims_create(24, 2)
        ((8, 4, 4), (6, 4))
    """
    best: tuple[int, ...] = (ranks, *[1] * (axes - 1))
    for split in _splits(ranks, axes, ranks):
        if split[0] - split[-1] < best[0] - best[-1]:
            best = split
    return best


def _splits(ranks: int, axes: int, most: int) -> Iterator[tuple[int, ...]]:
    if axes == 1:
        if ranks <= most:
            yield (ranks,)
        return
    for first in range(min(most, ranks), 0, -1):
        if ranks % first == 0 and first**axes >= ranks:
            for rest in _splits(ranks // first, axes - 1, first):
                yield (first, *rest)


def grid_rules(ranks: Sequence[int]) -> list[GridRule]:
    """The grids that runs of these numbers of ranks may have, simple ones first."""
    rules = [GridRule("a line", lambda p: (p,))]
    for axes in (2, 3):
        rules += [
            GridRule(f"a {axes}-D grid, longest axis first", _balanced(axes, reverse=False)),
            GridRule(f"a {axes}-D grid, longest axis last", _balanced(axes, reverse=True)),
        ]
    common = math.gcd(*ranks)
    for width in range(2, min(common, 512) + 1):
        if common % width == 0:
            rules += [
                GridRule(f"rows of {width}", _fixed(width, first=False)),
                GridRule(f"{width} rows", _fixed(width, first=True)),
            ]
    return rules


def _balanced(axes: int, *, reverse: bool) -> Callable[[int], tuple[int, ...] | None]:
    def dims(ranks: int) -> tuple[int, ...] | None:
        split = dims_create(ranks, axes)
        return split[::-1] if reverse else split

    return dims


def _fixed(width: int, *, first: bool) -> Callable[[int], tuple[int, ...] | None]:
    def dims(ranks: int) -> tuple[int, ...] | None:
        if ranks % width:
            return None
        return (width, ranks // width) if first else (ranks // width, width)

    return dims


def strides(dims: Sequence[int]) -> Ints:
    """How far apart neighbours along each axis are in rank numbers."""
    return np.array([math.prod(dims[axis + 1 :]) for axis in range(len(dims))], dtype=np.int64)


def coordinates(index: Ints, dims: Sequence[int]) -> Ints:
    """Places along each axis, of shape (axes, ranks)."""
    return np.stack(np.unravel_index(index, tuple(dims))).astype(np.int64)


def _alike(places: Ints, dims: Sequence[int]) -> Ints:
    return np.zeros(places.shape[1], dtype=np.int64)


def _diagonal(places: Ints, dims: Sequence[int]) -> Ints:
    if len(dims) != 2 or dims[0] != dims[1]:
        return _alike(places, dims)
    return np.asarray(places[0] == places[1], dtype=np.int64)


def _borders(places: Ints, dims: Sequence[int]) -> Ints:
    label = _alike(places, dims)
    for place, extent in zip(places, dims, strict=True):
        label = 4 * label + (place == 0) + 2 * (place == extent - 1)
    return label


def _first(places: Ints, dims: Sequence[int]) -> Ints:
    return np.asarray((places == 0).all(axis=0), dtype=np.int64)


def _parity(places: Ints, dims: Sequence[int]) -> Ints:
    label = _alike(places, dims)
    for place in places:
        label = 2 * label + place % 2
    return label


def _both(one: Callable[..., Ints], other: Callable[..., Ints]) -> Callable[..., Ints]:
    def label(places: Ints, dims: Sequence[int]) -> Ints:
        return one(places, dims) * 4096 + other(places, dims)

    return label


LABELLINGS: tuple[tuple[str, Callable[[Ints, Sequence[int]], Ints]], ...] = (
    ("all ranks do alike", _alike),
    ("rank 0 and the others", _first),
    ("the diagonal and the others", _diagonal),
    ("corners, edges and the interior", _borders),
    ("corners, edges, the interior and the diagonal", _both(_borders, _diagonal)),
    ("even and odd places", _parity),
    ("corners, edges and the interior, even and odd", _both(_borders, _parity)),
)
"""Ways to put ranks into classes by where they stand in a grid, coarse ones first."""

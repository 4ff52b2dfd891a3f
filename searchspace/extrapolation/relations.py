"""Whom a rank names: a number as a function of where the rank stands in a grid.

Each function here is fitted to all ranks of a class in all known runs, and only taken where it
gives every one of their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from searchspace.extrapolation.errors import NoPattern
from searchspace.extrapolation.grids import coordinates, strides

__all__ = ["Place", "Relation", "fit_number", "fit_peer", "fit_peers_of_loop"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Place:
    """Where some ranks stand among others: in the world, or in a communicator.

    Attributes:
        index: Their numbers among these.
        dims: The grid of all of these.
    """

    index: Ints
    dims: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many ranks there are in all."""
        return math.prod(self.dims)

    @property
    def places(self) -> Ints:
        """Coordinates, of shape (axes, ranks)."""
        return coordinates(self.index, self.dims)


@dataclass(frozen=True)
class Relation:
    """A function from places to numbers.

    Attributes:
        name: In words; relations of one name are one relation.
        of: The function.
        direction: The axis of the grid along which it goes, if it goes along one.
    """

    name: str
    of: Callable[[Place], Ints]
    direction: int | None = None


def fit_peer(places: Sequence[Place], peers: Sequence[Ints]) -> Relation:
    """The relation of ranks to their peers in one operation.

    Args:
        places: Of the ranks of a class, in each known run.
        peers: Their peers there.

    Raises:
        NoPattern: None of those known gives all peers.
    """
    for relation in _peer_relations(places, peers):
        if _gives(relation, places, peers):
            return relation
    raise NoPattern(
        f"the peers of an operation follow no pattern that is known: of rank "
        f"{places[-1].index[0]} of {places[-1].size} it is {peers[-1][0]}"
    )


def fit_number(places: Sequence[Place], numbers: Sequence[Ints]) -> Relation:
    """The relation of ranks to a color or key.

    Raises:
        NoPattern: None of those known gives all numbers.
    """
    candidates = [
        Relation("own number", lambda place: place.index),
        *(Relation(f"place along axis {a}", _along(a)) for a in range(len(places[0].dims))),
        *_constants(numbers),
        *(
            relation
            for width in _widths(places)
            for relation in (
                Relation(f"number / {width}", partial(_quotient, width)),
                Relation(f"number mod {width}", partial(_remainder, width)),
            )
        ),
        Relation("numbers backwards", lambda place: place.size - 1 - place.index),
    ]
    for relation in candidates:
        if _gives(relation, places, numbers):
            return relation
    raise NoPattern("the colors or keys of a split follow no pattern that is known")


def fit_peers_of_loop(
    places: Sequence[Place], peers: Sequence[Sequence[Ints]]
) -> Callable[[int, int], Relation]:
    """The peers in a loop that goes round more often on more ranks.

    Args:
        places: Of the ranks of a class, in each known run.
        peers: Their peers there, by iteration.

    Returns:
        The relation of an iteration, by its number and how many there are.

    Raises:
        NoPattern: No relation known gives all peers.
    """
    for make in _loop_relations(len(places[0].dims)):
        if all(
            _gives(make(step, len(steps)), [place], [of_step])
            for place, steps in zip(places, peers, strict=True)
            for step, of_step in enumerate(steps)
        ):
            return make
    same = fit_peer(
        [place for place, steps in zip(places, peers, strict=True) for _ in steps],
        [of_step for steps in peers for of_step in steps],
    )
    return lambda step, steps: same


def _gives(relation: Relation, places: Sequence[Place], numbers: Sequence[Ints]) -> bool:
    return all(
        np.array_equal(relation.of(place), wanted)
        for place, wanted in zip(places, numbers, strict=True)
    )


def _along(axis: int) -> Callable[[Place], Ints]:
    return lambda place: place.places[axis]


def _widths(places: Sequence[Place]) -> list[int]:
    common = math.gcd(*(place.size for place in places))
    return [width for width in range(2, min(common, 512) + 1) if common % width == 0]


def _constants(numbers: Sequence[Ints]) -> Iterator[Relation]:
    first = int(numbers[0][0])
    yield Relation(str(first), lambda place: np.full(len(place.index), first))
    yield Relation("the last", lambda place: np.full(len(place.index), place.size - 1))


def _peer_relations(places: Sequence[Place], peers: Sequence[Ints]) -> Iterator[Relation]:
    axes = len(places[0].dims)
    for axis in range(axes):
        for step in _steps_along(axis, places[-1], peers[-1]):
            yield _shift(axis, step)
    yield from _constants(peers)
    for offset in _offsets(places[-1], peers[-1]):
        yield _offset(offset)
    for bit in range(62):
        if 1 << bit >= places[-1].size:
            break
        yield Relation(f"bit {bit} flipped", partial(_flipped, 1 << bit))
    for axis in range(axes):
        for power in range(1, 12):
            yield _flip_high(axis, power)
    if axes == 2:
        yield Relation("across the diagonal", _transpose)
    yield Relation("numbers backwards", lambda place: place.size - 1 - place.index)
    yield Relation("parent in a binary tree", lambda place: (place.index - 1) // 2)
    yield Relation("left child in a binary tree", lambda place: 2 * place.index + 1)
    yield Relation("right child in a binary tree", lambda place: 2 * place.index + 2)
    yield Relation("parent in a binomial tree", lambda place: place.index & (place.index - 1))


def _steps_along(axis: int, place: Place, peers: Ints) -> list[int]:
    """The step along an axis from the first rank to its peer, and the same round the other end."""
    there = coordinates(np.clip(peers[:1], 0, place.size - 1), place.dims)[:, 0]
    here = place.places[:, 0]
    if any(there[a] != here[a] for a in range(len(place.dims)) if a != axis):
        return []
    step, extent = int(there[axis] - here[axis]), place.dims[axis]
    steps = {step, step - extent, step + extent} - {0}
    return sorted((s for s in steps if abs(s) < extent), key=lambda s: (abs(s), s))


def _shift(axis: int, step: int) -> Relation:
    def of(place: Place) -> Ints:
        where = place.places
        where[axis] = (where[axis] + step) % place.dims[axis]
        return np.asarray(np.ravel_multi_index(tuple(where), place.dims), dtype=np.int64)

    return Relation(f"{step:+} along axis {axis}", of, axis)


def _offsets(place: Place, peers: Ints) -> list[tuple[int, ...]]:
    """Steps along several axes at once, as between the corners of a stencil."""
    there = coordinates(np.clip(peers[:1], 0, place.size - 1), place.dims)[:, 0]
    here = place.places[:, 0]
    centred = [
        int((t - h + e // 2) % e - e // 2) for t, h, e in zip(there, here, place.dims, strict=True)
    ]
    plain = [int(t - h) for t, h in zip(there, here, strict=True)]
    return list(dict.fromkeys([tuple(centred), tuple(plain)]))


def _offset(offset: tuple[int, ...]) -> Relation:
    def of(place: Place) -> Ints:
        where = place.places
        for axis, step in enumerate(offset):
            where[axis] = (where[axis] + step) % place.dims[axis]
        return np.asarray(np.ravel_multi_index(tuple(where), place.dims), dtype=np.int64)

    return Relation(f"steps {offset}", of)


def _flipped(mask: int, place: Place) -> Ints:
    return place.index ^ mask


def _quotient(width: int, place: Place) -> Ints:
    return place.index // width


def _remainder(width: int, place: Place) -> Ints:
    return place.index % width


def _flip_low(axis: int, bit: int) -> Relation:
    """To the rank whose place along an axis differs in one bit, counted from the lowest."""

    def of(place: Place) -> Ints:
        return _flipped(int(strides(place.dims)[axis]) << bit, place)

    return Relation(f"bit {bit} of axis {axis} flipped", of, axis)


def _flip_high(axis: int, power: int) -> Relation:
    """The same, counted from the highest."""

    def of(place: Place) -> Ints:
        return _flipped(int(strides(place.dims)[axis]) * (place.dims[axis] >> power), place)

    return Relation(f"1/{1 << power} of axis {axis} flipped", of, axis)


def _transpose(place: Place) -> Ints:
    rows, columns = place.dims
    if rows != columns:
        return np.full(len(place.index), -1)
    return (place.index % columns) * columns + place.index // columns


def _loop_relations(axes: int) -> Iterator[Callable[[int, int], Relation]]:
    for axis in range(axes):
        for bit in range(8):
            yield partial(_low_flip, axis, bit)
            yield partial(_high_flip, axis, bit)
        for sign in (1, -1):
            for step_of in (_doubling, _halving, _counting_up, _counting_down):
                yield partial(_shift_of_round, axis, sign, step_of)


def _low_flip(axis: int, bit: int, step: int, steps: int) -> Relation:
    return _flip_low(axis, step + bit)


def _high_flip(axis: int, bit: int, step: int, steps: int) -> Relation:
    return _flip_high(axis, step + bit + 1)


def _shift_of_round(
    axis: int, sign: int, step_of: Callable[[int, int], int], step: int, steps: int
) -> Relation:
    return _shift(axis, sign * step_of(step, steps))


def _doubling(step: int, steps: int) -> int:
    return 1 << step


def _halving(step: int, steps: int) -> int:
    return 1 << (steps - 1 - step)


def _counting_up(step: int, steps: int) -> int:
    return step + 1


def _counting_down(step: int, steps: int) -> int:
    return steps - step

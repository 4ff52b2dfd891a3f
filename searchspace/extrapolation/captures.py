"""What captures tell: the operations that ranks share, and what each rank has of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.extrapolation.errors import NoPattern
from searchspace.formats.operations import Operation, decode
from searchspace.formats.trace import TraceHeader, read_header
from searchspace.kernels._native import shared_parts

__all__ = ["Capture", "Membership", "read_captures"]

Ints = NDArray[np.int64]
_PARTIES = {"peer", "to", "from", "color", "key"}


@dataclass(frozen=True)
class Membership:
    """A communicator of every rank: which one, its place in it, how many are in it."""

    group: Ints
    place: Ints
    size: Ints
    dims: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Capture:
    """A trace taken apart.

    Attributes:
        path: The file.
        header: Its header.
        encoded: Shared operations, encoded.
        flops: Lists of flops; the first is empty.
        calls: Of each rank, which of the shared operations it has.
        computes: Of each rank, which list of flops.
        parties: Of each rank, whom it names, by place.
    """

    path: Path
    header: TraceHeader
    encoded: tuple[bytes, ...]
    flops: tuple[NDArray[np.float64], ...]
    calls: Ints
    computes: Ints
    parties: tuple[Ints, ...]

    @property
    def ranks(self) -> int:
        """How many there are."""
        return len(self.calls)

    @cached_property
    def streams(self) -> tuple[list[Operation], ...]:
        """The shared operations, decoded; peers, colors and keys are places of parties."""
        return tuple(list(decode(encoded, shared=True)) for encoded in self.encoded)

    @cached_property
    def contents(self) -> tuple[list[int], ...]:
        """For each operation of each stream a number that equal ones share."""
        known: dict[object, int] = {}
        return tuple(
            [
                known.setdefault((operation.name, repr(operation.fields)), len(known))
                for operation in stream
            ]
            for stream in self.streams
        )

    @lru_cache(maxsize=4096)  # noqa: B019 - captures live as long as the process needs them
    def computations(self, stream: int) -> dict[int, int]:
        """Of each computation of a stream by its index, how many come before it."""
        names = [operation.name for operation in self.streams[stream]]
        indices = [index for index, name in enumerate(names) if name == "compute"]
        return {index: number for number, index in enumerate(indices)}

    def party(self, ranks: Ints, operation: int, field: str) -> Ints:
        """What ranks name in an operation."""
        found = np.empty(len(ranks), dtype=np.int64)
        for index, rank in enumerate(ranks):
            place = self.streams[self.calls[rank]][operation].fields[field]
            assert isinstance(place, int)
            found[index] = place if place < 0 else self.parties[rank][place]
        return found


def read_captures(paths: Sequence[Path]) -> list[Capture]:
    """Read captures of one program, smallest first.

    Raises:
        InvalidInput: A file is no trace, a truncated one, or one of another program; or two have as
            many ranks.
    """
    captures = sorted((_read(path) for path in paths), key=lambda capture: capture.ranks)
    programs = {capture.header.program for capture in captures}
    if len(programs) > 1:
        raise InvalidInput(
            f"the traces are of several programs: {', '.join(sorted(programs))}; give captures of "
            "one program"
        )
    for one, other in pairwise(captures):
        if one.ranks == other.ranks:
            raise InvalidInput(
                f"{one.path.name} and {other.path.name} both have {one.ranks} ranks; give captures "
                "of different numbers of ranks"
            )
    return captures


def _read(path: Path) -> Capture:
    header = read_header(path)
    if header.weights is not None:
        raise InvalidInput(f"{path.name} was truncated; extrapolate from whole traces")
    try:
        calls, flops, entries, _ = shared_parts(str(path))
    except RuntimeError as error:
        raise InvalidInput(f"{path.name}: {error}") from error
    return Capture(
        path,
        header,
        tuple(calls),
        tuple(flops),
        np.array([entry[0] for entry in entries], dtype=np.int64),
        np.array([entry[1] for entry in entries], dtype=np.int64),
        tuple(np.asarray(entry[2], dtype=np.int64) for entry in entries),
    )


def world(ranks: int) -> list[Membership]:
    """The communicators that every rank begins with."""
    everyone = np.arange(ranks)
    alone = np.zeros(ranks, dtype=np.int64)
    return [
        Membership(alone, everyone, np.full(ranks, ranks)),
        Membership(everyone, alone, np.ones(ranks, dtype=np.int64)),
    ]


def split(parent: Membership, color: Ints, key: Ints) -> Membership:
    """What `MPI_Comm_split` makes, which every rank calls."""
    if (color < 0).any():
        raise NoPattern("some ranks take no part in a split, which cannot be extrapolated")
    order = np.lexsort((parent.place, key, color, parent.group))
    pairs = np.stack([parent.group, color])[:, order]
    first = np.concatenate([[True], (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)])
    number = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    group, place, size = (np.empty_like(order) for _ in range(3))
    group[order] = number
    place[order] = np.arange(len(order)) - starts[number]
    size[order] = np.diff(np.append(starts, len(order)))[number]
    return Membership(group, place, size)


def subgrid(parent: Membership, remain: Sequence[int]) -> Membership:
    """What `MPI_Cart_sub` makes."""
    if not parent.dims:
        raise NoPattern("a grid is cut that was not made by MPI_Cart_create")
    places = np.stack(np.unravel_index(parent.place, parent.dims))
    kept = [axis for axis, keep in enumerate(remain) if keep]
    dropped = [axis for axis, keep in enumerate(remain) if not keep]

    def number(axes: list[int]) -> Ints:
        total = np.zeros(len(parent.place), dtype=np.int64)
        for axis in axes:
            total = total * parent.dims[axis] + places[axis]
        return total

    made = split(parent, number(dropped), number(kept))
    return Membership(made.group, made.place, made.size, tuple(parent.dims[a] for a in kept))

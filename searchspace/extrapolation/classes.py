"""Classes of ranks: those that do alike because they stand alike in the grid of ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from searchspace.extrapolation.captures import Capture, Ints
from searchspace.extrapolation.errors import NoPattern
from searchspace.extrapolation.grids import LABELLINGS, GridRule, coordinates
from searchspace.extrapolation.loops import Aligned, Key, align
from searchspace.formats.operations import Operation

__all__ = ["Pattern", "aligned", "patterns"]

_SAME_WORK = 0.01
"""Relative difference of what two ranks compute up to which they may do alike."""
_SIZES = ("count", "send_count", "recv_count")
_GROWS = {"recv_counts", "send_counts", "counts", "send_bytes", "recv_bytes", "dims"}


@dataclass(frozen=True)
class Pattern:
    """A grid of ranks, and how ranks are put into classes.

    Attributes:
        rule: The grid of any number of ranks.
        name: What the classes are.
        dims: The grids of the known runs and, last, of the wanted one.
        labels: The class of each rank there.
        even: Whether the ranks of a class compute the same.
    """

    rule: GridRule
    name: str
    dims: tuple[tuple[int, ...], ...]
    labels: tuple[Ints, ...]
    even: bool

    @cached_property
    def classes(self) -> list[int]:
        """Those of the wanted run."""
        return [int(label) for label in np.unique(self.labels[-1])]

    def members(self, run: int, label: int) -> Ints:
        """The ranks of a class in a run; -1 is the wanted one."""
        return np.flatnonzero(self.labels[run] == label)


def patterns(captures: Sequence[Capture], target: int, rules: Sequence[GridRule]) -> list[Pattern]:
    """All ways to see the ranks that are true of all captures, simple ones first.

    Raises:
        NoPattern: There is none.
    """
    shapes = _shapes(captures)
    loads = [_loads(capture) for capture in captures]
    found = []
    for rule in rules:
        dims = [rule.dims(ranks) for ranks in (*(c.ranks for c in captures), target)]
        if any(extents is None for extents in dims):
            continue
        known = tuple(extents for extents in dims if extents is not None)
        for name, label in LABELLINGS:
            labels = tuple(_labels(label, extents) for extents in known)
            present = [set(np.unique(of_run).tolist()) for of_run in labels]
            if not all(present[-1] <= of_run for of_run in present[:-1]):
                continue
            if not all(map(_uniform, labels, shapes)):
                continue
            even = all(map(_even, labels, loads))
            found.append(Pattern(rule, name, known, labels, even))
    if not found:
        raise NoPattern(
            "the ranks that do alike do not stand alike in any grid that is known (lines, 2-D and "
            "3-D grids, rows of a fixed length); captures do best on numbers of ranks among which "
            "the problem divides evenly, and from 64 on, where every place of a grid occurs"
        )
    return sorted(found, key=lambda pattern: not pattern.even)


def _labels(label: Callable[..., Ints], dims: tuple[int, ...]) -> Ints:
    everyone = np.arange(int(np.prod(dims)))
    return np.asarray(label(coordinates(everyone, dims), dims), dtype=np.int64)


@lru_cache(maxsize=4096)
def _keys(capture: Capture, stream: int) -> tuple[Key, ...]:
    """What tells the operations of a stream apart."""
    known: dict[Key, Key] = {}
    return tuple(known.setdefault(key, key) for key in map(_key_of, capture.streams[stream]))


@lru_cache(maxsize=4096)
def _amounts(capture: Capture, stream: int, computes: int) -> tuple[Key, ...]:
    """The sizes of the operations of a stream."""
    flops = iter(capture.flops[computes].tolist())
    return tuple(
        (next(flops),)
        if operation.name == "compute"
        else tuple(operation.fields[name] for name in _SIZES if name in operation.fields)
        for operation in capture.streams[stream]
    )


def aligned(
    captures: tuple[Capture, ...], ranks: tuple[int, ...]
) -> tuple[Aligned, ...] | NoPattern:
    """The operations of one rank of each capture, side by side; or why they cannot stand so."""
    streams = tuple(int(c.calls[rank]) for c, rank in zip(captures, ranks, strict=True))
    computes = tuple(int(c.computes[rank]) for c, rank in zip(captures, ranks, strict=True))
    return _aligned(captures, streams, computes)


@lru_cache(maxsize=4096)
def _aligned(
    captures: tuple[Capture, ...], streams: tuple[int, ...], computes: tuple[int, ...]
) -> tuple[Aligned, ...] | NoPattern:
    keys = [_keys(c, stream) for c, stream in zip(captures, streams, strict=True)]
    # Where all have the same operations, no sizes are needed, so as not to look at them.
    sizes = (
        keys
        if all(key == keys[0] for key in keys)
        else [_amounts(*run) for run in zip(captures, streams, computes, strict=True)]
    )
    try:
        return tuple(align(keys, sizes))
    except NoPattern as error:
        return error


def _key_of(operation: Operation) -> Key:
    """What operations must have in common to be one operation of several runs."""
    fixed = tuple(
        (field, tuple(value) if isinstance(value, list) else value)
        for field, value in operation.fields.items()
        if field in ("comm", "tag", "flags", "slot", "slots", "level", "send_tag", "recv_tag")
        or (field == "root" and value != 0)
        or (isinstance(value, list) and field not in _GROWS)
    )
    return (operation.name, *fixed)


def _shapes(captures: Sequence[Capture]) -> list[Ints]:
    """Of each rank of each capture a number that tells sequences of operations apart."""
    known: dict[tuple[Key, ...], int] = {}
    shapes = []
    for capture in captures:
        numbers = []
        for stream in range(len(capture.streams)):
            numbers.append(known.setdefault(_keys(capture, stream), len(known)))
        shapes.append(np.array(numbers, dtype=np.int64)[capture.calls])
    return shapes


def _loads(capture: Capture) -> NDArray[np.float64]:
    totals = np.array([flops.sum() for flops in capture.flops], dtype=np.float64)
    return np.asarray(totals[capture.computes], dtype=np.float64)


def _uniform(labels: Ints, shapes: Ints) -> bool:
    """Whether each class has one shape."""
    pairs = np.unique(np.stack([labels, shapes]), axis=1)
    return bool(len(np.unique(pairs[0])) == pairs.shape[1])


def _even(labels: Ints, loads: NDArray[np.float64]) -> bool:
    of_classes = (loads[labels == label] for label in np.unique(labels))
    return all(float(np.ptp(of)) <= _SAME_WORK * float(of.max()) for of in of_classes)

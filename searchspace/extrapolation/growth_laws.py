"""How a number grows with the ranks: fitted to what it was in small runs.

A number is a product of one factor for each axis of the grid of ranks: a power of the axis's
extent, or `a + b / extent`, as of points that are shared out after some were taken off. Where runs
differ along several axes at once only a sum of powers of the number of ranks can be told.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from searchspace.extrapolation.errors import NoPattern

__all__ = ["Sizes", "fit", "fit_trips"]

_EXACT = 1e-9
_NEAR = 0.03
"""Relative error up to which a law of real amounts is taken all the same."""
_PLAIN = 2.0
"""A law of rounds is plainly the right one where all others are as many times less simple."""
_NICE = tuple(sorted({k / 2 for k in range(-8, 9)} | {k / 3 for k in range(-9, 10)}))
_TERMS: dict[str, Callable[[int], float]] = {
    "1": lambda p: 1.0,
    "1/p": lambda p: 1 / p,
    "1/sqrt p": lambda p: p**-0.5,
    "p": lambda p: float(p),
    "sqrt p": lambda p: p**0.5,
    "log p": lambda p: math.log2(p),
}
_PAIRS = [
    ("1/p", "1/sqrt p"),
    ("1", "1/p"),
    ("1", "1/sqrt p"),
    ("1", "log p"),
    ("1", "p"),
    ("1", "sqrt p"),
]


@dataclass(frozen=True)
class Sizes:
    """The runs that are known, smallest first, and the one that is wanted.

    Attributes:
        dims: Extents of the grid of each run.
        target: Those of the wanted run.
    """

    dims: tuple[tuple[int, ...], ...]
    target: tuple[int, ...]
    across: Counter[float] = field(default_factory=Counter, compare=False)
    """How often an axis across the way of a message had an exponent; fits add to it."""
    rounding: list[float] = field(default_factory=list, compare=False)
    """By how much, relative, whole numbers of the wanted run were rounded; fits add to it."""

    @property
    def has_uncut_axes(self) -> bool:
        """Whether an axis is cut otherwise in the wanted run alone."""
        return any(
            wanted != known[0] and len(set(known)) == 1
            for wanted, known in zip(self.target, zip(*self.dims, strict=True), strict=True)
        )

    @property
    def ranks(self) -> tuple[int, ...]:
        """Of each known run."""
        return tuple(math.prod(dims) for dims in self.dims)


def fit(
    values: Sequence[float], sizes: Sizes, *, direction: int | None = None, whole: bool = False
) -> float:
    """What a number is in the wanted run.

    Args:
        values: What it is in the known ones.
        sizes: Of the runs.
        direction: The axis along which a message goes whose size this is.
        whole: Whether these are whole numbers, which were rounded.

    Raises:
        NoPattern: No law of those known gives these numbers.
    """
    is_constant = all(value == values[0] for value in values)
    if is_constant and (direction is None or not values[0] or not sizes.has_uncut_axes):
        return values[0]
    if min(values) <= 0:
        raise NoPattern(f"numbers {_listed(values)} on {_listed(sizes.ranks)} ranks")
    known = np.array(values, dtype=float)
    if whole:
        # Small numbers are near many laws: one that gives them to the digit comes first.
        for law in (_powers, _certain_factors, _certain_sum):
            found = law(known, sizes, direction, 0.0)
            if found is not None:
                return _rounded(found, sizes)
        if len(values) == 2 and values[0] < values[1]:
            raise NoPattern(
                f"the numbers {_listed(values)} on {_listed(sizes.ranks)} ranks grow in more than "
                "one way that is known; add a capture"
            )
    for law in (_powers, _factors, _sum_of_terms):
        found = law(known, sizes, direction, 1.0 if whole else 0.0)
        if found is not None:
            return _rounded(found, sizes) if whole else found
    raise NoPattern(
        f"the numbers {_listed(values)} on {_listed(sizes.ranks)} ranks follow no law that is known"
    )


def _rounded(found: float, sizes: Sizes) -> float:
    """The nearest whole number: ranks have one more or less where a problem divides unevenly."""
    nearest = float(round(found))
    off = abs(nearest / found - 1)
    if off > _NEAR:
        raise NoPattern(
            f"a size would be {found:.4g} on {math.prod(sizes.target)} ranks: the problem does not "
            "divide evenly among so many"
        )
    if off > _EXACT:
        sizes.rounding.append(off)
    return nearest


def fit_trips(values: Sequence[int], sizes: Sizes) -> int:
    """How often a loop goes round in the wanted run: `a + b log p`, or `a + b` times an extent.

    Any two numbers of rounds lie on all of these laws. The simplest is taken: that of the least
    `|a|`, whose `b` or `1 / b` is the nearest to 1.

    Raises:
        NoPattern: None of them gives these numbers, or two that are about as simple do, and part.
    """
    found: list[tuple[float, int]] = []
    for known, wanted in _measures(sizes):
        if known[0] == known[-1]:
            continue
        slope = (values[-1] - values[0]) / (known[-1] - known[0])
        start = values[0] - slope * known[0]
        right = all(abs(start + slope * k - v) < _EXACT for k, v in zip(known, values, strict=True))
        rounds = start + slope * wanted
        if right and abs(rounds - round(rounds)) < _EXACT and round(rounds) > 0:
            steep = max(abs(slope), 1 / abs(slope)) if slope else 0.0
            found.append((abs(start) + steep, round(rounds)))
    where = f"a loop goes round {_listed(values)} times on {_listed(sizes.ranks)} ranks"
    if not found:
        raise NoPattern(where)
    least, rounds_wanted = min(found)
    if any(rounds != rounds_wanted and cost < _PLAIN * least for cost, rounds in found):
        raise NoPattern(f"{where}, which more than one law gives; add a capture")
    return rounds_wanted


def _measures(sizes: Sizes) -> list[tuple[list[float], float]]:
    """What rounds may grow with: its values in the known runs, and in the wanted one."""
    amounts = [([float(p) for p in sizes.ranks], float(math.prod(sizes.target)))]
    amounts += [
        ([float(dims[axis]) for dims in sizes.dims], float(extent))
        for axis, extent in enumerate(sizes.target)
    ]
    return [
        ([math.log2(k) for k in known], math.log2(wanted)) for known, wanted in amounts
    ] + amounts


def _fits(values: np.ndarray, predicted: np.ndarray, slack: float) -> bool:
    """Whether a law gives the numbers, each off by less than so much."""
    off = np.abs(predicted - values)
    return bool(((off <= _EXACT * np.abs(values)) | (off < slack)).all())


def _nearest_nice(exponent: float) -> float:
    return min(_NICE, key=lambda nice: abs(nice - exponent))


def _powers(values: np.ndarray, sizes: Sizes, direction: int | None, slack: float) -> float | None:
    """A product of powers of the extents; near ones are taken where they are the only law."""
    logs = np.log2(np.array(sizes.dims, dtype=float))
    steps = logs[1:] - logs[0]
    exponents, *_ = np.linalg.lstsq(steps, np.log2(values[1:] / values[0]), rcond=None)
    known = [axis for axis in range(logs.shape[1]) if np.ptp(logs[:, axis]) > 0]
    alone = [a for a in known if not np.any(np.delete(steps, a, axis=1)[steps[:, a] > 0])]
    together = len(known) > len(alone)
    if together:
        total = _nearest_nice(float(exponents[known].sum()))
        exponents[known] = total / len(known)
    else:
        exponents[known] = [_nearest_nice(float(e)) for e in exponents[known]]
    predicted = values[-1] * 2 ** ((logs - logs[-1]) @ exponents)
    if not _fits(values, predicted, slack):
        return None
    exponents = _with_unknown(exponents, known, sizes, direction)
    if exponents is None:
        return None
    ahead = np.log2(np.array(sizes.target, dtype=float)) - logs[-1]
    return float(values[-1] * 2 ** (ahead @ exponents))


def _with_unknown(
    exponents: np.ndarray, known: list[int], sizes: Sizes, direction: int | None
) -> np.ndarray | None:
    """Axes that were never cut otherwise act as the others do; none matters along its own way."""
    others = {float(exponents[axis]) for axis in known if axis != direction}
    if direction is not None:
        sizes.across.update(others)
        if not others and sizes.across:
            others = {sizes.across.most_common(1)[0][0]}
    for axis, extent in enumerate(sizes.target):
        if axis in known or extent == sizes.dims[-1][axis]:
            continue
        if axis == direction or not others:
            exponents[axis] = 0.0
        elif len(others) == 1:
            exponents[axis] = next(iter(others))
        else:
            return None
    return exponents


def _factors(values: np.ndarray, sizes: Sizes, direction: int | None, slack: float) -> float | None:
    """A product of factors `a + b / extent`, where runs differ along one axis at a time."""
    shape: dict[int, tuple[float, float]] = {}
    for (one, v), (two, w) in combinations(zip(sizes.dims, values, strict=True), 2):
        changed = [axis for axis in range(len(one)) if one[axis] != two[axis]]
        if len(changed) == 1 and changed[0] not in shape:
            shape[changed[0]] = _affine(one[changed[0]], two[changed[0]], w / v)
    factors = dict(shape)
    others = [shape[axis] for axis in shape if axis != direction]
    for axis, extent in enumerate(sizes.target):
        if axis not in factors and extent != sizes.dims[-1][axis]:
            if any(dims[axis] != sizes.dims[-1][axis] for dims in sizes.dims) or not others:
                return None
            factors[axis] = (1.0, 0.0) if axis == direction else others[0]

    if any(a + b / sizes.target[axis] <= 0 for axis, (a, b) in factors.items()):
        return None  # two that have turned negative would make a size all the same

    def product(dims: Sequence[int]) -> float:
        return math.prod(a + b / dims[axis] for axis, (a, b) in factors.items())

    scale = values[-1] / product(sizes.dims[-1])
    predicted = np.array([scale * product(dims) for dims in sizes.dims])
    found = scale * product(sizes.target)
    return float(found) if _fits(values, predicted, slack) and found > 0 else None


def _certain_factors(
    values: np.ndarray, sizes: Sizes, direction: int | None, slack: float
) -> float | None:
    """The same, where there are more numbers than such a product could be made to give."""
    cut = sum(len(set(known)) > 1 for known in zip(*sizes.dims, strict=True))
    return _factors(values, sizes, direction, slack) if len(values) > 1 + cut else None


def _affine(extent: int, larger: int, ratio: float) -> tuple[float, float]:
    """The factor `a + b / extent` that is 1 at one extent and `ratio` at the other."""
    b = (1 - ratio) / (1 / extent - 1 / larger)
    return 1 - b / extent, b


def _sum_of_terms(
    values: np.ndarray, sizes: Sizes, direction: int | None, slack: float
) -> float | None:
    """A sum of two terms in the number of ranks; of laws that are not exact the nearest."""
    best: tuple[float, float] | None = None
    for names in [*_PAIRS, *[(name,) for name in _TERMS]]:
        summed = _sum(names, values, sizes) if len(names) <= len(values) else None
        if summed is None:
            continue
        predicted, found = summed
        if _fits(values, predicted, slack):
            return found
        error = float(np.max(np.abs(predicted / values - 1)))
        if best is None or error < best[0]:
            best = (error, found)
    return best[1] if best is not None and best[0] <= _NEAR else None


def _certain_sum(
    values: np.ndarray, sizes: Sizes, direction: int | None, slack: float
) -> float | None:
    """The same, where there are more numbers than terms, which give all of them; one if it does."""
    for names in [*[(name,) for name in _TERMS], *_PAIRS]:
        summed = _sum(names, values, sizes) if len(names) < len(values) else None
        if summed is not None and _fits(values, summed[0], slack):
            return summed[1]
    return None


def _sum(names: Sequence[str], values: np.ndarray, sizes: Sizes) -> tuple[np.ndarray, float] | None:
    """What terms come to in the known runs and in the wanted one; None where that cannot be."""
    basis = np.array([[_TERMS[name](p) for name in names] for p in sizes.ranks])
    weights, *_ = np.linalg.lstsq(basis / values[:, None], np.ones(len(values)), rcond=None)
    found = float(np.array([_TERMS[name](math.prod(sizes.target)) for name in names]) @ weights)
    if found <= 0 or (len(names) == 2 and min(weights) < 0 and len(values) == 2):
        return None
    return basis @ weights, found


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)

"""How well simulated times foretell measured ones: errors, order, and what choosing by them costs.

Pure functions of pairs of times.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

__all__ = ["Pair", "errors", "grouped", "quantile", "ratio_errors", "regret", "tau"]

T = TypeVar("T")


@dataclass(frozen=True)
class Pair:
    """The seconds of one case, as they were measured and as they were simulated."""

    measured: float
    simulated: float

    @property
    def ratio(self) -> float:
        """Simulated over measured."""
        return self.simulated / self.measured


def errors(pairs: Iterable[Pair]) -> list[float]:
    """How far each simulated time is off, relative to the measured one."""
    return [abs(pair.ratio - 1.0) for pair in pairs]


def ratio_errors(group: Iterable[Pair]) -> list[float]:
    """How far the simulated ratio of every two cases is off, relative to the measured one.

    What all cases share, such as the start of a program, is no error of a ratio.
    """
    factors = [one.ratio / other.ratio for one, other in itertools.combinations(group, 2)]
    return [max(factor, 1.0 / factor) - 1.0 for factor in factors]


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which that part of all lies, between two of them in proportion."""
    return float(np.quantile(values, part))


def grouped(items: Mapping[T, Pair], key: Callable[[T], Hashable]) -> list[dict[T, Pair]]:
    """Cases by what they have in common, in the order of their first ones."""
    groups: dict[Hashable, dict[T, Pair]] = defaultdict(dict)
    for item, pair in items.items():
        groups[key(item)][item] = pair
    return list(groups.values())


def tau(pairs: Iterable[Pair], tie: float = 0.0) -> float | None:
    """Kendall's tau between measured and simulated times.

    Of all pairs of cases, the part that is simulated in the order in which it was measured minus
    the part in the opposite order; equal simulated times are in neither (tau-a).

    Args:
        pairs: The cases.
        tie: Cases whose measured times differ by less than this part of the smaller one have no
            order, and do not count.

    Returns:
        From -1 to 1; None where no two cases have an order.
    """
    agreement = count = 0
    for one, other in itertools.combinations(pairs, 2):
        low, high = sorted((one.measured, other.measured))
        if high == low or high < low * (1.0 + tie):
            continue
        count += 1
        agreement += _order(one.measured, other.measured) * _order(one.simulated, other.simulated)
    return agreement / count if count else None


def regret(group: Iterable[Pair]) -> float:
    """The measured time of what the simulation would choose over that of the best.

    Of several that it holds for equally good, it is charged with the worst.
    """
    pairs = list(group)
    favourite = min(pair.simulated for pair in pairs)
    chosen = max(pair.measured for pair in pairs if pair.simulated == favourite)
    return chosen / min(pair.measured for pair in pairs)


def _order(one: float, other: float) -> int:
    return (one > other) - (one < other)

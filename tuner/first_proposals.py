"""What is proposed before there is a model: candidates that are quick by what is known beforehand.

Of those that are about as quick, one is taken whose algorithms were proposed least so: a model
learns nothing of an algorithm that all of the first trials have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from searchspace.collectives.by_size import names_algorithms
from searchspace.collectives.decision_table import WORTH
from searchspace.configuration import Configuration, Value
from tuner.candidates import Candidates

__all__ = ["FirstProposals"]


class FirstProposals:
    """The first proposals of a search, each told from those before it."""

    def __init__(self) -> None:
        self._structures: set[str] = set()
        self._algorithms: Counter[tuple[str, Value]] = Counter()

    def by_probes(self, candidates: Candidates, left: NDArray[np.int64]) -> int:
        """A candidate whose collectives were about the quickest when they were probed.

        What a collective takes by itself says little of what it takes between computations.

        Args:
            candidates: All of them.
            left: The numbers of those that may be proposed, at least one.
        """
        fresh = self._on_others(candidates, list(map(int, left)))
        within = min(map(candidates.seconds, fresh)) * (1 + WORTH)
        return self._take(candidates, [one for one in fresh if candidates.seconds(one) <= within])

    def by_expectation(
        self, candidates: Candidates, left: NDArray[np.int64], expected: NDArray[np.float64]
    ) -> int:
        """A candidate that is expected to be about the quickest.

        Args:
            candidates: All of them.
            left: The numbers of those that may be proposed, at least one.
            expected: Lower bounds of the logarithms of their seconds, but for a constant, shape
                (left,).
        """
        quick = expected <= expected.min() + np.log1p(WORTH)
        known = dict(zip(map(int, left[quick]), map(float, expected[quick]), strict=True))
        return self._take(candidates, self._on_others(candidates, list(known)), known)

    def by_example(self, candidates: Candidates, number: int) -> int:
        """A candidate that was best elsewhere, whatever is expected of it."""
        return self._take(candidates, [number])

    def _on_others(self, candidates: Candidates, numbers: list[int]) -> list[int]:
        """Those on structures that were not proposed so before; all where there are none."""
        fresh = [one for one in numbers if candidates.structure(one) not in self._structures]
        return fresh or numbers

    def _take(
        self,
        candidates: Candidates,
        numbers: Sequence[int],
        expected: Mapping[int, float] = MappingProxyType({}),
    ) -> int:
        """One of the least used algorithms.

        Of these the quickest when probed, then the one with the least busy cable, then the one that
        is expected to be quickest.
        """

        def rank(number: int) -> tuple[int, float, float, float]:
            used = sum(self._algorithms[one] for one in _algorithms(candidates.points[number]))
            known = candidates.seconds(number), candidates.busiest(number)
            return used, *known, expected.get(number, 0.0)

        found = min(numbers, key=rank)
        self._structures.add(candidates.structure(found))
        self._algorithms.update(_algorithms(candidates.points[found]))
        return found


def _algorithms(point: Configuration) -> list[tuple[str, Value]]:
    return [one for one in point.items() if names_algorithms(one[0])]

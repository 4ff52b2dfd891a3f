"""A model of simulated time over features of configurations, learned from trials.

A forest of regression trees on the logarithm of the time, whose trees disagree where little is
known: Breiman, "Random forests", Machine Learning 45 (2001); Hutter, Hoos, Leyton-Brown,
"Sequential model-based optimization for general algorithm configuration", LION 5 (2011), section
4.1, on its use here and on censored values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr
from sklearn.tree import DecisionTreeRegressor

__all__ = ["Forest", "Observation", "probability_of_improvement"]

_TREES = 40
_LEAST = 1e-300  # seconds that have a logarithm
_FAILED = 1.5
"""What failed counts, in multiples of the longest time that is known."""


@dataclass(frozen=True)
class Observation:
    """What a trial told: its seconds, or that it takes longer, or nothing but that it failed.

    Attributes:
        row: Where its features are.
        seconds: Of a completed trial, or the bound of one that was cut off; None of a failed one.
        completed: Whether it ran to its end.
    """

    row: int
    seconds: float | None
    completed: bool


class Forest:
    """Trees, each of a sample of the observations.

    Args:
        seed: Of the samples.
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._trees: list[DecisionTreeRegressor] = []

    def fit(self, features: NDArray[np.float32], observations: Sequence[Observation]) -> None:
        """Learn, at least from one observation.

        A trial that was cut off counts as its bound, which is told above what trials are cut off
        at: by so much is it worse than the best.

        Args:
            features: Of all configurations, shape (configurations, features).
            observations: Their rows are rows of `features`.
        """
        rows = np.array([one.row for one in observations])
        known = [one.seconds for one in observations if one.seconds is not None]
        failed = _FAILED * max(known, default=1.0)
        seconds = [failed if one.seconds is None else one.seconds for one in observations]
        targets = np.log(np.maximum(seconds, _LEAST))
        self._trees = []
        for _ in range(_TREES):
            counts = np.bincount(
                self._random.integers(len(rows), size=len(rows)), minlength=len(rows)
            )
            drawn = counts > 0
            tree = DecisionTreeRegressor(random_state=int(self._random.integers(2**31)))
            tree.fit(
                features[rows[drawn]],
                targets[drawn],
                sample_weight=counts[drawn].astype(np.float64),
                check_input=False,
            )
            self._trees.append(tree)

    def predict(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """What each tree says, shape (trees, configurations): the logarithm of seconds."""
        return np.stack([tree.tree_.predict(features)[:, 0] for tree in self._trees])


def probability_of_improvement(
    best: float, gain: float, mean: NDArray[np.float64], spread: NDArray[np.float64]
) -> float:
    """The probability that one of several configurations is faster than the best.

    What a model says of each is taken to be normally distributed and independent of the others
    (Kushner, "A new method of locating the maximum point of an arbitrary multipeak curve in the
    presence of noise", Journal of Basic Engineering 86 (1964), on one point). Points that resemble
    each other are not independent, so that this is rather too much than too little.

    Args:
        best: The least seconds so far.
        gain: By more than this part of them.
        mean: Of the logarithms of seconds, shape (configurations,).
        spread: Their standard deviations, shape (configurations,).
    """
    margin = mean - (np.log(max(best, _LEAST)) + np.log1p(-gain))
    with np.errstate(divide="ignore", over="ignore"):
        slower = log_ndtr(margin / np.maximum(spread, np.finfo(np.float64).tiny))
    return float(-np.expm1(slower.sum()))

"""A model of simulated time over features of configurations, learned from trials.

A forest of regression trees on the logarithm of the time, whose trees disagree where little is
known: Breiman, "Random forests", Machine Learning 45 (2001); Hutter, Hoos, Leyton-Brown,
"Sequential model-based optimization for general algorithm configuration", LION 5 (2011), section
4.1, on its use here and on censored values. All features compete at each split, as in Breiman,
"Bagging predictors", Machine Learning 24 (1996): features of few values tell most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.kernels.regression_forest import RegressionForest

__all__ = ["Forest", "Observation", "expected_gain", "probability_of_improvement"]

_TREES = 40
_DIGITS = 9
_FAR = 6.0
"""Standard deviations beyond which nothing is expected."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_MARKED = 2
_WIDE = (0.5, 2.0)  # logarithms that part what is left of the range
_NEGLIGIBLE = 1e-7
"""A gain that makes no difference."""
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
        self._trees: RegressionForest | None = None

    def fit(
        self,
        features: NDArray[np.float32],
        observations: Sequence[Observation],
        guess: NDArray[np.float64] | None = None,
    ) -> None:
        """Learn, at least from one observation.

        A trial that was cut off counts as its bound, which is told above what trials are cut off
        at: by so much is it worse than the best.

        Args:
            features: Of all configurations, shape (configurations, features).
            observations: Their rows are rows of `features`.
            guess: Logarithms of seconds that are expected of all configurations, shape
                (configurations,): what differs from these is learned. None: nothing is expected.
        """
        rows = np.array([one.row for one in observations])
        known = [one.seconds for one in observations if one.seconds is not None]
        failed = _FAILED * max(known, default=1.0)
        seconds = [failed if one.seconds is None else one.seconds for one in observations]
        targets: NDArray[np.float64] = np.log(np.maximum(seconds, _LEAST))
        if guess is not None:
            targets -= guess[rows]
        # As features are: logarithms differ in the last digits between processors.
        targets = np.round(targets, _DIGITS)
        seed = int(self._random.integers(2**63))
        self._trees = RegressionForest(features[rows], targets, trees=_TREES, seed=seed)

    def predict(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """What each tree says, shape (trees, configurations): the logarithm of seconds."""
        assert self._trees is not None, "it has learned"
        return self._trees.predict(features)


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
    from scipy.special import log_ndtr  # here, since jobs of a few trials do without

    margin = mean - (np.log(max(best, _LEAST)) + np.log1p(-gain))
    with np.errstate(divide="ignore", over="ignore"):
        slower = log_ndtr(margin / np.maximum(spread, np.finfo(np.float64).tiny))
    return float(-np.expm1(slower.sum()))


def expected_gain(best: float, mean: NDArray[np.float64], spread: NDArray[np.float64]) -> float:
    """By how much the fastest of several configurations is expected to be faster than the best.

    The integral of the probability of improvement by more than g over g from 0 to 1: the expected
    improvement of Jones, Schonlau, Welch, "Efficient global optimization of expensive black-box
    functions", Journal of Global Optimization 13 (1998), section 4.1, of the best of several
    points, with what `probability_of_improvement` takes for granted. By Gauss-Legendre quadrature
    over the logarithm of the time, in panels between which that probability bends.

    Args:
        best: The least seconds so far.
        mean: Of the logarithms of seconds, shape (configurations,).
        spread: Their standard deviations, shape (configurations,).

    Returns:
        A part of the best, from 0 to below 1.
    """
    from scipy.special import ndtr  # here, since jobs of a few trials do without

    ahead = np.log(max(best, _LEAST)) - mean  # in logarithms, too
    scale = np.maximum(spread, np.finfo(np.float64).tiny)
    alone = _gains_alone(ahead, scale)
    order = np.argsort(alone)
    # All together bring no more than the sum of what each brings.
    order = order[np.cumsum(alone[order]) > _NEGLIGIBLE]
    if not order.size:
        return 0.0
    bounds = _bounds(ahead[order], scale[order])
    half = np.diff(bounds)[:, np.newaxis] / 2.0
    steps = (bounds[:-1, np.newaxis] + half * (_NODES + 1.0)).ravel()
    weights = (half * _WEIGHTS).ravel()
    with np.errstate(divide="ignore", over="ignore"):
        margin = steps[:, np.newaxis] - ahead[order]
        # Much faster than `log_ndtr`, and off only where something is certainly faster.
        better = -np.expm1(np.log1p(-ndtr(-margin / scale[order])).sum(axis=1))
    return float((weights * better * np.exp(-steps)).sum())


def _gains_alone(ahead: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expected gain of each configuration by itself, in closed form: 1 - a log-normal."""
    from scipy.special import log_ndtr, ndtr  # here, since jobs of a few trials do without

    with np.errstate(over="ignore"):
        sure = ahead / scale
        paid = np.exp(scale**2 / 2.0 - ahead + log_ndtr(sure - scale))
    return np.maximum(0.0, ndtr(sure) - paid)


def _bounds(ahead: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where panels meet: where those begin and end to matter that are the best or the surest.

    Args:
        ahead: How much faster than the best, in logarithms, shape (configurations,); by the gain
            that each brings alone.
        scale: The standard deviations.
    """
    most = float((ahead + _FAR * scale).max())
    # Behind some that most likely are faster none makes a step that could be missed.
    surest = np.argsort(scale - ahead)[:_MARKED]
    marked = np.concatenate([np.arange(len(ahead))[-_MARKED:], surest])
    around = [ahead[marked] + far * scale[marked] for far in (-_FAR, 0.0, _FAR)]
    return np.unique(np.clip(np.concatenate([[0.0, most], _WIDE, *around]), 0.0, most))

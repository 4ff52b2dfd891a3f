"""What finished jobs expect of a job's candidates, and how much each of them is believed.

Each source has a forest of its own over what its trials share with the candidates. What sources
expect together is the first guess; the job's model learns what is left to explain (stacked
residuals: Golovin et al., "Google Vizier: A service for black-box optimization", KDD (2017),
section 3.3). A source counts by how well it orders what the job has measured (as in Feurer,
Letham, Bakshy, "Scalable meta-learning for Bayesian optimization using ranking-weighted Gaussian
process ensembles", ICML workshop AutoML (2018)), measured by Kendall's tau; one that orders it no
better than chance does not count at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.configuration import Configuration
from searchspace.insight import Comparable, Experience
from tuner.surrogate import Forest, Observation

__all__ = ["Guess", "Sources", "agreement", "believed"]

_TRUST = 3
"""Pairs of trials that a source is taken to have ordered rightly before there are any."""
_EXEMPLARY = 0.5
"""A source that counts less than this part of another one has no trial to begin with."""
_TESTED = 8
"""Trials from which on a source has to order them better than chance."""


_MOST_COMPARED = 500
"""Trials whose pairs are compared, evenly chosen: their number grows with the square."""


@dataclass(frozen=True)
class Guess:
    """What sources expect of candidates: logarithms of seconds, but for a constant.

    Attributes:
        mean: Shape (candidates,).
        spread: How far the trees of the sources disagree, shape (candidates,).
    """

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]


def agreement(
    guess: NDArray[np.float64], times: NDArray[np.float64], completed: NDArray[np.bool_]
) -> tuple[float, int]:
    """How well a guess orders trials: Kendall's tau over the pairs whose order is known.

    The order of two trials is known where the quicker one ran to its end.

    Args:
        guess: Of each trial, shape (trials,); of more than 500, so many are looked at.
        times: What each took, or took at least, shape (trials,).
        completed: Whether it ran to its end, shape (trials,).

    Returns:
        Between -1 and 1, 0 where there are no pairs; and the number of pairs.
    """
    if len(times) > _MOST_COMPARED:
        some = np.linspace(0, len(times) - 1, _MOST_COMPARED).astype(np.int64)
        guess, times, completed = guess[some], times[some], completed[some]
    quicker, slower = np.nonzero((times[:, None] < times[None, :]) & completed[:, None])
    if not len(quicker):
        return 0.0, 0
    return float(np.sign(guess[slower] - guess[quicker]).mean()), len(quicker)


def believed(tau: float, pairs: int, trials: int) -> float:
    """How much a source counts, from 0 to 1.

    At first it counts in full; with each pair of trials, by how it orders them. From eight trials
    on one counts nothing unless its tau is above the standard deviation of that of a random order
    (Kendall, "Rank correlation methods" (1948), chapter 4).

    Args:
        tau: From `agreement`.
        pairs: Likewise.
        trials: Of the job, whose order it was asked for.
    """
    shrunk = (tau * pairs + _TRUST) / (pairs + _TRUST)
    if trials >= _TESTED:
        chance = math.sqrt(2 * (2 * trials + 5) / (9 * trials * (trials - 1)))
        if shrunk <= chance:
            return 0.0
    return max(0.0, shrunk)


class Sources:
    """The models of the jobs that a job learns from.

    Args:
        experiences: Of these jobs, at least one.
        comparable: Makes the features of the job's candidates that others have too.
        seed: Of the forests.

    Attributes:
        weights: How much each counts, from 0 to 1, as of the last `weigh`.
    """

    def __init__(
        self, experiences: Sequence[Experience], comparable: Comparable, seed: int
    ) -> None:
        self._comparable = comparable
        self._models = [
            _Model(one, comparable, seed + 1 + number) for number, one in enumerate(experiences)
        ]
        self._incumbents = [comparable.same_point(one) for one in experiences]
        self._usual: NDArray[np.float64] | None = None
        self.weights: list[float] = [1.0] * len(experiences)

    def look_at(self, points: Sequence[Configuration]) -> None:
        """Guess what candidates take.

        Args:
            points: All candidates; those that were looked at before are not guessed again, and the
                first of all calls are what is usual in the job.
        """
        fresh = points[self._models[0].seen :]
        if not fresh:
            return
        rows = self._comparable.rows(fresh)
        if self._usual is None:
            self._usual = rows
        rows = self._comparable.relative(rows, self._usual)
        for model in self._models:
            model.look_at(rows)

    def incumbents(self) -> list[Configuration]:
        """The best trials of the sources, where they are points of the job's space.

        A search that begins with these begins where others have ended (Feurer, Springenberg,
        Hutter, "Initializing Bayesian hyperparameter optimization via meta-learning", AAAI (2015)).

        Returns:
            Of the sources that count at least half as much as any other; those that count most
            first.
        """
        least = max(max(self.weights) * _EXEMPLARY, np.finfo(float).tiny)
        order = sorted(range(len(self.weights)), key=lambda number: -self.weights[number])
        found = [self._incumbents[number] for number in order if self.weights[number] >= least]
        return [one for one in found if one is not None]

    def weigh(self, observations: Sequence[Observation]) -> None:
        """Find out how much each source counts.

        Args:
            observations: Of candidates that were looked at.
        """
        rows = [one.row for one in observations]
        # What failed is slower than all that ran to its end.
        times = np.array(
            [math.inf if one.seconds is None else one.seconds for one in observations], dtype=float
        )
        completed = np.array([one.completed for one in observations], dtype=np.bool_)
        for number, model in enumerate(self._models):
            tau, pairs = agreement(model.mean[rows], times, completed)
            self.weights[number] = believed(tau, pairs, len(rows))

    def guess(self) -> Guess | None:
        """What the sources expect together, the less the less they count; None if none does."""
        total = sum(self.weights)
        if total <= 0.0:
            return None
        share = np.array(self.weights) / total * max(self.weights)
        return Guess(
            np.tensordot(share, [model.mean for model in self._models], axes=1),
            np.tensordot(share, [model.spread for model in self._models], axes=1),
        )


class _Model:
    """What one source expects: a forest over the features that it shares with the job."""

    def __init__(self, source: Experience, comparable: Comparable, seed: int) -> None:
        place = {name: column for column, name in enumerate(comparable.names)}
        shared = [name for name in source.features if name in place]
        self._columns = [place[name] for name in shared]
        self._forest: Forest | None = None
        self.mean: NDArray[np.float64] = np.zeros(0)
        self.spread: NDArray[np.float64] = np.zeros(0)
        if not shared:
            return  # it expects the same of all
        theirs = [source.features.index(name) for name in shared]
        observations = [
            Observation(row, math.exp(time), bool(completed))
            for row, (time, completed) in enumerate(
                zip(source.times, source.completed, strict=True)
            )
        ]
        self._forest = Forest(seed)
        self._forest.fit(source.rows[:, theirs].astype(np.float32), observations)

    @property
    def seen(self) -> int:
        return len(self.mean)

    def look_at(self, rows: NDArray[np.float64]) -> None:
        said = np.zeros((1, len(rows)))
        if self._forest is not None:
            said = self._forest.predict(rows[:, self._columns].astype(np.float32))
        self.mean = np.concatenate((self.mean, said.mean(axis=0)))
        self.spread = np.concatenate((self.spread, said.std(axis=0)))

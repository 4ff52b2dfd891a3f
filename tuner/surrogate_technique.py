"""A model of simulated time as an OpenTuner technique.

It learns from every trial, whoever proposed it, and proposes the candidate whose time may be least:
the mean of the forest's trees less some of their spread (a lower confidence bound; Hutter, Hoos,
Leyton-Brown, LION 5 (2011)). It never waits for results; while many are in flight, proposals differ
by how much of the spread they take off. Where something is weighed against time, it proposes what
would widen the front most (`tuner.acquisition`). Imported only by the OpenTuner process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from opentuner.search.technique import SearchTechnique

from searchspace.insight import Comparable, Experience, Insight
from searchspace.space import SearchSpace
from tuner.acquisition import log_seconds, prices_at, widest
from tuner.candidates import Candidates
from tuner.first_proposals import FirstProposals
from tuner.outlook import NOTABLE, SURE, Expectation, Outlook
from tuner.parameters import complete_values
from tuner.surrogate import Forest, Observation, expected_gain, probability_of_improvement
from tuner.transfer import Guess, Sources

__all__ = ["Surrogate"]

_ENOUGH = 4
"""Trials that a model needs to be better than probes alone."""
_FIRST = 8
"""Proposals that do without a model, however many results are known: the baselines are alike, and
a model that knows little else than them looks for the best only around them."""
_SPREADS = (1.0, 0.5, 2.0, 0.0)
"""How much of the trees' spread is taken off, in turn."""
_NEWS = 24
"""A model is made anew when its trials have grown by one in so many."""
_FIRST_SHARE = 0.5
"""How often other jobs have a say in the first proposals, when nothing is known of them yet."""
_MOST_SHARE = 0.9
"""How often at most later on: the outlook is that of the job's own model, made in its own turns."""
_SHAPE = 0.5
_AROUND = 3
"""Of the best points, how many have their neighbours join the candidates."""


@dataclass
class _Model:
    """A model of what candidates take.

    Attributes:
        forest: What it is made of.
        learned: Observations that it knows.
        predicted: The mean and the spread of the logarithm of each candidate's seconds; None before
            it has learned.
    """

    forest: Forest
    learned: int = 0
    predicted: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


class Surrogate(SearchTechnique):  # type: ignore[misc]
    """Proposes what a model of all trials holds best.

    Args:
        space: What is searched.
        insight: What is known of its application and machine; None where nothing is.
        seed: Of all random choices.
        outlook: Where it writes down what it expects.
        experiences: Of the finished jobs that it learns from.
    """

    def __init__(
        self,
        space: SearchSpace,
        insight: Insight | None,
        seed: int,
        outlook: Outlook | None = None,
        experiences: Sequence[Experience] = (),
    ) -> None:
        super().__init__(name="Surrogate")
        self._space = space
        self._insight = insight
        self._seed = seed
        self._outlook = outlook or Outlook()
        self._own = _Model(Forest(seed))
        self._helped = _Model(Forest(seed))  # by what other jobs expect
        self._model = self._own  # that of the last proposal
        self._candidates: Candidates | None = None
        self._experiences = experiences
        self._sources: Sources | None = None
        self._credit = 1.0  # of the sources: a whole one is a proposal
        self._turns = 0  # that were theirs
        self._first = FirstProposals()
        self._read = 0  # of the driver's history
        self._observed: dict[int, Observation] = {}
        self._proposed: set[int] = set()
        self._asked = 0
        self._best: float | None = None  # seconds of what completed
        self._claims: dict[int, float] = {}  # probability of a gain, of what was proposed
        self._vain = 0.0  # gains that were expected since there was one, and did not come

    def desired_configuration(self) -> dict[str, Any] | None:
        """The next proposal; None where every candidate was proposed."""
        candidates = self._prepared()
        self._take_news(candidates)
        free = np.ones(len(candidates.points), dtype=bool)
        free[[*self._proposed, *self._observed]] = False
        left = np.flatnonzero(free)
        if not len(left):
            return None
        number = self._choose(candidates, left)
        self._claims[number] = self._claimed(number)
        self._asked += 1
        self._proposed.add(number)
        return complete_values(self._space, candidates.points[number])

    def _prepared(self) -> Candidates:
        if self._candidates is None:
            insight = self._insight
            known = None if insight is None else insight.known(self._space)
            cores = 1 if insight is None else insight.machine.cores
            self._candidates = Candidates(self._space, known, cores, self._seed)
            if self._experiences:
                comparable = Comparable(self._space, insight, known)
                self._sources = Sources(self._experiences, comparable, self._seed)
        return self._candidates

    def _take_news(self, candidates: Candidates) -> None:
        for told in self.driver.history[self._read :]:
            self._read += 1
            point = self._space.canonicalise(told.configuration.data)
            number = candidates.number_of(point)
            if number is None:
                continue
            completed = told.state == "OK"
            seconds = told.time if completed else told.bound
            self._observed[number] = Observation(number, seconds, completed)
            self._settle(number, told.time if completed else None)

    def _settle(self, number: int, seconds: float | None) -> None:
        """Hold what was claimed of a proposal against its result."""
        claim = self._claims.pop(number, 0.0)
        before = self._best
        if seconds is not None and (before is None or seconds < before):
            self._best = seconds
        if self._best is not None and (before is None or self._best < before * (1 - NOTABLE)):
            self._vain = 0.0
        else:
            self._vain += claim

    @property
    def _trust(self) -> float:
        """How likely it is that the model is right about what may still be gained, from 0 to 1.

        The mean of the rate of a Poisson process after no gain came where so many were expected: of
        a gamma distribution, with Jeffreys' shape of a half and a mean of 1 at first.
        """
        return _SHAPE / (_SHAPE + self._vain)

    def _choose(self, candidates: Candidates, left: NDArray[np.int64]) -> int:
        guess = self._guess_in_turn(candidates)
        # Counted apart: turns come at intervals, and each side is to have all of them.
        turn = self._asked - self._turns if guess is None else self._turns - 1
        spreads = _SPREADS[turn % len(_SPREADS)]
        if self._asked < _FIRST or len(self._observed) < _ENOUGH:
            if guess is None:
                return self._first.by_probes(candidates, left)
            if (example := self._example(candidates)) is not None:
                return self._first.by_example(candidates, example)
            expected = guess.mean[left] - spreads * guess.spread[left]
            return self._first.by_expectation(candidates, left, expected)
        model = self._model = self._own if guess is None else self._helped
        fresh = len(self._observed) - model.learned
        if model.predicted is None or fresh >= max(1, model.learned // _NEWS):
            self._learn(candidates, model)
        assert model.predicted is not None
        mean, spread = model.predicted
        # Candidates that joined since are judged when the model is made anew.
        judged = left[left < len(mean)]
        if not len(judged):
            model.learned = 0
            return int(left[0])
        bound = mean[judged] - spreads * spread[judged]
        if candidates.weighed:
            return int(judged[self._widest(candidates, judged, bound)])
        return int(judged[np.argmin(bound)])

    def _guess_in_turn(self, candidates: Candidates) -> Guess | None:
        """What other jobs expect, as often as they count; None in the job's own turns.

        So what misleads takes some of the proposals, and not all.
        """
        guess = self._guess(candidates)
        if guess is None:
            return None
        assert self._sources is not None, "they have guessed"
        share = max(self._sources.weights)
        if self._asked:
            first = self._asked < _FIRST
            self._credit += share * _FIRST_SHARE if first else min(share, _MOST_SHARE)
        if self._credit < 1.0:
            return None
        self._credit -= 1.0
        self._turns += 1
        return guess

    def _example(self, candidates: Candidates) -> int | None:
        """The best of a job that it learns from, where it was not proposed yet; else None."""
        assert self._sources is not None, "they have guessed"
        for incumbent in self._sources.incumbents():
            number = candidates.number_of(incumbent)
            if number is not None and not (number in self._proposed or number in self._observed):
                return number
        return None

    def _claimed(self, number: int) -> float:
        """The probability that a candidate is better than the best by more than `NOTABLE`."""
        predicted = self._model.predicted
        if predicted is None or self._best is None or number >= len(predicted[0]):
            return 0.0
        mean, spread = (of[[number]] for of in predicted)
        return probability_of_improvement(self._best, NOTABLE, mean, spread)

    def _widest(
        self, candidates: Candidates, judged: NDArray[np.int64], bound: NDArray[np.float64]
    ) -> int:
        """Which of the judged candidates would widen the front most.

        What was proposed and is not known yet is taken to be as the model says, so that the next
        proposal is for another part of the front.
        """
        assert self._model.predicted is not None, "it has learned"
        mean, _ = self._model.predicted
        completed = [
            (one.row, one.seconds)
            for one in self._observed.values()
            if one.completed and one.seconds is not None
        ]
        rows = [row for row, _ in completed]
        logs = log_seconds([seconds for _, seconds in completed])
        open_rows = [n for n in self._proposed if n not in self._observed and n < len(mean)]
        weights = candidates.weights
        times = np.concatenate([logs, mean[open_rows]])
        return widest(
            prices_at(weights[[*rows, *open_rows]], times),
            times,
            prices_at(weights[judged], bound),
            bound,
        )

    def _learn(self, candidates: Candidates, model: _Model) -> None:
        best = sorted(
            (one for one in self._observed.values() if one.completed),
            key=lambda one: (one.seconds, one.row),
        )
        for one in best[:_AROUND]:
            if not candidates.whole:
                candidates.look_around(one.row)
        features = candidates.features
        guess = self._guess(candidates) if model is self._helped else None
        expected = None if guess is None else guess.mean
        model.forest.fit(features, list(self._observed.values()), expected)
        said = model.forest.predict(features)
        mean = said.mean(axis=0)
        model.predicted = mean if expected is None else mean + expected, said.std(axis=0)
        model.learned = len(self._observed)
        if model is self._own:
            self._look_out(best[0].seconds if best else None)

    def _look_out(self, best: float | None) -> None:
        """Write down what may still be gained by the candidates without a result."""
        outlook = self._outlook
        outlook.probability = None
        # A trial that failed has no result: it tells nothing of times.
        results = sum(one.seconds is not None for one in self._observed.values())
        if best is None or results < SURE:
            return
        assert self._own.predicted is not None, "it has just learned"
        mean, spread = self._own.predicted
        left = np.ones(len(mean), dtype=bool)
        left[[number for number in self._observed if number < len(mean)]] = False
        mean, spread = mean[left], spread[left]
        outlook.news = Expectation(
            self._trust * probability_of_improvement(best, NOTABLE, mean, spread),
            self._trust * expected_gain(best, mean, spread),
        )
        if outlook.gain is not None:
            likely = probability_of_improvement(best, outlook.gain, mean, spread)
            outlook.probability = self._trust * likely

    def _guess(self, candidates: Candidates) -> Guess | None:
        """What the jobs that it learns from expect of all candidates; None if nothing."""
        if self._sources is None:
            return None
        self._sources.look_at(candidates.points)
        self._sources.weigh(list(self._observed.values()))
        self._outlook.weights = tuple(self._sources.weights)
        return self._sources.guess()

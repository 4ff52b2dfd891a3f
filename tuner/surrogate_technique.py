"""A model of simulated time as an OpenTuner technique.

It learns from every trial, whoever proposed it, and proposes the candidate whose time may be least:
the mean of the forest's trees less some of their spread (a lower confidence bound; Hutter, Hoos,
Leyton-Brown, LION 5 (2011)). It never waits for results; while many are in flight, proposals differ
by how much of the spread they take off. Imported only by the OpenTuner process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from opentuner.search.technique import SearchTechnique

from searchspace.insight.insight import Insight
from searchspace.space import SearchSpace
from tuner.candidates import Candidates
from tuner.outlook import Outlook
from tuner.parameters import complete_values
from tuner.surrogate import Forest, Observation, probability_of_improvement

__all__ = ["Surrogate"]

_ENOUGH = 4
"""Trials that a model needs to be better than probes alone."""
_SURE = 20
"""Trials without which a model is not asked whether the search may end."""
_SPREADS = (1.0, 0.5, 2.0, 0.0)
"""How much of the trees' spread is taken off, in turn."""
_NEWS = 24
"""A model is made anew when its trials have grown by one in so many."""
_AROUND = 3
"""Of the best points, how many have their neighbours join the candidates."""


class Surrogate(SearchTechnique):  # type: ignore[misc]
    """Proposes what a model of all trials holds best.

    Args:
        space: What is searched.
        insight: What is known of its application and machine; None where nothing is.
        seed: Of all random choices.
        outlook: Where it writes down what it expects.
    """

    def __init__(
        self,
        space: SearchSpace,
        insight: Insight | None,
        seed: int,
        outlook: Outlook | None = None,
    ) -> None:
        super().__init__(name="Surrogate")
        self._space = space
        self._insight = insight
        self._seed = seed
        self._outlook = outlook or Outlook()
        self._forest = Forest(seed)
        self._candidates: Candidates | None = None
        self._read = 0  # of the driver's history
        self._observed: dict[int, Observation] = {}
        self._proposed: set[int] = set()
        self._structures: set[str] = set()  # of what was proposed by probes
        self._learned = 0  # observations that the model knows
        self._predicted: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self._asked = 0

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
        self._asked += 1
        self._proposed.add(number)
        return complete_values(self._space, candidates.points[number])

    def _prepared(self) -> Candidates:
        if self._candidates is None:
            insight = self._insight
            known = None if insight is None else insight.known(self._space)
            cores = 1 if insight is None else insight.machine.cores
            self._candidates = Candidates(self._space, known, cores, self._seed)
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

    def _choose(self, candidates: Candidates, left: NDArray[np.int64]) -> int:
        if len(self._observed) < _ENOUGH:
            return self._by_probes(candidates, left)
        fresh = len(self._observed) - self._learned
        if self._predicted is None or fresh >= max(1, self._learned // _NEWS):
            self._learn(candidates)
            assert self._predicted is not None
        mean, spread = self._predicted
        # Candidates that joined since are judged when the model is made anew.
        judged = left[left < len(mean)]
        if not len(judged):
            self._learned = 0
            return int(left[0])
        bound = mean[judged] - _SPREADS[self._asked % len(_SPREADS)] * spread[judged]
        return int(judged[np.argmin(bound)])

    def _learn(self, candidates: Candidates) -> None:
        best = sorted(
            (one for one in self._observed.values() if one.completed),
            key=lambda one: (one.seconds, one.row),
        )
        for one in best[:_AROUND]:
            if not candidates.whole:
                candidates.look_around(one.row)
        features = candidates.features
        self._forest.fit(features, list(self._observed.values()))
        said = self._forest.predict(features)
        self._predicted = said.mean(axis=0), said.std(axis=0)
        self._learned = len(self._observed)
        self._outlook.probability = self._probability(best[0].seconds if best else None)

    def _probability(self, best: float | None) -> float | None:
        """That of improvement by what is asked, among the candidates without a result."""
        gain = self._outlook.gain
        if gain is None or best is None or len(self._observed) < _SURE:
            return None
        assert self._predicted is not None, "it has just learned"
        mean, spread = self._predicted
        left = np.ones(len(mean), dtype=bool)
        left[[number for number in self._observed if number < len(mean)]] = False
        return probability_of_improvement(best, gain, mean[left], spread[left])

    def _by_probes(self, candidates: Candidates, left: NDArray[np.int64]) -> int:
        """The candidate whose collectives were quickest, on a structure not proposed so before."""

        def rank(number: int) -> tuple[bool, float]:
            return candidates.structure(number) in self._structures, candidates.seconds(number)

        found = min(map(int, left), key=rank)
        self._structures.add(candidates.structure(found))
        return found

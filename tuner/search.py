"""The search above OpenTuner: every point once, known results told at once, and an end.

OpenTuner proposes values; here they become points of the space (conditions applied), and a point is
handed out once a job. This is the de-duplication that the design asks for above OpenTuner's own.
Where something is known of the application, points that are the same run are one, and points that
cannot run are never handed out.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from searchspace.configuration import Configuration
from searchspace.insight import Experience, Insight
from searchspace.space import SearchSpace
from tuner import parameters
from tuner.objective import TrialResult
from tuner.opentuner_session import TunerSession
from tuner.outlook import Expectation

__all__ = ["SAMPLER", "Point", "Search"]

_FRUITLESS_ASKS = 25
_FRUITLESS_DRAWS = 200

SAMPLER = "sampler"
"""The name of the technique of points that OpenTuner did not propose."""


@dataclass(frozen=True)
class Point:
    """A point of the space to evaluate, and whose idea it was."""

    configuration: Configuration
    technique: str


@dataclass
class _Seen:
    """A point handed out: its result once told, and OpenTuner's proposals that it answers."""

    configuration: Configuration
    told: TrialResult | None = None
    proposals: list[int] = field(default_factory=list)


class Search:
    """Asks for unseen points and tells their results. Not for several threads.

    Deterministic: the same seed and the same results told between the same asks give the same
    points.

    Args:
        space: What to search.
        seed: Of all random choices.
        techniques: As for `TunerSession`.
        first: Points to hand out before OpenTuner is asked, each with whose idea it was.
        insight: What is known of the application and the machine; None where nothing is.
        until: A part of the best value, for `probability`; None where nobody asks for that.
        experiences: Of the finished jobs that it learns from.

    Attributes:
        probability: As the last proposal told it: that some point not told yet is better than the
            best by more than `until`; None where no model knows.
        expectation: Of the last model that was made while the last point was asked; None where none
            was made then.
        weights: Likewise: how much each of these jobs counts, from 0 to 1; None where no model
            knows.

    Raises:
        InvalidInput: A technique is unknown or does not suit the space.
        SearchProcessFailed: OpenTuner's process did not start.
    """

    def __init__(
        self,
        space: SearchSpace,
        seed: int,
        techniques: Sequence[str] | None = None,
        *,
        first: Sequence[Point] = (),
        insight: Insight | None = None,
        until: float | None = None,
        experiences: Sequence[Experience] = (),
    ) -> None:
        self._space = space
        self._known = None if insight is None else insight.known(space)
        self._refused: Configuration | None = None  # the first point that cannot run
        self._handed_out = 0
        self._first = deque(first)
        self._seen: dict[str, _Seen] = {}
        # Seeded by text, so that its draws are not those of OpenTuner with the same number.
        self._random = random.Random(f"{seed} sampler")  # noqa: S311
        self._walk = space.enumerate()
        self._session = TunerSession(space, seed, techniques, insight, until, experiences)
        self.probability: float | None = None
        self.expectation: Expectation | None = None
        self.weights: tuple[float, ...] | None = None

    def ask(self) -> Point | None:
        """The next point; None when all points of the space have been handed out.

        Raises:
            SearchProcessFailed: OpenTuner's process failed.
        """
        self.expectation = None
        while self._first:
            point = self._first.popleft()
            if self.add(point.configuration):
                return point
        if len(self._seen) >= self._space.size:
            return self._refusal()
        for _ in range(_FRUITLESS_ASKS):
            proposal = self._session.ask()
            if proposal is None:
                # It waits for results, or one of its techniques let the others go first.
                continue
            self.probability = proposal.probability
            self.expectation = proposal.expectation or self.expectation
            self.weights = proposal.weights
            configuration = self._space.canonicalise(proposal.values)
            seen = self._seen.get(self._identity(configuration))
            if seen is None:
                seen = self._see(configuration)
                if seen.told is None:
                    seen.proposals.append(proposal.id)
                    self._handed_out += 1
                    return Point(configuration, proposal.technique)
            if seen.told is None:
                seen.proposals.append(proposal.id)
            else:
                told = seen.told
                self._session.tell(proposal.id, told.value, told.status, told.bound)
        drawn = self._unseen()
        if drawn is None:
            return self._refusal()
        self._handed_out += 1
        return Point(drawn, SAMPLER)

    def add(self, configuration: Configuration) -> bool:
        """Hand out a configuration that was chosen elsewhere, a baseline.

        Returns:
            Whether it is a point of the space not handed out before, so that its result is to be
            told.
        """
        point = parameters.point_of(self._space, configuration)
        if point is None or self._identity(point) in self._seen:
            return False
        self._seen[self._identity(point)] = _Seen(point)
        self._handed_out += 1
        return True

    def tell(self, configuration: Configuration, told: TrialResult) -> None:
        """Tell the result of a point that was handed out, once; OpenTuner learns of it.

        Raises:
            SearchProcessFailed: OpenTuner's process failed.
        """
        seen = self._seen.get(self._identity(configuration))
        if seen is None:  # not in the form in which points are handed out
            seen = self._seen[self._identity(self._space.canonicalise(configuration))]
        seen.told = told
        if not seen.proposals:
            values = parameters.complete_values(self._space, seen.configuration)
            self._session.inject(values, told.value, told.status, told.bound)
        for proposal in seen.proposals:
            self._session.tell(proposal, told.value, told.status, told.bound)
        seen.proposals.clear()

    def close(self) -> None:
        """End OpenTuner's process."""
        self._session.close()

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _identity(self, configuration: Configuration) -> str:
        """Equal for points that are the same run."""
        if self._known is None:
            return configuration.sha256
        return self._known.identity(configuration)

    def _see(self, configuration: Configuration) -> _Seen:
        """Remember a point not seen before; one that cannot run has its result at once."""
        seen = self._seen[self._identity(configuration)] = _Seen(configuration)
        if self._known is not None and (
            self._space.infeasible(configuration) or self._known.infeasible(configuration)
        ):
            seen.told = TrialResult(None, "infeasible")
            self._refused = self._refused or configuration
        return seen

    def _refusal(self) -> Point | None:
        """At the end of the space: a point that cannot run, where none can, so that it is told."""
        refused, self._refused = self._refused, None
        if refused is None or self._handed_out:
            return None
        self._handed_out += 1
        return Point(refused, SAMPLER)

    def _unseen(self) -> Configuration | None:
        """A point not handed out yet that can run, now remembered; None where there is none."""
        for _ in range(_FRUITLESS_DRAWS):
            drawn = self._space.sample(self._random)
            if self._identity(drawn) not in self._seen and self._see(drawn).told is None:
                return drawn
        # Few points are left. The walk never turns back: what it passed has been handed out.
        for point in self._walk:
            if self._identity(point) not in self._seen and self._see(point).told is None:
                return point
        return None

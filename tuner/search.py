"""The search above OpenTuner: every point once, known results told at once, and an end.

OpenTuner proposes values; here they become points of the space (conditions applied), and a point is
handed out once a job. This is the de-duplication that the design asks for above OpenTuner's own.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType

from searchspace.configuration import Configuration
from searchspace.space import SearchSpace
from tuner import parameters
from tuner.objective import Told
from tuner.session import TunerSession

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
    told: Told | None = None
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
    ) -> None:
        self._space = space
        self._first = deque(first)
        self._seen: dict[str, _Seen] = {}
        # Seeded by text, so that its draws are not those of OpenTuner with the same number.
        self._random = random.Random(f"{seed} sampler")  # noqa: S311
        self._walk = space.enumerate()
        self._session = TunerSession(space, seed, techniques)

    def ask(self) -> Point | None:
        """The next point; None when all points of the space have been handed out.

        Raises:
            SearchProcessFailed: OpenTuner's process failed.
        """
        while self._first:
            point = self._first.popleft()
            if self.add(point.configuration):
                return point
        if len(self._seen) >= self._space.size:
            return None
        for _ in range(_FRUITLESS_ASKS):
            proposal = self._session.ask()
            if proposal is None:
                # It waits for results, or one of its techniques let the others go first.
                continue
            configuration = self._space.canonicalise(proposal.values)
            seen = self._seen.get(configuration.sha256)
            if seen is None:
                self._seen[configuration.sha256] = _Seen(configuration, proposals=[proposal.id])
                return Point(configuration, proposal.technique)
            if seen.told is None:
                seen.proposals.append(proposal.id)
            else:
                self._session.tell(proposal.id, seen.told.value, seen.told.status)
        configuration = self._unseen()
        self._seen[configuration.sha256] = _Seen(configuration)
        return Point(configuration, SAMPLER)

    def add(self, configuration: Configuration) -> bool:
        """Hand out a configuration that was chosen elsewhere, a baseline.

        Returns:
            Whether it is a point of the space not handed out before, so that its result is to be
            told.
        """
        point = parameters.point_of(self._space, configuration)
        if point is None or point.sha256 in self._seen:
            return False
        self._seen[point.sha256] = _Seen(point)
        return True

    def tell(self, configuration: Configuration, told: Told) -> None:
        """Tell the result of a point that was handed out, once; OpenTuner learns of it.

        Raises:
            SearchProcessFailed: OpenTuner's process failed.
        """
        seen = self._seen.get(configuration.sha256)
        if seen is None:  # not in the form in which points are handed out
            seen = self._seen[self._space.canonicalise(configuration).sha256]
        seen.told = told
        if not seen.proposals:
            values = parameters.complete_values(self._space, seen.configuration)
            self._session.inject(values, told.value, told.status)
        for proposal in seen.proposals:
            self._session.tell(proposal, told.value, told.status)
        seen.proposals.clear()

    def close(self) -> None:
        """End OpenTuner's process."""
        self._session.close()

    def __enter__(self) -> Search:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _unseen(self) -> Configuration:
        """A point not handed out yet; there must be one."""
        for _ in range(_FRUITLESS_DRAWS):
            drawn = self._space.sample(self._random)
            if drawn.sha256 not in self._seen:
                return drawn
        # Few points are left. The walk never turns back: what it passed has been handed out.
        return next(point for point in self._walk if point.sha256 not in self._seen)

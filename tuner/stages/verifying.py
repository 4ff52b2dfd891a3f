"""Evaluating on the whole trace what a truncated one estimated to be best."""

from __future__ import annotations

from storage.records import Trial, TrialKind
from tuner.objective import TrialResult, cutoff
from tuner.stages.course import Course
from tuner.stages.estimates import Estimates
from tuner.stages.stage import Asked, Stop
from tuner.verification import IN_FLIGHT, Race

__all__ = ["VerifiedBaselines", "VerifiedPoints"]


class _Verifying:
    """A race of verifications."""

    kind: TrialKind

    def __init__(self, course: Course, estimates: Estimates) -> None:
        self.in_flight = min(course.spec.batch_size, IN_FLIGHT)
        self._course = course
        self._estimates = estimates
        self._race: Race | None = None

    def _running(self) -> Race:
        assert self._race is not None, "a stage begins before it asks"
        return self._race

    def ask(self) -> Asked:
        """Have the next of the race evaluated on the whole trace."""
        race = self._running()
        entrant = race.start()
        number = self._course.ask(
            self.kind,
            entrant.configuration,
            inside=entrant.inside,
            label=entrant.label,
            bound=cutoff(race.best, self._course.spec.cutoff_factor),
        )
        return Asked(number, entrant.configuration, entrant=entrant)

    def tell(self, asked: Asked, trial: Trial, result: TrialResult) -> None:
        """Enter a whole value into the race."""
        assert asked.entrant is not None, "only entrants are asked"
        self._running().finish(asked.entrant, trial)
        if result.value is not None:
            self._estimates.enter(trial, asked.configuration, result.value)


class VerifiedBaselines(_Verifying):
    """The best of the estimated baselines, before the search.

    Args:
        course: Of the job.
        estimates: Those so far.
    """

    kind: TrialKind = "baseline"

    def begin(self) -> None:
        """Line up the baselines."""
        self._race = self._estimates.race_of_baselines()

    def end(self) -> Stop | None:
        """Why no baseline may be verified now."""
        return "done" if self._running().over else self._course.end()


class VerifiedPoints(_Verifying):
    """The best points, in the end.

    Args:
        course: Of the job.
        estimates: Those so far.
    """

    kind: TrialKind = "verification"

    def begin(self) -> None:
        """Line up the points."""
        self._race = self._estimates.race_of_points()

    def end(self) -> Stop | None:
        """Why no finalist may be verified now; budgets have kept back what it takes."""
        return self._course.end_of_extra(over=self._running().over)

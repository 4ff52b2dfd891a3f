"""The best configurations with the other network model, after all else."""

from __future__ import annotations

from collections.abc import Callable

from storage.records import Trial
from tuner.objective import TrialResult
from tuner.stages.course import Course
from tuner.stages.stage import Asked, Stop

__all__ = ["Comparing"]


class Comparing:
    """One finalist after the other; the budget does not count them.

    Args:
        course: Of the job.
        search_seconds: Says how many CPU seconds of the simulator came before the first comparison.
    """

    in_flight = 1

    def __init__(self, course: Course, search_seconds: Callable[[], float]) -> None:
        self._course = course
        self._search_seconds = search_seconds

    def begin(self) -> None:
        """See what a comparison may take."""
        limits = self._course.spec.comparison_limits(self._search_seconds())
        self._course.comparison.begin(limits.wall_seconds)

    def end(self) -> Stop | None:
        """Why no finalist may be evaluated with the other model now."""
        return self._course.end_of_extra(over=self._course.comparison.over)

    def ask(self) -> Asked:
        """Have the next finalist evaluated with the other model."""
        configuration = self._course.comparison.start()
        number = self._course.ask("comparison", configuration, inside=False)
        return Asked(number, configuration)

    def tell(self, asked: Asked, trial: Trial, result: TrialResult) -> None:
        """See whether the next one is affordable."""
        self._course.comparison.finish(trial)

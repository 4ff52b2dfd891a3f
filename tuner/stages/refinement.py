"""The mapping of the best configuration, changed until nothing better is found."""

from __future__ import annotations

import logging
from collections.abc import Callable

from searchspace.errors import HamtuneError
from storage.records import Trial
from storage.storage import Storage
from tuner.mapping_refiner import MappingRefiner
from tuner.objective import TrialResult, cutoff
from tuner.stages.course import Course
from tuner.stages.estimates import Estimates
from tuner.stages.stage import PAUSED, Asked, Stop

__all__ = ["Refinement"]

log = logging.getLogger("hamtune.tuner")


class Refinement:
    """Trials of other mappings of the best trial.

    Args:
        course: Of the job.
        storage: Where trials are kept.
        job_id: Of the job.
        refiner_of: Makes what refines a trial's mapping.
        estimates: Where trials are estimates, those so far; None where they are not.
    """

    def __init__(
        self,
        course: Course,
        storage: Storage,
        job_id: str,
        refiner_of: Callable[[Trial], MappingRefiner],
        estimates: Estimates | None,
    ) -> None:
        self.in_flight = course.spec.batch_size
        self._course = course
        self._storage = storage
        self._job_id = job_id
        self._refiner_of = refiner_of
        self._estimates = estimates
        self._refiner: MappingRefiner | None = None
        self._asked = 0
        self._exhausted = False

    def begin(self) -> None:
        """Find out what to refine; nothing where the search has found nothing."""
        if self._course.leader is None:
            return
        best = self._storage.trials.get(self._job_id, self._course.leader[1])
        try:
            self._refiner = self._refiner_of(best)
        except HamtuneError as error:
            log.warning("the mapping of trial %d is not refined: %s", best.number, error)

    def end(self) -> Stop | None:
        """Why no mapping may be tried now."""
        job = self._course.look()
        done = self._asked >= self._course.spec.refinement or self._exhausted
        if self._refiner is None or done or self._course.ledger.spent() is not None:
            return "done"
        if self._course.next_is_stored:
            return None
        if self._course.out_of_time:
            return "done"
        return PAUSED if job.state == "pausing" else None

    def ask(self) -> Asked | None:
        """Have the next mapping evaluated; None where no new one was found."""
        assert self._refiner is not None, "only what has begun is asked"
        configuration = self._refiner.ask()
        if configuration is None:
            self._exhausted = True
            return None
        self._asked += 1
        number = self._course.ask(
            "refinement",
            configuration,
            inside=self._estimates is None,
            bound=self._cutoff(self._refiner.best),
        )
        return Asked(number, configuration, inside=True)

    def _cutoff(self, best: float) -> float | None:
        """A refinement keeps what is better alone, so it needs no time of what is worse."""
        factor = self._course.spec.cutoff_factor
        return cutoff(best, None if factor is None else min(factor, 1.0))

    def tell(self, asked: Asked, trial: Trial, result: TrialResult) -> None:
        """Tell the refiner, with all that the simulation said."""
        assert self._refiner is not None, "only what was asked is told"
        if trial.state == "completed":
            trial = self._storage.trials.get(trial.job_id, trial.number)
            if self._estimates is not None:
                self._estimates.enter_refined(trial, asked.configuration)
        self._refiner.tell(asked.configuration, trial)

"""The loop of a job: ask, have evaluated, tell in ask order.

The loop is also the replay: it begins with trial 1 whenever a coordinator takes a job, and trials
that are stored with an outcome are told without being evaluated. Trial k + batch is asked after
trial k was told, and its cutoff comes from what was told before, so that asks, tells and trials are
the same for any number of workers and after any crash. What is asked is up to the stage at hand
(`tuner.stages`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from searchspace.job import BuiltSpace, JobSpec
from storage.records import Job, Trial
from storage.storage import Storage
from tuner.errors import ArtifactFailed
from tuner.evaluations import Evaluator
from tuner.lease import LOOK_SECONDS, Lease
from tuner.mapping_refiner import MappingRefiner
from tuner.objective import result_of
from tuner.scripts import ProposedByScripts
from tuner.search import Search
from tuner.stages.course import Course
from tuner.stages.estimates import Estimates
from tuner.stages.plan import planned
from tuner.stages.stage import PAUSED, Asked, End, Stage, Stop, Wait
from tuner.trials import Trials

__all__ = ["PAUSED", "TrialLoop"]

_TEND_SECONDS = 2.0


class TrialLoop:
    """The trials of one job, under a lease.

    Args:
        storage: Where they are kept.
        lease: Under which the job is driven.
        evaluations: Has them evaluated.
        spec: The job.
        built: Its space and baselines.
        search: The search over that space, fresh, or what scripts propose.
        truncated: Whether its trials are estimates from a truncated trace, the best of which are
            to be verified in the end.
        compares: Whether the best are evaluated by the fluid model too, in the very end.
        refiner: Makes what refines a trial's mapping; None where the job wants no refinement.
        look: Returns the job as it was at most so many seconds ago; raises where the loop is to
            stop at once.
        pause: Waits until there may be news of the job, or until it is time to look again.
    """

    def __init__(
        self,
        storage: Storage,
        lease: Lease,
        evaluations: Evaluator,
        spec: JobSpec,
        built: BuiltSpace,
        search: Search | ProposedByScripts,
        *,
        truncated: bool = False,
        compares: bool = False,
        refiner: Callable[[Trial], MappingRefiner] | None = None,
        look: Callable[[float], Job],
        pause: Callable[[], object],
    ) -> None:
        self._spec = spec
        self._evaluations = evaluations
        self._look = look
        self._pause = pause
        self._trials = Trials(storage, lease, evaluations, spec, built)
        self._course = Course(spec, built, self._trials, lease, truncated=truncated, look=look)
        self._estimates = Estimates(built.space) if truncated else None
        stages = planned(
            self._course,
            built,
            search,
            storage,
            lease,
            estimates=self._estimates,
            refiner=refiner,
            compares=compares,
        )
        self._stages = deque(stages)
        self._begun = False  # the stage at hand
        self._window: deque[Asked] = deque()
        self._search_end: End | None = None
        self._tended = time.monotonic()

    def run(self) -> Stop:
        """Go on until the job ends or is to pause, with nothing in flight.

        May be called again after a pause that was taken back.

        Returns:
            `paused`, or why the search ended.

        Raises:
            ReplayDiverged: A trial is stored with another configuration than the search asks.
            LeaseLost: Another coordinator holds the job.
            ArtifactFailed: What a trial needed is missing or altered, and the job is to stop then.
        """
        while self._stages:
            stage = self._stages[0]
            if not self._begun:
                stage.begin()
                self._begun = True
            end = self._run_stage(stage)
            self._trials.store_outlooks()
            if end == "paused":
                return PAUSED
            if end != "done" and self._search_end is None:
                self._search_end = end
            self._stages.popleft()
            self._begun = False
        assert self._search_end is not None, "the stage of the search has an end of its own"
        return self._search_end

    def failure(self) -> str | None:
        """Why the job has no result, where it has none."""
        ledger = self._course.ledger
        failure = ledger.failure()
        if self._estimates is None or ledger.hopeless:
            return failure
        if self._estimates.best_verified is not None:
            return None
        return failure or "none of the best trials could be verified on the whole trace"

    def _run_stage(self, stage: Stage) -> Stop:
        """Ask, have evaluated and tell until there is an end and nothing is in flight."""
        while True:
            end = self._fill(stage)
            if not self._window:
                if end == "idle":
                    self._wait()
                elif end is not None:
                    return end
            elif self._leaves_off(end):
                return PAUSED
            elif end == PAUSED or not self._may_tell():
                self._wait()
            else:
                oldest = self._window.popleft()
                self._tell(stage, oldest, self._finished(oldest.number))

    def _fill(self, stage: Stage) -> Wait | None:
        """Ask until as many are in flight as may be; why no more may be asked, where that is so."""
        while len(self._window) < stage.in_flight:
            end = stage.end()
            if end is not None:
                return end
            asked = stage.ask()
            if asked is not None:
                self._window.append(asked)
        return None

    def _leaves_off(self, end: Wait | None) -> bool:
        """Whether to pause now, with trials in flight whose outcomes are not told yet."""
        if self._spec.external == "measurements":
            # A script may be at them for hours, and may tell them while the job is paused.
            return end == PAUSED or self._look(LOOK_SECONDS).state == "pausing"
        # Nothing is told that the trial which cannot be asked now would not have known.
        return end == PAUSED and all(self._has_ended(asked.number) for asked in self._window)

    def _may_tell(self) -> bool:
        """Whether to see to the oldest trial in flight now, and wait for it if need be.

        Where there are scripts, something else may come first: a proposal, or a wish to pause.
        """
        return self._spec.external is None or self._has_ended(self._window[0].number)

    def _finished(self, number: int) -> Trial:
        """Wait for the outcome of the oldest trial in flight."""
        while not self._has_ended(number):
            self._wait()
        return self._trials.take(number)

    def _has_ended(self, number: int) -> bool:
        """Whether a trial in flight has its outcome."""
        return self._trials.has_ended(number, len(self._window) + 1)

    def _wait(self) -> None:
        """Wait for news, and see to it that none has to be waited for in vain."""
        self._look(0.0)
        if time.monotonic() - self._tended >= _TEND_SECONDS:
            self._evaluations.tend()
            self._tended = time.monotonic()
        self._pause()

    def _tell(self, stage: Stage, asked: Asked, trial: Trial) -> None:
        if self._spec.on_artifact_failure == "stop" and trial.state == "failed":
            reason = trial.reason or {}
            if reason.get("kind") == "artifact":
                raise ArtifactFailed(
                    f"trial {trial.number} could not be evaluated: {reason['message']}"
                )
        result = result_of(trial)
        self._course.note(asked, trial, result)
        stage.tell(asked, trial, result)

"""One coordinator's work on one job: its states, from wherever it stands to its end or pause."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from functools import partial
from threading import Event

from searchspace.insight import Insight
from searchspace.job import BuiltSpace, JobSpec
from searchspace.units import format_duration
from storage.errors import Conflict
from storage.insights import insight_of
from storage.messages import PREPARE
from storage.records import FINAL_JOB_STATES, Job, JobState, Trial
from storage.storage import Storage
from tuner.evaluations import Backlog, Dispatch, Evaluations, Evaluator, Silence
from tuner.finalists import candidates_of
from tuner.job_space import (
    experiences_of,
    is_compared,
    is_truncated,
    mapped_points,
    read_job,
    space_of,
)
from tuner.lease import LOOK_SECONDS, Lease
from tuner.mapping_refiner import MappingRefiner, refiner_of
from tuner.scripts import MeasuredByScripts, ProposedByScripts
from tuner.search import Search
from tuner.search_process import start_server
from tuner.trial_loop import PAUSED, TrialLoop
from tuner.wakeups import LookWakeup

__all__ = ["JobRun", "Stopped"]

_RESEND_SECONDS = 1.0
_TEND_SECONDS = 2.0  # between two looks at what is measured
_LONGEST_WAITS = 12  # times the patience: where every worker has been busy for long

log = logging.getLogger("hamtune.tuner")


class Stopped(Exception):
    """The coordinator is stopping, or the job is in a state that is not its to leave."""


class _Cancelled(Exception):
    """The job is to be cancelled."""


class _Asking:
    """When to ask for a preparation: again and again, ever less often, until somebody answers."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._wait = patience
        self._next = time.monotonic()

    def due(self) -> bool:
        return time.monotonic() >= self._next

    def asked(self) -> None:
        self._next = time.monotonic() + self._wait
        self._wait = min(2 * self._wait, _LONGEST_WAITS * self._patience)

    def heard(self) -> None:
        self._wait = self._patience
        self._next = time.monotonic() + self._wait


class JobRun:
    """Drives one job.

    Args:
        storage: Where the job is.
        dispatch: Sends tasks to workers.
        lease: Under which the job is driven.
        stop: When set, the work ends as soon as it can; the job stays as it is.
        silence: When workers are given up.
        backlog: Tells how many messages about evaluations wait; None where that cannot be asked.
        orphaned: Whether the workers of earlier coordinators are dead for certain.
        wakeup: Rings when something may have happened to the job.
    """

    def __init__(
        self,
        storage: Storage,
        dispatch: Dispatch,
        lease: Lease,
        stop: Event,
        *,
        silence: Silence,
        backlog: Backlog | None,
        orphaned: bool,
        wakeup: LookWakeup,
    ) -> None:
        self._storage = storage
        self._dispatch = dispatch
        self._lease = lease
        self._stop = stop
        self._silence = silence
        self._backlog = backlog
        self._orphaned = orphaned
        self._wakeup = wakeup
        self._begun = self._tended = time.monotonic()

    def run(self) -> None:
        """Drive the job until it is paused or has ended.

        Raises:
            Stopped: The coordinator is stopping.
            LeaseLost: Another coordinator holds the job.
            HamtuneError: The job cannot go on.
        """
        job = self._lease.job
        if (
            job.state in ("queued", "preparing", "running")
            and job.spec.get("external") != "proposals"
        ):
            start_server()  # which is ready once the job is prepared
        try:
            if self._prepare():
                self._tune()
        except _Cancelled:
            self._transition("cancelled", "cancelling")

    def _tune(self) -> None:
        self._begun = self._tended = time.monotonic()  # scripts could do nothing before
        job = self._lease.job
        spec = read_job(self._storage, job)
        built = space_of(self._storage, job, spec, partial(self._look, max_age=math.inf))
        with self._searching(job, spec, built) as search:
            loop = TrialLoop(
                self._storage,
                self._lease,
                self._evaluator(spec),
                spec,
                built,
                search,
                truncated=is_truncated(job),
                compares=is_compared(self._storage, job, spec),
                refiner=self._refiner(job, spec) if spec.refinement else None,
                look=self._look_running,
                pause=self._pause
                if spec.external is None
                else partial(self._wait_for_scripts, spec),
            )
            while not self._ended(loop, spec):
                # A job resumed just then is queued, which no end is reached from: it runs on.
                self._look_running(max_age=0.0)

    def _evaluator(self, spec: JobSpec) -> Evaluator:
        """Who evaluates the trials: workers, or scripts."""
        if spec.external == "measurements":
            return MeasuredByScripts(self._storage, self._lease)
        evaluations = Evaluations(
            self._storage,
            self._dispatch,
            self._lease,
            self._silence,
            concurrency=spec.concurrency,
            backlog=self._backlog,
        )
        evaluations.take_over(orphaned=self._orphaned)
        return evaluations

    def _searching(self, job: Job, spec: JobSpec, built: BuiltSpace) -> Search | ProposedByScripts:
        """Who proposes the trials: the search, or scripts."""
        if spec.external == "proposals":
            baselines = len(built.baselines)
            return ProposedByScripts(self._storage, self._lease, built.space, baselines)
        return Search(
            built.space,
            spec.seed,
            spec.techniques,
            first=mapped_points(job, built.space),
            insight=self._insight(job, spec),
            until=spec.budget.until,
            experiences=experiences_of(self._storage, job),
        )

    def _insight(self, job: Job, spec: JobSpec) -> Insight | None:
        assert job.application_id is not None, "the job is prepared"
        application = self._storage.applications.get(job.application_id)
        return insight_of(self._storage, job, spec, application)

    def _refiner(self, job: Job, spec: JobSpec) -> Callable[[Trial], MappingRefiner]:
        assert job.application_id is not None, "the job is prepared"
        application = self._storage.applications.get(job.application_id)
        return partial(refiner_of, self._storage, job, spec, application)

    def _ended(self, loop: TrialLoop, spec: JobSpec) -> bool:
        """Run the loop and store how it ended; False where a user interfered just then."""
        end = loop.run()
        if end == PAUSED:
            return self._transition("paused", "pausing")
        failure = loop.failure()
        if failure is not None or end == "hopeless":
            return self._transition("failed", "running", "pausing", error=failure)
        if not self._measured(spec):
            return self._transition("paused", "pausing")
        return self._transition("completed", "running", "pausing", ended_because=end)

    def _measured(self, spec: JobSpec) -> bool:
        """Have the finalists measured, where the job wants that; False where it is to pause.

        What is to be measured is committed first, and from then on it is agents who change it.
        """
        job_id, token = self._lease.job.id, self._lease.token
        if spec.finalists is None:
            return True
        best = self._storage.trials.best(job_id)
        candidates = candidates_of(self._storage, job_id, spec)
        if best is None or not candidates:
            return True
        settings = {**spec.finalists.model_dump(mode="json"), "library": spec.finalists.library}
        found = self._storage.measured_runs.open_measuring(
            job_id, token, settings, candidates, best.number
        )
        tended = time.monotonic()
        while found.state == "open":
            if self._look_running(max_age=0.0).state == "pausing":
                return False
            self._wakeup.wait(min(_TEND_SECONDS, self._lease.unattended_seconds))
            now = time.monotonic()
            if now - tended >= _TEND_SECONDS:
                found = self._storage.measured_runs.tend_measuring(job_id, token, now - tended)
                tended = now
            else:
                found = self._storage.measured_runs.measuring(job_id) or found
        log.info("the finalists are %s: %s", found.state, found.because or "all were measured")
        return True

    def _prepare(self) -> bool:
        """Bring the job to where it has a space and runs; False where it was paused before."""
        asking = _Asking(self._silence.preparing_seconds)
        while True:
            self._look(max_age=0.0)
            job = self._storage.jobs.get(self._lease.job.id)
            self._lease.job = job
            if job.space is not None:
                # One that is to pause may have trials in flight: those are seen to first.
                if job.state in ("running", "pausing") or self._transition("running", job.state):
                    return True
            elif job.state == "pausing":
                if self._transition("paused", "pausing"):
                    return False
            elif job.state == "queued":
                self._transition("preparing", "queued")
            else:
                if asking.due():
                    if self._storage.preparations.is_under_way(job.id):
                        asking.heard()
                    elif self._asked_to_prepare(job):
                        asking.asked()
                self._pause()

    def _asked_to_prepare(self, job: Job) -> bool:
        try:
            self._dispatch(PREPARE, job.id)
        except Exception as error:  # whatever a broker raises when it is away
            log.warning("job %s could not be sent to be prepared: %s", job.id, error)
            self._stop.wait(_RESEND_SECONDS)
            return False
        return True

    def _pause(self) -> None:
        """Wait for a notification of the job, or until it is time to look; the lease is kept."""
        self._wakeup.wait(self._lease.unattended_seconds)
        self._look(max_age=math.inf)

    def _wait_for_scripts(self, spec: JobSpec) -> None:
        """As `_pause`; a job whose script has not been heard of for long is paused.

        It would keep a coordinator from driving others.
        """
        self._pause()
        now = time.monotonic()
        if now - self._tended < _TEND_SECONDS or self._lease.job.state == "pausing":
            return
        self._tended = now
        job_id, limit = self._lease.job.id, self._silence.script_seconds
        exchange = self._storage.scripts.last_exchange(job_id)
        silent = math.inf if exchange.at is None else exchange.now - exchange.at
        if min(silent, now - self._begun) < limit:
            return
        if spec.external == "measurements" or not self._storage.attempts.unfinished(job_id):
            because = f"no script was heard of for {format_duration(limit)}"
            self._transition("pausing", self._lease.job.state, paused_because=because)

    def _look(self, *, max_age: float = LOOK_SECONDS) -> Job:
        """The job, unless the work on it is over."""
        if self._stop.is_set():
            raise Stopped
        # A wish that has been heard of is seen to before anything else is asked.
        job = self._lease.look(max_age=0.0 if self._wakeup.has_job_changed() else max_age)
        if job.state == "cancelling":
            raise _Cancelled
        if job.state == "paused" or job.state in FINAL_JOB_STATES:
            raise Stopped
        if self._lease.exhausted is not None and job.state != "pausing":
            self._transition("pausing", job.state, paused_because=self._lease.exhausted)
            job = self._lease.look(max_age=0.0)
        return job

    def _look_running(self, max_age: float = LOOK_SECONDS) -> Job:
        """The job while its trials run; one that was resumed before it had paused runs on."""
        job = self._look(max_age=max_age)
        if job.state == "queued":
            self._transition("running", "queued")
            job = self._look(max_age=0.0)
        return job

    def _transition(
        self,
        to: JobState,
        *expected: JobState,
        error: str | None = None,
        ended_because: str | None = None,
        paused_because: str | None = None,
    ) -> bool:
        """Change the job's state; False where a user changed it meanwhile."""
        try:
            self._storage.jobs.transition(
                self._lease.job.id,
                to,
                expected=expected,
                token=self._lease.token,
                error=error,
                ended_because=ended_because,
                paused_because=paused_because,
            )
        except Conflict as conflict:
            log.info("%s", conflict)
            return False
        because = ended_because or error or paused_because
        log.info("the job is %s%s", to, f": {because}" if because else "")
        return True

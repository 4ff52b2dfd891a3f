"""Coordinators: take jobs under a lease and drive them, one thread and one search process a job.

A coordinator that drives as many jobs as it can gives one back when a project has none driven at
all: replay brings it to where it was once it is taken again.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from threading import Event, Thread
from typing import NamedTuple

from searchspace.errors import HamtuneError
from storage.errors import Conflict, LeaseLost, Unavailable
from storage.log_context import about
from storage.metrics import METRICS
from storage.records import Job
from storage.spans import span
from storage.storage import Storage
from tuner.errors import SearchProcessFailed
from tuner.evaluations import Backlog, Dispatch, Silence
from tuner.job_run import JobRun, Stopped
from tuner.lease import Lease
from tuner.wakeups import LookWakeup, job_wakeup, queue_wakeup

__all__ = ["Coordinator"]

_LEASE_SECONDS = 10.0
_JOBS = 8
_TRIES = 3
_TURN_SECONDS = 30.0
_AGAIN_SECONDS = 1.0  # after a failure that nobody has thought of

log = logging.getLogger("hamtune.tuner")


class _Driven(NamedTuple):
    """A job that is driven: by which thread, what ends that, and since when."""

    job: Job
    thread: Thread
    end: Event
    since: float


class Coordinator:
    """Drives jobs. Any number of coordinators may share a storage.

    Args:
        storage: Where jobs are.
        dispatch: Sends a task (`storage.messages`) with an id to a worker.
        owner: Name of this coordinator, no other's.
        embedded: Coordinators and workers live in this process alone, so that what an earlier
            process held or left running is dead; it is taken and begun again at once instead of
            after a silence.
        lease_seconds: After how long another coordinator takes over the jobs of one that died.
        jobs: How many jobs are driven at once; the others stay queued.
        silence: When workers are given up.
        backlog: Tells how many messages about evaluations wait; None where that cannot be asked.
        turn_seconds: For how long a job is driven before it may have to make room for that of a
            project without any.

    Example:
        >>> job = storage.leases.acquire("me", 10.0)
        >>> Coordinator(storage, dispatch, "me").run_job(job)
    """

    def __init__(
        self,
        storage: Storage,
        dispatch: Dispatch,
        owner: str,
        *,
        embedded: bool = False,
        lease_seconds: float = _LEASE_SECONDS,
        jobs: int = _JOBS,
        silence: Silence | None = None,
        backlog: Backlog | None = None,
        turn_seconds: float = _TURN_SECONDS,
    ) -> None:
        self._storage = storage
        self._dispatch = dispatch
        self._owner = owner
        self._embedded = embedded
        self._lease_seconds = lease_seconds
        self._jobs = jobs
        self._silence = silence or Silence()
        self._backlog = backlog
        self._turn_seconds = turn_seconds

    def serve(self, stop: Event, *, only: str | None = None) -> None:
        """Take jobs and drive them until told to stop; then leave them resumable and return.

        Whatever fails while it looks for jobs is logged, and it looks again.

        Args:
            stop: When set, the work ends as soon as it can.
            only: The id of the one job to take, whenever it may be had; None for all jobs.
        """
        driven: list[_Driven] = []
        try:
            with queue_wakeup(self._storage, embedded=self._embedded) as wakeup:
                while not stop.is_set():
                    self._look(only, driven, wakeup, stop)
        finally:
            self._leave(driven)

    def _look(
        self, only: str | None, driven: list[_Driven], wakeup: LookWakeup, stop: Event
    ) -> None:
        """Take the next job, or wait until it is time to look again."""
        try:
            if not self._take(only, driven):
                wakeup.wait()
        except Exception:  # a coordinator that ended here would drive nothing any more
            log.exception("jobs wait")
            stop.wait(_AGAIN_SECONDS)

    def _take(self, only: str | None, driven: list[_Driven]) -> bool:
        """Take the next job, if there is room and one waits, among those that are driven."""
        driven[:] = [one for one in driven if one.thread.is_alive()]
        most = self._jobs if only is None else 1
        job = self._next_job(only, driven) if len(driven) < most else None
        if job is None:
            if only is None and len(driven) == most:
                self._make_room(driven)
            return False
        end = Event()
        thread = Thread(target=self.run_job, args=(job, end), name=f"job-{job.id}")
        thread.start()
        driven.append(_Driven(job, thread, end, time.monotonic()))
        return True

    def _leave(self, driven: Sequence[_Driven]) -> None:
        """End the work on all jobs, and wait until it has ended."""
        for one in driven:
            one.end.set()
        self._storage.notifications.announce([None])  # which ends their waiting for notifications
        for one in driven:
            one.thread.join()

    def _make_room(self, driven: list[_Driven]) -> None:
        """Give a job back if another project has none driven: one of the project with the most."""
        had_turn = time.monotonic() - self._turn_seconds
        if any(one.end.is_set() for one in driven):
            return
        able = [one for one in driven if one.since <= had_turn]
        if not able or not self._is_anybody_left_out():
            return
        jobs = Counter(one.job.project for one in driven)
        # Of several the last one, which has the least to replay.
        given = max(able, key=lambda one: (jobs[one.job.project], one.since))
        log.info("job %s makes room for one of another project", given.job.id)
        given.end.set()

    def _is_anybody_left_out(self) -> bool:
        try:
            return self._storage.leases.has_left_out_project()
        except Unavailable as error:
            log.warning("%s", error)
            return False

    def run_job(self, job: Job, stop: Event | None = None) -> None:
        """Drive one job that `Leases.acquire` returned, until it pauses or ends.

        Problems of the job end it as failed; none is raised. A lost lease or an unavailable
        database leaves it to whoever takes it next.

        Args:
            job: The job, under a fresh lease.
            stop: When set, the job is left as it is, resumable, and given free.
        """
        lease = Lease(self._storage, job, self._lease_seconds)
        with about(job=job.id), span("drive", job=job.id):
            log.info("took job '%s', which is %s", job.name, job.state)
            try:
                self._drive(lease, stop or Event())
            except Stopped:
                pass
            except (LeaseLost, Unavailable) as error:
                log.warning("left job %s: %s", job.id, error)
                if isinstance(error, LeaseLost):
                    METRICS.count("hamtune_lease_losses")
            finally:
                self._release(lease)

    def _drive(self, lease: Lease, stop: Event) -> None:
        job_id = lease.job.id
        for attempt in range(1, _TRIES + 1):
            try:
                with job_wakeup(self._storage, job_id, embedded=self._embedded) as wakeup:
                    JobRun(
                        self._storage,
                        self._dispatch,
                        lease,
                        stop,
                        silence=self._silence,
                        backlog=self._backlog,
                        # Those of this coordinator's own first try are alive.
                        orphaned=self._embedded and attempt == 1,
                        wakeup=wakeup,
                    ).run()
                return
            except (LeaseLost, Unavailable):
                raise
            except SearchProcessFailed as error:
                message = str(error)
            except HamtuneError as error:
                self._fail(lease, str(error))
                return
            except Stopped:
                raise
            except Exception as error:
                # The broker, or a mistake of ours: often gone when everything is begun afresh.
                message = f"internal error: {error!r}"
                log.exception("the work on job %s failed", job_id)
            if attempt == _TRIES:
                self._fail(lease, message)
            else:
                log.warning("job %s is begun again from what is stored: %s", job_id, message)
                stop.wait(attempt)

    def _fail(self, lease: Lease, message: str) -> None:
        log.error("job %s failed: %s", lease.job.id, message)
        try:
            self._storage.jobs.transition(lease.job.id, "failed", token=lease.token, error=message)
        except Conflict as conflict:
            log.info("%s", conflict)  # it is being cancelled; who takes it next does that

    def _next_job(self, only: str | None, driven: Sequence[_Driven]) -> Job | None:
        try:
            return self._storage.leases.acquire(
                self._owner,
                self._lease_seconds,
                only,
                alone=self._embedded,
                driven=[one.job.id for one in driven],
            )
        except Unavailable as error:
            log.warning("%s", error)
            return None

    def _release(self, lease: Lease) -> None:
        try:
            lease.release()
        except Unavailable as error:
            log.warning("the lease of job %s runs out by itself: %s", lease.job.id, error)

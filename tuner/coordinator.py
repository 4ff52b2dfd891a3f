"""Coordinators: take jobs under a lease and drive them, one thread and one search process a job."""

from __future__ import annotations

import logging
import time
from threading import Event, Thread

from searchspace.errors import HamtuneError
from storage.errors import Conflict, LeaseLost, Unavailable
from storage.records import ACTIVE_JOB_STATES, Job
from storage.storage import Storage
from tuner.errors import SearchProcessFailed
from tuner.evaluations import Dispatch, Silence
from tuner.job_run import JobRun, Stopped
from tuner.lease import Lease

__all__ = ["Coordinator"]

_LEASE_SECONDS = 10.0
_JOBS = 8
_LOOK_FOR_JOBS_SECONDS = 0.1
_TRIES = 3

log = logging.getLogger("hamtune.tuner")


class Coordinator:
    """Drives jobs. Any number of coordinators may share a storage.

    Args:
        storage: Where jobs are.
        dispatch: Sends a task (`storage.messages`) with an id to a worker.
        owner: Name of this coordinator, for people.
        embedded: The workers live in this process alone, so that what an earlier process left
            running is dead; it is begun again at once instead of after a silence.
        lease_seconds: After how long another coordinator takes over the jobs of one that died.
        jobs: How many jobs are driven at once; the others stay queued.
        silence: When workers are given up.

    Example:
        >>> job = storage.acquire_lease("me", 10.0)
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
    ) -> None:
        self._storage = storage
        self._dispatch = dispatch
        self._owner = owner
        self._embedded = embedded
        self._lease_seconds = lease_seconds
        self._jobs = jobs
        self._silence = silence or Silence()

    def serve(self, stop: Event, *, only: str | None = None) -> None:
        """Take jobs and drive them until told to stop; then leave them resumable and return.

        Args:
            stop: When set, the work ends as soon as it can.
            only: The id of the one job to take, whenever it may be had; None for all jobs.
        """
        threads: list[Thread] = []
        while not stop.is_set():
            threads = [thread for thread in threads if thread.is_alive()]
            job = self._next_job(only) if len(threads) < self._jobs else None
            if job is None:
                stop.wait(_LOOK_FOR_JOBS_SECONDS)
                continue
            thread = Thread(target=self.run_job, args=(job, stop), name=f"job-{job.id}")
            thread.start()
            threads.append(thread)
        for thread in threads:
            thread.join()

    def run_job(self, job: Job, stop: Event | None = None) -> None:
        """Drive one job that `Storage.acquire_lease` returned, until it pauses or ends.

        Problems of the job end it as failed; none is raised. A lost lease or an unavailable
        database leaves it to whoever takes it next.

        Args:
            job: The job, under a fresh lease.
            stop: When set, the job is left as it is, resumable, and given free.
        """
        lease = Lease(self._storage, job, self._lease_seconds)
        try:
            self._drive(lease, stop or Event())
        except Stopped:
            pass
        except (LeaseLost, Unavailable) as error:
            log.warning("left job %s: %s", job.id, error)
        finally:
            self._release(lease)

    def _drive(self, lease: Lease, stop: Event) -> None:
        job_id = lease.job.id
        for attempt in range(1, _TRIES + 1):
            run = JobRun(
                self._storage,
                self._dispatch,
                lease,
                stop,
                silence=self._silence,
                # Those of this coordinator's own first try are alive.
                orphaned=self._embedded and attempt == 1,
            )
            try:
                run.run()
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
            self._storage.transition(lease.job.id, "failed", token=lease.token, error=message)
        except Conflict as conflict:
            log.info("%s", conflict)  # it is being cancelled; who takes it next does that

    def _next_job(self, only: str | None) -> Job | None:
        try:
            if not self._something_is_free(only):
                return None
            return self._storage.acquire_lease(self._owner, self._lease_seconds, only)
        except Unavailable as error:
            log.warning("%s", error)
            return None

    def _something_is_free(self, only: str | None) -> bool:
        """Whether a lease may be had: a read, where trying to take one would be a write."""
        now = time.time()
        if only is not None:
            job = self._storage.get_job(only)
            return job.state in ACTIVE_JOB_STATES and _is_free(job, now)
        page = self._storage.list_jobs(state=ACTIVE_JOB_STATES)
        return page.cursor is not None or any(_is_free(job, now) for job in page.items)

    def _release(self, lease: Lease) -> None:
        try:
            lease.release()
        except Unavailable as error:
            log.warning("the lease of job %s runs out by itself: %s", lease.job.id, error)


def _is_free(job: Job, now: float) -> bool:
    return job.lease_owner is None or (job.lease_expires_at or 0.0) <= now

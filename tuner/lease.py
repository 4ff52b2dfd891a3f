"""A coordinator's hold on one job: renewed in time, checked often, given back."""

from __future__ import annotations

import time
from dataclasses import replace

from storage.errors import LeaseLost
from storage.records import Job
from storage.storage import Storage

__all__ = ["LOOK_SECONDS", "Lease"]

LOOK_SECONDS = 0.1
_RENEWALS = 3  # in the time that a lease lasts


class Lease:
    """The lease of a job, held by one thread.

    Args:
        storage: Where it is kept.
        job: The job as `Leases.acquire` returned it.
        seconds: How long the lease lasts unless renewed.
    """

    def __init__(self, storage: Storage, job: Job, seconds: float) -> None:
        self._storage = storage
        self._seconds = seconds
        self._renewed = self._looked = time.monotonic()
        self.token = job.lease_token
        self.job = job
        self.exhausted: str | None = None
        """Which quota the job's project has used up, in words, as it was lately."""

    def look(self, *, max_age: float = LOOK_SECONDS) -> Job:
        """The job, its state as it was lately; renews the lease where that is due.

        Args:
            max_age: How many seconds old the answer may be.

        Raises:
            LeaseLost: Another coordinator holds the job, or it was deleted.
        """
        clock = time.monotonic()
        if self.unattended_seconds <= 0.0:
            self.job = self._storage.leases.renew(self.job.id, self.token, self._seconds)
            self._renewed = self._looked = clock
        elif clock - self._looked >= max_age:
            seen = self._storage.jobs.glance(self.job.id)
            if seen is None:
                raise LeaseLost(f"there is no job {self.job.id}")
            self.job = replace(self.job, state=seen.state, lease_token=seen.lease_token)
            self.exhausted = seen.exhausted
            self._looked = clock
        if self.job.lease_token != self.token:
            raise LeaseLost(f"the lease {self.token} of job {self.job.id} has ended")
        return self.job

    @property
    def unattended_seconds(self) -> float:
        """For how long nobody need look: until the lease is to be renewed."""
        return max(0.0, self._renewed + self._seconds / _RENEWALS - time.monotonic())

    @property
    def active_seconds(self) -> float:
        """Wall seconds that the job has been under a coordinator until now."""
        # Stored up to the last renewal, or a little further: the excess is below a renewal period.
        return self.job.active_seconds + (time.monotonic() - self._renewed)

    def release(self) -> None:
        """Give the job free."""
        self._storage.leases.release(self.job.id, self.token)

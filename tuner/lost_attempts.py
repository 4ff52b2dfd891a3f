"""Attempts of which nothing is heard: lost, and whether the trial is tried again or has failed.

A trial may be what kills its workers. So it bears the blame for those that it loses, and has failed
once it has lost several; of trials that one worker had together each bears its share.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

from storage.metrics import METRICS
from storage.records import Attempt, Outcome, Trial
from storage.storage import Storage
from tuner.lease import Lease

__all__ = ["LostAttempts"]

log = logging.getLogger("hamtune.tuner")


class LostAttempts:
    """The attempts at a job's trials that were lost under a lease, and who is to blame.

    Args:
        storage: Where attempts are kept.
        lease: Under which the job is driven.
        running_seconds: Since the last heartbeat of a running attempt, until it is lost.
        most: How many workers a trial may lose until it has failed.
    """

    def __init__(
        self, storage: Storage, lease: Lease, *, running_seconds: float, most: int
    ) -> None:
        self._storage = storage
        self._lease = lease
        self._running_seconds = running_seconds
        self._most = most
        self._losses: dict[str, Fraction] = defaultdict(Fraction)  # by trial

    def expire(self) -> list[Attempt]:
        """Give up the attempts that nothing was heard of; nobody is blamed.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        lost = self._storage.attempts.expire(
            self._lease.job.id, self._lease.token, self._running_seconds
        )
        for attempt in lost:
            METRICS.count("hamtune_attempts_lost")
            log.warning("nothing was heard of attempt %s (worker %s)", attempt.id, attempt.worker)
        return lost

    def blame(self, lost: Sequence[Attempt]) -> None:
        """Blame trials for workers that were lost together; one that never began has no part."""
        begun = [attempt for attempt in lost if attempt.heartbeat_at is not None]
        together = Counter(attempt.worker for attempt in begun)
        for attempt in begun:
            self._losses[attempt.trial_id] += Fraction(1, together[attempt.worker])

    def may_try_again(self, trial: Trial) -> bool:
        """Whether a trial has not lost too many workers yet."""
        return self._losses[trial.id] < self._most

    def fail(self, trial: Trial) -> None:
        """Settle a trial that has lost too many workers.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        message = f"{self._most} workers in a row were lost while they evaluated it"
        outcome = Outcome(status="failed", reason={"kind": "lost", "message": message})
        self._storage.trials.settle(trial.id, self._lease.token, outcome)

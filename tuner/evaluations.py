"""Having trials evaluated: attempts dispatched to workers, and given up when nobody is heard of.

A message tells a worker that there is something to do; which trial that is, the worker learns from
the database when it is free (`Storage.take_attempt`). So messages need not be in any order, and
only so many of a job are sent as keep the workers busy: the others wait in the database.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from storage.errors import Conflict
from storage.identifiers import attempt_id
from storage.measures import MEASURES
from storage.messages import EVALUATE
from storage.records import Attempt, Outcome, Trial
from storage.storage import Storage
from tuner.lease import Lease

__all__ = ["Dispatch", "Evaluations", "Silence"]

_AHEAD = 8  # messages for each evaluation that workers make at once
_LEAST_AHEAD = 32

Dispatch = Callable[[str, str], None]
"""Sends a task (`storage.messages`) with the id of what it is about to a worker."""

log = logging.getLogger("hamtune.tuner")


@dataclass(frozen=True, kw_only=True)
class Silence:
    """How long a coordinator waits for signs of life.

    Attributes:
        running_seconds: Since the last heartbeat of a running attempt, until it is lost.
        resend_seconds: Since the message of an attempt was sent that no worker has taken, until it
            is sent again, for a broker may lose messages; then twice as long each time, for the
            trial may well have to wait for its turn.
        preparing_seconds: Since a preparation was asked for, until it is asked for again where no
            worker has claimed it; then twice as long each time, for the message may well wait in
            a long queue.
        losses: How many workers a trial may lose until it has failed: it may be what kills them.
    """

    running_seconds: float = 30.0
    resend_seconds: float = 5.0
    preparing_seconds: float = 5.0
    losses: int = 3


@dataclass(frozen=True)
class _Waiting:
    """A message that no worker has acted on: when it was sent, and for how long to trust in it."""

    since: float
    patience: float


class Evaluations:
    """The attempts at a job's trials, under a lease.

    Args:
        storage: Where attempts are kept.
        dispatch: Sends tasks to workers.
        lease: Under which the job is driven.
        silence: When workers are given up.
        concurrency: How many trials of the job are evaluated at once, at most.
    """

    def __init__(
        self,
        storage: Storage,
        dispatch: Dispatch,
        lease: Lease,
        silence: Silence,
        *,
        concurrency: int | None = None,
    ) -> None:
        self._storage = storage
        self._dispatch = dispatch
        self._lease = lease
        self._silence = silence
        self._losses: Counter[str] = Counter()  # by trial, under this lease
        self._unsent: dict[str, Trial] = {}  # whose message the broker did not take
        self._waiting: dict[str, _Waiting] = {}  # by attempt, of those that no worker has taken
        self._concurrency = concurrency
        self._most = concurrency  # open attempts whose messages are sent
        self._sent = 0  # of those, at most: what has ended is found out when it matters
        self._held: deque[str] = deque()  # attempts whose message waits for room

    def take_over(self, *, orphaned: bool) -> None:
        """Give up what an earlier coordinator left that nobody works on.

        Args:
            orphaned: Whether its workers died with it. A wrong yes costs evaluations, not results:
                what the workers still send is dropped.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        if orphaned:
            self._storage.expire_attempts(self._lease.job.id, self._lease.token, None)
        else:
            self._expire()
        self._see_workers()

    def send(self, trial: Trial) -> None:
        """Have a trial evaluated whose first attempt was opened when it was proposed."""
        self._hand_out(trial, attempt_id(trial.job_id, trial.number, 1))

    def begin(self, trial: Trial) -> None:
        """Have a trial evaluated, unless that is under way.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        try:
            attempt = self._storage.open_attempt(trial.id, self._lease.token)
        except Conflict:
            return  # a worker of an earlier coordinator has just finished it
        if attempt.state == "dispatched":
            # Perhaps once more: an earlier message may be lost, and a second one does no harm.
            self._hand_out(trial, attempt.id)

    def see_to_held(self) -> None:
        """Send the messages for which there is room now that others' trials have ended."""
        if not self._held:
            return
        opened = self._storage.count_open_attempts(self._lease.job.id)
        self._sent = max(0, opened - len(self._held))
        while self._held and self._has_room():
            self._sent += 1
            self._try(self._held.popleft())

    def _hand_out(self, trial: Trial, attempt: str) -> None:
        """Send the message of an attempt, now or when there is room for it."""
        if attempt in self._held:
            return
        if not self._held and self._has_room():
            self._sent += 1
            self._send(trial, attempt)
            return
        self._held.append(attempt)
        if len(self._held) == 1:
            self.see_to_held()

    def _has_room(self) -> bool:
        return self._most is None or self._sent < self._most

    def _see_workers(self) -> None:
        """Find out how many messages keep the workers busy."""
        slots = self._storage.worker_slots()
        enough = None if slots is None else max(_LEAST_AHEAD, _AHEAD * slots)
        limits = [limit for limit in (enough, self._concurrency) if limit is not None]
        self._most = min(limits, default=None)

    def _try(self, attempt: str) -> None:
        """Send a message that is sent again later where the broker is away."""
        with suppress(Exception):
            self._dispatch(EVALUATE, attempt)

    def _send(self, trial: Trial, attempt: str) -> None:
        try:
            self._dispatch(EVALUATE, attempt)
        except Exception as error:  # whatever a broker raises when it is away
            log.warning("attempt %s could not be sent, trying again: %s", attempt, error)
            self._unsent[trial.id] = trial

    def tend(self) -> None:
        """Begin again what was not sent, lost, or handed back.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        unsent, self._unsent = self._unsent, {}
        for trial in unsent.values():
            self.begin(trial)
        for attempt in self._expire():
            if attempt.heartbeat_at is not None:
                self._losses[attempt.trial_id] += 1
        self._see_workers()
        self.see_to_held()
        attempts = self._storage.open_attempts(self._lease.job.id)
        self._resend([attempt for attempt in attempts if attempt.state == "dispatched"])
        attended = {attempt.trial_id for attempt in attempts}
        for trial in self._storage.open_trials(self._lease.job.id):
            if trial.id in attended:
                continue
            if self._losses[trial.id] < self._silence.losses:
                self.begin(trial)
            else:
                self._fail(trial)

    def _resend(self, attempts: list[Attempt]) -> None:
        """Send messages again that may be lost; a worker that has two drops the second one."""
        now = time.monotonic()
        before, self._waiting = self._waiting, {}
        for attempt in attempts:
            if attempt.id in self._held:
                continue
            waiting = before.get(attempt.id) or _Waiting(now, self._silence.resend_seconds)
            if now - waiting.since >= waiting.patience:
                waiting = _Waiting(now, 2 * waiting.patience)
                log.debug("attempt %s is sent again", attempt.id)
                self._try(attempt.id)
            self._waiting[attempt.id] = waiting

    def _expire(self) -> list[Attempt]:
        lost = self._storage.expire_attempts(
            self._lease.job.id, self._lease.token, self._silence.running_seconds
        )
        for attempt in lost:
            MEASURES.count("hamtune_attempts_lost")
            log.warning("nothing was heard of attempt %s (worker %s)", attempt.id, attempt.worker)
        return lost

    def _fail(self, trial: Trial) -> None:
        message = f"{self._silence.losses} workers in a row were lost while they evaluated it"
        outcome = Outcome(status="failed", reason={"kind": "lost", "message": message})
        self._storage.settle_trial(trial.id, self._lease.token, outcome)

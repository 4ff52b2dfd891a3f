"""Having trials evaluated: attempts dispatched to workers, and given up when nobody is heard of.

A message tells a worker that there is something to do; which trial that is, the worker learns from
the database when it is free (`Attempts.take_several`), and it takes many where they are quick. So
messages need not be in any order, and only so many wait in the broker as keep the workers busy: the
other trials wait in the database, and most of those that are quick never need a message.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from storage.errors import Conflict
from storage.identifiers import attempt_id
from storage.messages import EVALUATE
from storage.proposal import Proposal
from storage.records import Attempt, OutlookPoint, Trial
from storage.storage import Storage
from tuner.lease import Lease
from tuner.lost_attempts import LostAttempts

__all__ = ["Backlog", "Dispatch", "Evaluations", "Evaluator", "Silence"]

_AHEAD = 8  # messages for each evaluation that workers make at once
_LEAST_AHEAD = 32
_UNKNOWN_AHEAD = 512  # where nobody knows how many workers there are
_LONGEST_WAITS = 12  # times the patience: however long a trial has waited, its message may be lost

Dispatch = Callable[[str, str], None]
"""Sends a task (`storage.messages`) with the id of what it is about to a worker."""
Backlog = Callable[[], int]
"""How many messages about evaluations, of all jobs, wait for a worker; raises where the broker is
away."""

log = logging.getLogger("hamtune.tuner")


@dataclass(frozen=True, kw_only=True)
class Silence:
    """How long a coordinator waits for signs of life.

    Attributes:
        running_seconds: Since the last heartbeat of a running attempt, until it is lost.
        resend_seconds: Since the message of an attempt was sent that no worker has taken, until it
            is sent again, for a broker may lose messages; then twice as long each time, up to 12
            times, for the trial may well have to wait for its turn.
        preparing_seconds: Since a preparation was asked for, until it is asked for again where no
            worker has claimed it; then twice as long each time, for the message may well wait in
            a long queue.
        losses: How many workers a trial may lose until it has failed: it may be what kills them. Of
            one that had several, each bears its share of the loss.
        script_seconds: Since a job's script last proposed something, or had to have told what it
            measured, until the job is paused: it keeps others from being driven.
    """

    running_seconds: float = 30.0
    resend_seconds: float = 5.0
    preparing_seconds: float = 5.0
    losses: int = 3
    script_seconds: float = 3600.0


@dataclass(frozen=True)
class _Waiting:
    """A message that no worker has acted on: when it was sent, and for how long to trust in it."""

    since: float
    patience: float


class Evaluator(Protocol):
    """Who has the trials of a job evaluated."""

    def add(self, proposals: Sequence[Proposal], outlooks: Sequence[OutlookPoint] = ()) -> None:
        """Store new trials, of consecutive numbers, and have them evaluated."""

    def begin(self, trial: Trial) -> None:
        """Have a stored trial evaluated, unless that is under way."""

    def see_to_held(self) -> None:
        """Hand out what was held back, where there is room."""

    def tend(self) -> None:
        """See to what was lost."""


class Evaluations:
    """The attempts at a job's trials, under a lease.

    Args:
        storage: Where attempts are kept.
        dispatch: Sends tasks to workers.
        lease: Under which the job is driven.
        silence: When workers are given up.
        concurrency: How many trials of the job are evaluated at once, at most.
        backlog: Tells what waits in the broker; None where that cannot be asked.
    """

    def __init__(
        self,
        storage: Storage,
        dispatch: Dispatch,
        lease: Lease,
        silence: Silence,
        *,
        concurrency: int | None = None,
        backlog: Backlog | None = None,
    ) -> None:
        self._storage = storage
        self._dispatch = dispatch
        self._lease = lease
        self._silence = silence
        self._lost = LostAttempts(
            storage, lease, running_seconds=silence.running_seconds, most=silence.losses
        )
        self._unsent: dict[str, Trial] = {}  # whose message the broker did not take
        self._waiting: dict[str, _Waiting] = {}  # by attempt, of those that no worker has taken
        self._concurrency = concurrency
        self._backlog = backlog
        self._most = _UNKNOWN_AHEAD  # messages that keep the workers busy
        self._sent: set[str] = set()  # attempts with a message; those taken are sorted out at times
        self._held = False  # whether others may wait for one
        self._full = False  # whether as many wait in the broker as keep the workers busy

    def take_over(self, *, orphaned: bool) -> None:
        """Give up what an earlier coordinator left that nobody works on.

        Args:
            orphaned: Whether its workers died with it. A wrong yes costs evaluations, not results:
                what the workers still send is dropped.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        if orphaned:
            self._storage.attempts.expire(self._lease.job.id, self._lease.token, None)
        else:
            self._lost.expire()
        self._see_workers()

    def add(self, proposals: Sequence[Proposal], outlooks: Sequence[OutlookPoint] = ()) -> None:
        """Store new trials, each with its first attempt, and have them evaluated.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        job_id, token = self._lease.job.id, self._lease.token
        for trial in self._storage.trials.propose_several(job_id, token, proposals, outlooks):
            self._hand_out(trial, attempt_id(trial.job_id, trial.number, 1))

    def begin(self, trial: Trial) -> None:
        """Have a trial evaluated, unless that is under way.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        try:
            attempt = self._storage.attempts.open(trial.id, self._lease.token)
        except Conflict:
            return  # a worker of an earlier coordinator has just finished it
        if attempt.state == "dispatched":
            # Perhaps once more: an earlier message may be lost, and a second one does no harm.
            self._hand_out(trial, attempt.id)

    def see_to_held(self) -> None:
        """Send the messages for which there is room now that others have been acted on."""
        if self._held:
            self._see_to_waiting()

    def _see_to_waiting(self) -> None:
        try:
            backlog = None if self._backlog is None else self._backlog()
        except Exception as error:  # whatever a broker raises when it is away
            log.debug("the broker does not tell what waits: %s", error)
            backlog = None
        self._full = backlog is not None and backlog >= self._most
        if self._full:
            return
        job_id = self._lease.job.id
        waiting = self._storage.attempts.waiting(job_id, self._most)
        self._sent.intersection_update(waiting)
        room = self._most - (len(self._sent) if backlog is None else backlog)
        if self._concurrency is not None:
            running = self._storage.attempts.count_running(job_id)
            room = min(room, self._concurrency - running - len(self._sent))
        unsent = [attempt for attempt in waiting if attempt not in self._sent]
        chosen = unsent[: max(0, room)]
        self._held = len(chosen) < len(unsent) or len(waiting) == self._most
        for attempt in chosen:
            if not self._try(attempt):
                self._held = True
                return
            self._sent.add(attempt)

    def _hand_out(self, trial: Trial, attempt: str) -> None:
        """Send the message of an attempt, now or when there is room for it."""
        most = self._most if self._concurrency is None else min(self._most, self._concurrency)
        if not self._held and len(self._sent) < most:
            self._send(trial, attempt)
        elif not self._held:
            self._held = True
            self._see_to_waiting()

    def _see_workers(self) -> None:
        """Find out how many messages keep the workers busy."""
        slots = self._storage.processes.worker_slots()
        self._most = _UNKNOWN_AHEAD if slots is None else max(_LEAST_AHEAD, _AHEAD * slots)

    def _try(self, attempt: str) -> bool:
        """Send a message that is sent again later where the broker is away; whether it went."""
        with suppress(Exception):
            self._dispatch(EVALUATE, attempt)
            return True
        return False

    def _send(self, trial: Trial, attempt: str) -> None:
        try:
            self._dispatch(EVALUATE, attempt)
        except Exception as error:  # whatever a broker raises when it is away
            log.warning("attempt %s could not be sent, trying again: %s", attempt, error)
            self._unsent[trial.id] = trial
        else:
            self._sent.add(attempt)

    def tend(self) -> None:
        """Begin again what was not sent, lost, or handed back.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        unsent, self._unsent = self._unsent, {}
        for trial in unsent.values():
            self.begin(trial)
        self._lost.blame(self._lost.expire())
        self._see_workers()
        self._see_to_waiting()
        attempts = self._storage.attempts.unfinished(self._lease.job.id)
        self._resend([attempt for attempt in attempts if attempt.state == "dispatched"])
        attended = {attempt.trial_id for attempt in attempts}
        for trial in self._storage.trials.unfinished(self._lease.job.id):
            if trial.id in attended:
                continue
            if self._lost.may_try_again(trial):
                self.begin(trial)
            else:
                self._lost.fail(trial)

    def _resend(self, attempts: list[Attempt]) -> None:
        """Send messages again that may be lost; a worker that has two drops the second one.

        Where many wait in the broker none is needed: with each more there would be ever more.
        """
        longest = _LONGEST_WAITS * self._silence.resend_seconds
        now = time.monotonic()
        before, self._waiting = self._waiting, {}
        for attempt in attempts:
            if attempt.id not in self._sent:
                continue
            waiting = before.get(attempt.id) or _Waiting(now, self._silence.resend_seconds)
            if not self._full and now - waiting.since >= waiting.patience:
                waiting = _Waiting(now, min(2 * waiting.patience, longest))
                log.debug("attempt %s is sent again", attempt.id)
                self._try(attempt.id)
            self._waiting[attempt.id] = waiting

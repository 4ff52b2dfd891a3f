"""Attempts: handing trials to workers, hearing from them, and taking the first outcome.

A worker that has a message takes the trial whose turn it is (`storage.fair_share`), which need not
be the one that the message names: messages are as many as trials to be evaluated, and it is decided
when a worker is free what it does, not when a trial is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import takewhile
from operator import itemgetter
from typing import Any, Literal, NamedTuple, cast

from sqlalchemy import (
    Row,
    Update,
    insert,
)
from sqlalchemy.orm import Session

from storage.attempt_statements import (
    ALL_OPEN,
    BEAT,
    BEGIN,
    COUNT_RUNNING,
    END,
    FINISH,
    LAST,
    NEXT,
    OF_TRIAL,
    OPEN,
    SILENT,
    TRIAL_STATE,
    WAITING,
)
from storage.database import Database
from storage.errors import Conflict, NotFound
from storage.evaluations import keep_outcome
from storage.fair_share import Contender, by_turn
from storage.identifiers import attempt_id, split_attempt_id, split_trial_id, trial_id
from storage.job_rows import charge, find_and_lock_job, hold_lease, improve
from storage.project_rows import CONTENDERS, CONTENDERS_AND_CLOCK, contender, spend
from storage.records import Attempt, Headway, Outcome, Trial
from storage.repository import ForAllProjects, ScopedRepository
from storage.trial_rows import (
    ATTEMPTS,
    OPEN_ATTEMPT_STATES,
    OPEN_TRIAL_STATES,
    begin_trials,
    best_of,
    change_trial,
    packed_result,
    settle_trials,
    trial_record,
)

__all__ = ["Attempts", "Finished", "ProjectAttempts", "Taken"]


class Taken(NamedTuple):
    """A trial that a worker took, and its attempt at it."""

    attempt_id: str
    trial: Trial


class Finished(NamedTuple):
    """An attempt, what it came to, and where that is kept for other trials, if it is."""

    attempt_id: str
    outcome: Outcome
    evaluation_key: str | None


class _Stale(Exception):
    """Undoes a transaction about an attempt that is not open."""


class ProjectAttempts(ScopedRepository):
    """Attempts at trials of a project's jobs."""

    def unfinished(self, job_id: str) -> list[Attempt]:
        """The attempts of a job that are dispatched or running."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = session.connection().execute(OPEN, {"job_id": job_id}).all()
            return [_record(row) for row in rows]

    def of_trial(self, job_id: str, number: int) -> list[Attempt]:
        """All attempts at a trial, the first one first."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = session.connection().execute(OF_TRIAL, {"job_id": job_id, "number": number})
            return [_record(row) for row in rows]

    def running(self, job_id: str) -> list[Attempt]:
        """The attempts at trials of a job that workers are at, by trial."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = session.connection().execute(OPEN, {"job_id": job_id})
            return [_record(row) for row in rows if row.state == "running"]


class Attempts(ForAllProjects, ProjectAttempts):
    """Attempts of all projects, for coordinators and workers."""

    def open(self, identifier: str, token: int) -> Attempt:
        """An attempt to dispatch for a trial: the one that is open, or else a new one.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            NotFound: There is no such trial.
            Conflict: The trial has its outcome already.
        """
        parts = split_trial_id(identifier)
        if parts is None:
            raise NotFound(f"there is no trial {identifier}")
        job_id, number = parts
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            connection = session.connection()
            the_trial = {"job_id": job_id, "number": number}
            state = connection.execute(TRIAL_STATE, the_trial).scalar_one_or_none()
            if state is None:
                raise NotFound(f"there is no trial {identifier}")
            if state not in OPEN_TRIAL_STATES:
                raise Conflict(f"trial {identifier} is {state}; it needs no attempt")
            last = connection.execute(LAST, the_trial).one_or_none()
            if last is not None and last.state in OPEN_ATTEMPT_STATES:
                return _record(last)
            row = connection.execute(
                insert(ATTEMPTS).returning(ATTEMPTS),
                {
                    "job_id": job_id,
                    "trial_number": number,
                    "number": 1 if last is None else last.number + 1,
                    "state": "dispatched",
                    "dispatched_at": now,
                },
            ).one()
            return _record(row)

    def begin(self, identifier: str, worker: str) -> Trial | None:
        """Take an attempt for evaluation.

        Returns:
            The trial to evaluate; None where the message is stale: the attempt is taken, lost or
            finished, or its job is gone.
        """
        parts = split_attempt_id(identifier)
        if parts is None:
            return None
        try:
            with self._database.writing() as session:
                return _begin(self._database, session, parts[0], [parts[1:]], worker)[0]
        except _Stale:
            return None

    def take(self, message: str, worker: str) -> Taken | None:
        """Take one attempt: see `take_several`."""
        return next(iter(self.take_several(message, worker, 1)), None)

    def take_several(
        self, message: str, worker: str, most: int, *, only_named: bool = False
    ) -> list[Taken]:
        """Take attempts of the job whose turn it is, for a worker that got a message and is free.

        Args:
            message: An attempt's id. Its job takes part whatever its state; of others, those at
                work do.
            worker: Who takes them.
            most: How many at most.
            only_named: Take none of any other job than that of the message.

        Returns:
            What to evaluate; empty where nothing waits, or nothing that may run now.
        """
        parts = split_attempt_id(message)
        if parts is None:
            return []
        is_sqlite = self._database.is_sqlite
        statement = CONTENDERS if is_sqlite else CONTENDERS_AND_CLOCK
        try:
            with self._database.writing() as session:
                connection = session.connection()
                rows = connection.execute(statement, {"its_job": parts[0]}).all()
                if rows and not is_sqlite:
                    session.info["now"] = rows[0].now
                now = self._database.now(session)
                if only_named:
                    rows = [row for row in rows if row.id == parts[0]]
                job, chosen = _chosen(session, by_turn([contender(row, now) for row in rows]), most)
                trials = _begin(self._database, session, job, chosen, worker) if chosen else []
                return [
                    Taken(attempt_id(job, *which), trial)
                    for which, trial in zip(chosen, trials, strict=True)
                ]
        except _Stale:
            return []

    def heartbeat(self, identifier: str, headway: Headway | None = None) -> bool:
        """Say that an attempt is being worked on; False where it was given up meanwhile.

        Args:
            identifier: The attempt.
            headway: How far its evaluation has come, where that is known.
        """
        parts = split_attempt_id(identifier)
        if parts is None:
            return False
        try:
            with self._database.writing() as session:
                known = {} if headway is None else asdict(headway)
                _change(session, BEAT, parts, heartbeat_at=self._database.now(session), **known)
        except _Stale:
            return False
        return True

    def finish(
        self, identifier: str, outcome: Outcome, *, evaluation_key: str | None = None
    ) -> bool:
        """Give the attempt's trial its outcome, in one transaction with its event and the cache.

        Args:
            identifier: The attempt.
            outcome: What the evaluation came to.
            evaluation_key: Where the outcome is kept for other trials; None to keep it nowhere.

        Returns:
            Whether this call settled the trial. A repeated call, and one for an attempt that was
            given up as lost, changes nothing.
        """
        return self.finish_several([Finished(identifier, outcome, evaluation_key)])[0]

    def finish_several(self, finished: Sequence[Finished]) -> list[bool]:
        """As `finish`, for several attempts at trials of one job, in one transaction.

        Returns:
            Of each whether this call settled its trial.
        """
        parts = [split_attempt_id(one.attempt_id) for one in finished]
        known = [(one, which) for one, which in zip(finished, parts, strict=True) if which]
        try:
            if known and len(known) == len(finished) and self._finish(known):
                return [True] * len(finished)
        except _Stale:
            pass
        if len(finished) == 1:
            return [False]
        return [done for one in finished for done in self.finish_several([one])]

    def _finish(self, finished: Sequence[tuple[Finished, tuple[str, int, int]]]) -> bool:
        """Give all of some attempts their outcomes; False where their job is gone.

        Raises:
            _Stale: One of them is not open any more; nothing is stored.
        """
        job_id = finished[0][1][0]
        outcomes = [one.outcome for one, _ in finished]
        results = [packed_result(outcome) for outcome in outcomes]
        with self._database.writing() as session:
            now = charge(self._database, session, job_id, *outcomes)
            if now is None:
                return False
            which = [parts[1:] for _, parts in finished]
            _change_all(session, FINISH, job_id, which, now=now)
            settled = [
                (parts[1], one.outcome, result)
                for (one, parts), result in zip(finished, results, strict=True)
            ]
            rows = settle_trials(self._database, session, job_id, settled, now)
            if rows is None:
                raise _Stale
            best: tuple[float, int] | None = None
            kept: list[tuple[str, Outcome, float | None, bytes | None]] = []
            for (one, _), row, result in zip(finished, rows, results, strict=True):
                value = best_of(row, one.outcome)
                if value is not None:
                    best = min(best or (value, row.number), (value, row.number))
                if one.evaluation_key is not None:
                    kept.append((one.evaluation_key, one.outcome, row.cutoff, result))
            # Batches of other jobs may have the same keys: in one order, none deadlocks.
            for key, outcome, cutoff, result in sorted(kept, key=itemgetter(0)):
                keep_outcome(self._database, session, key, outcome, cutoff, now, result)
            if best is not None:
                improve(session, job_id, best[1], best[0], now)
            spend(session, job_id, now, *outcomes)
        return True

    def release(self, identifier: str) -> bool:
        """Hand an attempt back undone (its worker stops): its trial is pending again at once."""
        parts = split_attempt_id(identifier)
        if parts is None:
            return False
        try:
            with self._database.writing() as session:
                now = self._database.now(session)
                _change(session, END, parts, state="lost", finished_at=now)
                if _reopen(self._database, session, parts[0], parts[1]) is None:
                    raise _Stale
        except _Stale:
            return False
        return True

    def waiting(self, job_id: str, most: int) -> list[str]:
        """The attempts of a job that no worker has taken, those whose turn is next, in order."""
        with self._database.reading() as session:
            rows = session.connection().execute(WAITING, {"job_id": job_id, "most": most}).all()
            return [attempt_id(job_id, row.trial_number, row.number) for row in rows]

    def count_running(self, job_id: str) -> int:
        """How many attempts of a job are under way."""
        with self._database.reading() as session:
            found = session.connection().execute(COUNT_RUNNING, {"job_id": job_id})
            return int(found.scalar_one())

    def expire(
        self,
        job_id: str,
        token: int,
        older_than_seconds: float | None,
    ) -> list[Attempt]:
        """Give up attempts that nobody was heard of; their trials are pending again.

        One that no worker has taken is not given up: it waits for its turn, and messages that may
        be lost are sent again.

        Args:
            job_id: The job.
            token: The coordinator's lease.
            older_than_seconds: Age of the last heartbeat from which a running attempt is lost;
                None where all are, and those that wait as well.

        Returns:
            The attempts lost.

        Raises:
            LeaseLost: The token is not that of the job's lease.
        """
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            values: dict[str, Any] = {"job_id": job_id}
            if older_than_seconds is not None:
                values.update(silence=older_than_seconds, now=now)
            statement = ALL_OPEN if older_than_seconds is None else SILENT
            silent = session.connection().execute(statement, values).all()
            lost: list[Attempt] = []
            for row in silent:
                parts = (row.job_id, row.trial_number, row.number)
                _change(session, END, parts, state="lost", finished_at=now)
                _reopen(self._database, session, row.job_id, row.trial_number)
                lost.append(replace(_record(row), state="lost", finished_at=now))
            return lost


def _chosen(
    session: Session, contenders: Iterable[Contender], most: int
) -> tuple[str, list[tuple[int, int]]]:
    """The first job with an attempt that waits and may run now, and which of them to take.

    Returns:
        The job, and trial and attempt numbers: none where nothing waits that may run now.
    """
    locked = ""
    for one in contenders:
        room = most
        if one.concurrency is not None:
            # Locks of jobs are taken in the order of their ids, so that none deadlocks.
            if one.job < locked:
                continue
            locked = one.job
            room = min(most, _room(session, one.job, one.concurrency))
        if room < 1:
            continue
        found = session.connection().execute(NEXT, {"job_id": one.job, "most": room}).all()
        if found:
            chosen = [(row.trial_number, row.number) for row in found]
            # What was lost or handed back before may be why: it takes none with it.
            return one.job, list(takewhile(_is_first, chosen)) or chosen[:1]
    return "", []


def _is_first(which: tuple[int, int]) -> bool:
    """Whether it is the first attempt at its trial."""
    return which[1] == 1


def _begin(
    database: Database,
    session: Session,
    job_id: str,
    which: Sequence[tuple[int, int]],
    worker: str,
) -> list[Trial]:
    """Begin dispatched attempts of a job, given by the numbers of trial and attempt.

    Raises:
        _Stale: One is not dispatched, or its trial is not open.
    """
    now = database.now(session)
    _change_all(session, BEGIN, job_id, which, its_worker=worker, now=now)
    numbers = [trial for trial, _ in which]
    rows = begin_trials(database, session, job_id, numbers, worker, now)
    if rows is None:
        raise _Stale
    return [trial_record(row) for row in rows]


def _room(session: Session, job_id: str, concurrency: int) -> int:
    """How many more evaluations of a job may be under way.

    Locks the job, so that two workers do not find room for one.
    """
    if find_and_lock_job(session, job_id) is None:
        return 0
    running = session.connection().execute(COUNT_RUNNING, {"job_id": job_id}).scalar_one()
    return concurrency - int(running)


def _change(
    session: Session, statement: Update, parts: tuple[str, int, int], **values: Any
) -> None:
    """Change an attempt.

    Raises:
        _Stale: It is not in a state that the statement asks for.
    """
    job_id, trial, number = parts
    found = session.connection().execute(
        statement, {"its_job": job_id, "its_trial": trial, "its_number": number, **values}
    )
    if found.one_or_none() is None:
        raise _Stale


def _change_all(
    session: Session,
    statement: Update,
    job_id: str,
    which: Sequence[tuple[int, int]],
    **values: Any,
) -> None:
    """Change attempts of a job, given by the numbers of trial and attempt.

    Raises:
        _Stale: One is not in a state that the statement asks for.
    """
    found = session.connection().execute(
        statement, {"its_job": job_id, "which": list(which), **values}
    )
    if found.rowcount != len(which):
        raise _Stale


def _reopen(database: Database, session: Session, job_id: str, number: int) -> Row[Any] | None:
    """Make a trial whose attempt was lost pending again, with the same configuration."""
    return change_trial(
        database, session, job_id, number, state="pending", worker=None, started_at=None
    )


def _record(row: Row[Any]) -> Attempt:
    return Attempt(
        id=attempt_id(row.job_id, row.trial_number, row.number),
        trial_id=trial_id(row.job_id, row.trial_number),
        job_id=row.job_id,
        trial_number=row.trial_number,
        number=row.number,
        state=cast('Literal["dispatched", "running", "finished", "lost"]', row.state),
        worker=row.worker,
        dispatched_at=row.dispatched_at,
        heartbeat_at=row.heartbeat_at,
        finished_at=row.finished_at,
        simulated_time=row.simulated_time,
        share=row.share,
    )

"""Attempts: handing trials to workers, hearing from them, and taking the first outcome."""

from __future__ import annotations

from typing import Literal, cast

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from storage.database import Database, Repository
from storage.errors import Conflict, NotFound
from storage.evaluations import keep_outcome
from storage.identifiers import attempt_id, split_attempt_id, split_trial_id, trial_id
from storage.job_rows import find_and_lock_job, job_record, lock_leased_job
from storage.models import AttemptRow, JobRow, TrialRow
from storage.records import Attempt, Job, Outcome, Trial
from storage.trial_rows import (
    OPEN_ATTEMPT_STATES,
    OPEN_TRIAL_STATES,
    reopen,
    settle,
    trial_event,
    trial_record,
)

__all__ = ["Attempts"]


class Attempts(Repository):
    """The methods of `Storage` about attempts."""

    def open_attempt(self, identifier: str, token: int) -> Attempt:
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
            lock_leased_job(self._database, session, job_id, token)
            state = session.scalars(
                select(TrialRow.state).where(TrialRow.job_id == job_id, TrialRow.number == number)
            ).one_or_none()
            if state is None:
                raise NotFound(f"there is no trial {identifier}")
            if state not in OPEN_TRIAL_STATES:
                raise Conflict(f"trial {identifier} is {state}; it needs no attempt")
            last = session.scalars(
                select(AttemptRow)
                .where(AttemptRow.job_id == job_id, AttemptRow.trial_number == number)
                .order_by(AttemptRow.number.desc())
                .limit(1)
            ).one_or_none()
            if last is not None and last.state in OPEN_ATTEMPT_STATES:
                return _record(last)
            row = AttemptRow(
                job_id=job_id,
                trial_number=number,
                number=1 if last is None else last.number + 1,
                state="dispatched",
                dispatched_at=self._database.now(session),
            )
            session.add(row)
            return _record(row)

    def begin_attempt(self, identifier: str, worker: str) -> tuple[Attempt, Trial, Job] | None:
        """Take an attempt for evaluation.

        Returns:
            All that the evaluation needs; None where the message is stale: the attempt is taken,
            lost or finished, or its job is gone.
        """
        with self._database.writing() as session:
            rows = _lock_open(self._database, session, identifier)
            if rows is None or rows[1].state != "dispatched":
                return None
            job, attempt, trial = rows
            now = self._database.now(session)
            attempt.state = "running"
            attempt.worker = worker
            attempt.heartbeat_at = now
            trial.state = "running"
            trial.worker = worker
            trial.started_at = now
            self._database.note(session, job.id, "trial", trial_event(trial))
            return _record(attempt), trial_record(trial, with_result=False), job_record(job)

    def heartbeat(self, identifier: str) -> bool:
        """Say that an attempt is being worked on; False where it was given up meanwhile."""
        parts = split_attempt_id(identifier)
        if parts is None:
            return False
        with self._database.writing() as session:
            alive = session.execute(
                update(AttemptRow)
                .where(_is(parts), AttemptRow.state == "running")
                .values(heartbeat_at=self._database.clock())
                .returning(AttemptRow.number)
            )
            return alive.first() is not None

    def finish_attempt(
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
        with self._database.writing() as session:
            rows = _lock_open(self._database, session, identifier, whole=False)
            if rows is None:
                return False
            job, attempt, trial = rows
            now = self._database.now(session)
            attempt.state = "finished"
            attempt.finished_at = now
            settle(self._database, session, job, trial, outcome, now)
            if evaluation_key is not None:
                keep_outcome(self._database, session, evaluation_key, outcome, trial.cutoff, now)
            return True

    def release_attempt(self, identifier: str) -> bool:
        """Hand an attempt back undone (its worker stops): its trial is pending again at once."""
        with self._database.writing() as session:
            rows = _lock_open(self._database, session, identifier, whole=False)
            if rows is None:
                return False
            _, attempt, trial = rows
            attempt.state = "lost"
            attempt.finished_at = self._database.now(session)
            reopen(self._database, session, trial)
            return True

    def open_attempts(self, job_id: str) -> list[Attempt]:
        """The attempts of a job that are dispatched or running."""
        with self._database.reading() as session:
            rows = session.scalars(
                select(AttemptRow)
                .where(AttemptRow.job_id == job_id, AttemptRow.state.in_(OPEN_ATTEMPT_STATES))
                .order_by(AttemptRow.trial_number)
            )
            return [_record(row) for row in rows]

    def expire_attempts(
        self,
        job_id: str,
        token: int,
        older_than_seconds: float,
        *,
        dispatched_older_than_seconds: float | None = None,
    ) -> list[Attempt]:
        """Give up attempts that nobody was heard of; their trials are pending again.

        Args:
            job_id: The job.
            token: The coordinator's lease.
            older_than_seconds: Age of the last heartbeat from which a running attempt is lost.
            dispatched_older_than_seconds: Age from which one that no worker took is lost (its
                message may wait in a long queue); by default the same.

        Returns:
            The attempts lost.

        Raises:
            LeaseLost: The token is not that of the job's lease.
        """
        if dispatched_older_than_seconds is None:
            dispatched_older_than_seconds = older_than_seconds
        with self._database.writing() as session:
            lock_leased_job(self._database, session, job_id, token)
            now = self._database.now(session)
            silent = session.scalars(
                select(AttemptRow)
                .where(
                    AttemptRow.job_id == job_id,
                    AttemptRow.state.in_(OPEN_ATTEMPT_STATES),
                    func.coalesce(
                        AttemptRow.heartbeat_at + older_than_seconds,
                        AttemptRow.dispatched_at + dispatched_older_than_seconds,
                    )
                    <= now,
                )
                .order_by(AttemptRow.trial_number)
                # A heartbeat that came in while this waited for its row keeps the attempt.
                .with_for_update()
            ).all()
            for attempt in silent:
                attempt.state = "lost"
                attempt.finished_at = now
                reopen(
                    self._database,
                    session,
                    session.get_one(TrialRow, (job_id, attempt.trial_number)),
                )
            return [_record(attempt) for attempt in silent]


def _lock_open(
    database: Database, session: Session, identifier: str, *, whole: bool = True
) -> tuple[JobRow, AttemptRow, TrialRow] | None:
    """The rows of an open attempt at an open trial, the job locked; None for any other."""
    parts = split_attempt_id(identifier)
    if parts is None:
        return None
    job = find_and_lock_job(database, session, parts[0], whole=whole)
    if job is None:
        return None
    found = session.execute(
        select(AttemptRow, TrialRow)
        .join(
            TrialRow,
            (TrialRow.job_id == AttemptRow.job_id) & (TrialRow.number == AttemptRow.trial_number),
        )
        .where(_is(parts))
    ).one_or_none()
    if found is None:
        return None
    attempt, trial = found
    if attempt.state not in OPEN_ATTEMPT_STATES or trial.state not in OPEN_TRIAL_STATES:
        return None
    return job, attempt, trial


def _is(parts: tuple[str, int, int]) -> ColumnElement[bool]:
    job_id, trial_number, number = parts
    return (
        (AttemptRow.job_id == job_id)
        & (AttemptRow.trial_number == trial_number)
        & (AttemptRow.number == number)
    )


def _record(row: AttemptRow) -> Attempt:
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
    )

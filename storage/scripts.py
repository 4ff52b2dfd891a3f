"""What scripts of users and jobs exchange: configurations proposed, and trials to be measured.

Every request has a key of the script's choosing. A request that is sent again, for its answer was
lost, finds what the first one stored.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Row, func, insert, select, update
from sqlalchemy.orm import Session

from storage.errors import Conflict, NotFound
from storage.identifiers import trial_id
from storage.job_rows import charge, hold_lease, lock_job
from storage.models import AskRow, JobRow, ProposedRow
from storage.project_rows import spend
from storage.records import (
    FINAL_JOB_STATES,
    FINAL_TRIAL_STATES,
    AskedTrial,
    Outcome,
    ProposedConfiguration,
    Trial,
)
from storage.repository import ForAllProjects, ScopedRepository
from storage.trial_rows import (
    ATTEMPTS,
    LISTED,
    OPEN_TRIAL_STATES,
    TRIALS,
    begin_trials,
    change_trial,
    settle,
    trial_record,
)

__all__ = ["MOST_OPEN", "PROPOSAL", "Exchange", "ProjectScripts", "Scripts"]

MOST_OPEN = 1_024
"""Proposals of a job that may wait for their outcomes."""

PROPOSAL = "proposal"
"""The kind of the events that tell of proposals."""

_TAKING_STATES = ("queued", "preparing", "running")


class Exchange(NamedTuple):
    """What scripts have to do with a job lately: see `Scripts.last_exchange`."""

    at: float | None
    now: float


_ITS_ATTEMPT = (
    (AskRow.job_id == ATTEMPTS.c.job_id)
    & (AskRow.trial_number == ATTEMPTS.c.trial_number)
    & (AskRow.attempt_number == ATTEMPTS.c.number)
)
"""What joins an ask with its attempt."""


class ProjectScripts(ScopedRepository):
    """What scripts propose to a project's jobs, ask of them and tell them."""

    def propose(
        self,
        job_id: str,
        key: str,
        configuration: dict[str, Any],
        configuration_sha256: str,
        *,
        most: int | None = None,
    ) -> ProposedConfiguration:
        """Keep a configuration that is to become a trial.

        Args:
            job_id: The job.
            key: Of the request; a repeated one gets what the first one stored.
            configuration: A point of the job's space.
            configuration_sha256: Its identity.
            most: How many the job takes in all; None for any number.

        Raises:
            NotFound: There is no such job.
            Conflict: The job takes none now, or the key was used for another configuration.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            job = lock_job(session, job_id)
            statement = select(ProposedRow).where(ProposedRow.job_id == job_id)
            row = session.scalars(statement.where(ProposedRow.key == key)).one_or_none()
            if row is not None:
                if row.configuration_sha256 != configuration_sha256:
                    raise Conflict(
                        f"the key was used for another configuration, proposal {row.place} of job "
                        f"{job_id}; send another key"
                    )
                return _proposed(session, row)
            _check_taking(job)
            place = 1 + _last_place(session, job_id)
            if most is not None and place > most:
                raise Conflict(f"job {job_id} takes {most} proposals (budget.trials), and has them")
            if _count_waiting(session, job_id) >= MOST_OPEN:
                raise Conflict(
                    f"{MOST_OPEN} proposals of job {job_id} wait for their outcomes; propose more "
                    "when some have theirs"
                )
            row = ProposedRow(
                job_id=job_id,
                place=place,
                key=key,
                configuration=configuration,
                configuration_sha256=configuration_sha256,
                created_at=self._database.now(session),
            )
            session.add(row)
            self._database.note(session, job_id, PROPOSAL, {"place": place})
            return _proposed(session, row)

    def proposed(self, job_id: str, place: int) -> ProposedConfiguration:
        """A configuration that was proposed, with its trial as it stands.

        Raises:
            NotFound: The job has no such proposal.
        """
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            row = session.get(ProposedRow, (job_id, place))
            if row is None:
                raise NotFound(f"there is no proposal {place} of job {job_id}")
            return _proposed(session, row)

    def ask(self, job_id: str, key: str, asker: str, most: int, seconds: float) -> list[AskedTrial]:
        """Give a script trials to measure, those first that were asked first.

        Args:
            job_id: The job.
            key: Of the request; a repeated one gets the trials of the first, as they then stand.
            asker: Who measures them.
            most: How many at most.
            seconds: How long nobody else is given them.

        Returns:
            They, by number; none where nothing waits to be measured now, or the job has ended.

        Raises:
            NotFound: There is no such job.
            Conflict: The job gives none out now, or the key was used to ask for another number.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            job = lock_job(session, job_id)
            earlier = _asked(session, job_id, key)
            if earlier:
                if earlier[0].most != most:
                    raise Conflict(
                        f"the key was used to ask for {earlier[0].most} trials; send another key"
                    )
                return [_asked_trial(session, row) for row in earlier]
            if job.state in FINAL_JOB_STATES:
                return []
            _check_taking(job)
            now = self._database.now(session)
            self._take_back(session, job_id, now)
            numbers = _pending(session, job_id, most)
            if not numbers:
                return []
            for number in numbers:
                attempt = _open(session, job_id, number, asker, now)
                row = AskRow(
                    job_id=job_id,
                    trial_number=number,
                    attempt_number=attempt,
                    key=key,
                    most=most,
                    expires_at=now + seconds,
                )
                session.add(row)
            begin_trials(self._database, session, job_id, numbers, asker, now)
            session.flush()
            return [_asked_trial(session, row) for row in _asked(session, job_id, key)]

    def tell(self, job_id: str, number: int, attempt: int, outcome: Outcome) -> Trial:
        """Keep what a script measured of a trial that it has; told again, nothing changes.

        A trial that was not told in time may be told late, unless another script has it now.

        Args:
            job_id: The job.
            number: Of the trial.
            attempt: Which one the script was given.
            outcome: What it came to; its wall seconds are those since the asking.

        Raises:
            NotFound: There is no such trial, or no such attempt at it was given out.
            Conflict: The trial has another outcome, or somebody else has it.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            lock_job(session, job_id)
            trial = _trial(session, job_id, number)
            tried = _attempt(session, job_id, number, attempt)
            if trial.state in FINAL_TRIAL_STATES:
                return _told_again(trial, outcome)
            if tried.state == "lost" and trial.state == "running":
                raise Conflict(
                    f"trial {number} of job {job_id} was not told in time and has been given to "
                    f"{trial.worker}: this outcome does not count"
                )
            now = self._database.now(session)
            spent = max(0.0, now - tried.dispatched_at)
            outcome = Outcome(
                status=outcome.status,
                value=outcome.value,
                reason=outcome.reason,
                wall_seconds=spent,
            )
            _change_attempt(session, tried, state="finished", finished_at=now)
            charge(self._database, session, job_id, outcome)
            settle(self._database, session, job_id, number, outcome, now, result=None)
            spend(session, job_id, now, outcome)
            return _trial(session, job_id, number)

    def release(self, job_id: str, number: int, attempt: int) -> Trial:
        """Take back a trial that a script has and does not measure: who asks next is given it.

        Nothing changes where the script does not have it any more.

        Args:
            job_id: The job.
            number: Of the trial.
            attempt: Which one the script was given.

        Raises:
            NotFound: There is no such trial, or no such attempt at it was given out.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            lock_job(session, job_id)
            _trial(session, job_id, number)
            tried = _attempt(session, job_id, number, attempt)
            if tried.state == "running":
                now = self._database.now(session)
                session.get_one(AskRow, (job_id, number, attempt)).expires_at = now
                self._give_back(session, tried, now)
            return _trial(session, job_id, number)

    def _take_back(self, session: Session, job_id: str, now: float) -> None:
        """Give up attempts of scripts that have not told in time."""
        statement = (
            select(ATTEMPTS)
            .join(AskRow, _ITS_ATTEMPT)
            .where(
                ATTEMPTS.c.job_id == job_id,
                ATTEMPTS.c.state == "running",
                AskRow.expires_at <= now,
            )
        )
        for row in session.connection().execute(statement).all():
            self._give_back(session, row, now)

    def _give_back(self, session: Session, attempt: Row[Any], now: float) -> None:
        """End an attempt without an outcome; its trial may be asked again."""
        _change_attempt(session, attempt, state="lost", finished_at=now)
        change_trial(
            self._database, session, attempt.job_id, attempt.trial_number,
            state="pending", worker=None, started_at=None,
        )  # fmt: skip


class Scripts(ForAllProjects, ProjectScripts):
    """Proposals of all projects, for coordinators."""

    def proposed_after(self, job_id: str, place: int, most: int) -> list[ProposedConfiguration]:
        """Configurations that were proposed after one, in order, without their trials."""
        statement = (
            select(ProposedRow)
            .where(ProposedRow.job_id == job_id, ProposedRow.place > place)
            .order_by(ProposedRow.place)
            .limit(most)
        )
        with self._database.reading() as session:
            return [_record(row, None) for row in session.scalars(statement)]

    def number_proposal(self, job_id: str, token: int, place: int, number: int) -> None:
        """Say which trial a proposed configuration becomes; said again, it changes nothing.

        Raises:
            LeaseLost: The token is not that of the job's lease.
        """
        statement = (
            update(ProposedRow)
            .where(ProposedRow.job_id == job_id, ProposedRow.place == place)
            .values(trial_number=number)
        )
        with self._database.writing() as session:
            hold_lease(self._database, session, job_id, token)
            session.execute(statement)

    def last_exchange(self, job_id: str) -> Exchange:
        """When a script was last at it, or may last have measured; and what time it is.

        It is at it when it proposes something or tells an outcome, and until the outcome of what it
        has proposed is known, for which it waits.
        """
        with self._database.reading() as session:
            proposed = session.scalar(
                select(ProposedRow.created_at)
                .where(ProposedRow.job_id == job_id)
                .order_by(ProposedRow.place.desc())
                .limit(1)
            )
            asked = session.scalar(
                select(func.max(AskRow.expires_at))
                .join(ATTEMPTS, _ITS_ATTEMPT)
                .where(AskRow.job_id == job_id, ATTEMPTS.c.state == "running")
            )
            finished = session.scalar(
                select(func.max(ATTEMPTS.c.finished_at)).where(ATTEMPTS.c.job_id == job_id)
            )
            known = [at for at in (proposed, asked, finished) if at is not None]
            return Exchange(max(known, default=None), self._database.now(session))


def _check_taking(job: JobRow) -> None:
    """Refuse what a job that has ended, or does not go on, has no use for."""
    if job.state in _TAKING_STATES:
        return
    if job.state in ("pausing", "paused"):
        because = f" ({job.paused_because})" if job.paused_because else ""
        raise Conflict(f"job {job.id} is {job.state}{because}; resume it first")
    because = f" ({job.ended_because or job.error})" if job.state in FINAL_JOB_STATES else ""
    raise Conflict(f"job {job.id} is {job.state}{because}; it has no further trials")


def _last_place(session: Session, job_id: str) -> int:
    statement = select(func.max(ProposedRow.place)).where(ProposedRow.job_id == job_id)
    return session.scalar(statement) or 0


def _count_waiting(session: Session, job_id: str) -> int:
    """How many proposals have no outcome: those that are no trials yet, and open trials."""
    unnumbered = select(func.count()).where(
        ProposedRow.job_id == job_id, ProposedRow.trial_number.is_(None)
    )
    running = select(func.count()).where(
        TRIALS.c.job_id == job_id, TRIALS.c.state.in_(OPEN_TRIAL_STATES)
    )
    return (session.scalar(unnumbered) or 0) + (session.scalar(running) or 0)


def _proposed(session: Session, row: ProposedRow) -> ProposedConfiguration:
    if row.trial_number is None:
        return _record(row, None)
    statement = select(*LISTED).where(
        TRIALS.c.job_id == row.job_id, TRIALS.c.number == row.trial_number
    )
    found = session.connection().execute(statement).one_or_none()
    # A number that was given to it and not used, for the job ended just then, may be another's.
    known = found is not None and found.kind == "search"
    return _record(row, trial_record(found) if found is not None and known else None)


def _record(row: ProposedRow, trial: Trial | None) -> ProposedConfiguration:
    return ProposedConfiguration(
        job_id=row.job_id,
        place=row.place,
        configuration=row.configuration,
        configuration_sha256=row.configuration_sha256,
        created_at=row.created_at,
        number=row.trial_number,
        trial=trial,
    )


def _asked(session: Session, job_id: str, key: str) -> list[AskRow]:
    statement = (
        select(AskRow)
        .where(AskRow.job_id == job_id, AskRow.key == key)
        .order_by(AskRow.trial_number)
    )
    return list(session.scalars(statement))


def _asked_trial(session: Session, row: AskRow) -> AskedTrial:
    trial = _trial(session, row.job_id, row.trial_number)
    tried = _attempt(session, row.job_id, row.trial_number, row.attempt_number)
    is_taken = tried.state == "lost" and trial.state == "running"
    return AskedTrial(
        trial=trial, attempt=row.attempt_number, expires_at=row.expires_at, is_taken=is_taken
    )


def _pending(session: Session, job_id: str, most: int) -> list[int]:
    """The trials that nobody measures, in the order of asking."""
    statement = (
        select(TRIALS.c.number)
        .where(TRIALS.c.job_id == job_id, TRIALS.c.state == "pending")
        .order_by(TRIALS.c.number)
        .limit(most)
    )
    return list(session.connection().execute(statement).scalars())


def _open(session: Session, job_id: str, number: int, asker: str, now: float) -> int:
    """Open the next attempt at a trial, under way at once; its number."""
    last = select(func.max(ATTEMPTS.c.number)).where(
        ATTEMPTS.c.job_id == job_id, ATTEMPTS.c.trial_number == number
    )
    attempt = 1 + (session.scalar(last) or 0)
    values = {
        "job_id": job_id,
        "trial_number": number,
        "number": attempt,
        "state": "running",
        "worker": asker,
        "dispatched_at": now,
        "heartbeat_at": now,
    }
    session.connection().execute(insert(ATTEMPTS), values)
    return attempt


def _trial(session: Session, job_id: str, number: int) -> Trial:
    statement = select(*LISTED).where(TRIALS.c.job_id == job_id, TRIALS.c.number == number)
    row = session.connection().execute(statement).one_or_none()
    if row is None:
        raise NotFound(f"there is no trial {trial_id(job_id, number)}")
    return trial_record(row)


def _attempt(session: Session, job_id: str, number: int, attempt: int) -> Row[Any]:
    statement = select(ATTEMPTS).where(
        ATTEMPTS.c.job_id == job_id,
        ATTEMPTS.c.trial_number == number,
        ATTEMPTS.c.number == attempt,
    )
    row = session.connection().execute(statement).one_or_none()
    if row is None or session.get(AskRow, (job_id, number, attempt)) is None:
        raise NotFound(
            f"attempt {attempt} at trial {number} of job {job_id} was given to no script"
        )
    return row


def _change_attempt(session: Session, attempt: Row[Any], **values: Any) -> None:
    statement = update(ATTEMPTS).where(
        ATTEMPTS.c.job_id == attempt.job_id,
        ATTEMPTS.c.trial_number == attempt.trial_number,
        ATTEMPTS.c.number == attempt.number,
    )
    session.connection().execute(statement, values)


def _told_again(trial: Trial, outcome: Outcome) -> Trial:
    """The trial, if this is what was told of it.

    Raises:
        Conflict: It is not.
    """
    if trial.state == "cancelled":
        raise Conflict(f"trial {trial.number} was cancelled with its job: no outcome is kept")
    stored = (trial.state, trial.value, trial.reason)
    if stored != (outcome.status, outcome.value, outcome.reason):
        came_to = trial.state if trial.value is None else f"{trial.state} with {trial.value!r} s"
        raise Conflict(
            f"trial {trial.number} was told before: it is {came_to}, and stays so; a trial that "
            "was measured anew is not told again"
        )
    return trial

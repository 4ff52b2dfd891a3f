"""Trials: proposing, settling, listing, and the sums that budgets ask for."""

from __future__ import annotations

from typing import Any, Literal, cast

from sqlalchemy import func, select, update
from sqlalchemy.orm import undefer

from storage.database import Repository
from storage.errors import NotFound, ReplayDiverged
from storage.identifiers import split_trial_id
from storage.job_rows import lock_leased_job
from storage.models import AttemptRow, JobRow, TrialRow
from storage.pagination import check_limit
from storage.records import FINAL_TRIAL_STATES, Outcome, Trial, TrialPoint, TrialState
from storage.trial_rows import (
    OPEN_ATTEMPT_STATES,
    OPEN_TRIAL_STATES,
    cancel_open,
    settle,
    trial_event,
    trial_record,
)

__all__ = ["Trials"]


class Trials(Repository):
    """The methods of `Storage` about trials."""

    def propose_trial(
        self,
        job_id: str,
        token: int,
        *,
        number: int,
        kind: Literal["baseline", "search"],
        label: str | None,
        configuration: dict[str, Any],
        configuration_sha256: str,
        technique: str | None,
        cutoff: float | None,
    ) -> Trial:
        """Store a trial as pending, or return the one that has this number already.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            ReplayDiverged: Another configuration is stored under this number.
        """
        with self._database.writing() as session:
            lock_leased_job(self._database, session, job_id, token)
            row = session.get(TrialRow, (job_id, number), options=[undefer(TrialRow.result)])
            if row is None:
                row = TrialRow(
                    job_id=job_id,
                    number=number,
                    kind=kind,
                    label=label,
                    configuration=configuration,
                    configuration_sha256=configuration_sha256,
                    technique=technique,
                    state="pending",
                    cutoff=cutoff,
                    cached=False,
                    created_at=self._database.now(session),
                )
                session.add(row)
                self._database.note(session, job_id, "trial", trial_event(row))
            elif row.configuration_sha256 != configuration_sha256:
                raise ReplayDiverged(
                    f"trial {number} of job {job_id} was proposed with another configuration"
                    " before; the versions of OpenTuner or hamtune may have changed"
                )
            return trial_record(row)

    def settle_trial(self, identifier: str, token: int, outcome: Outcome) -> Trial:
        """Give a trial an outcome that needs no attempt; a trial that has one keeps it.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            NotFound: There is no such trial.
        """
        job_id, number = _split(identifier)
        with self._database.writing() as session:
            job = lock_leased_job(self._database, session, job_id, token)
            row = session.get(TrialRow, (job_id, number))
            if row is None:
                raise NotFound(f"there is no trial {identifier}")
            if row.state not in FINAL_TRIAL_STATES:
                now = self._database.now(session)
                session.execute(
                    update(AttemptRow)
                    .where(
                        AttemptRow.job_id == job_id,
                        AttemptRow.trial_number == number,
                        AttemptRow.state.in_(OPEN_ATTEMPT_STATES),
                    )
                    .values(state="lost", finished_at=now)
                )
                settle(self._database, session, job, row, outcome, now)
            return trial_record(row)

    def cancel_open_trials(self, job_id: str, token: int) -> int:
        """Cancel all trials that have no outcome; how many there were.

        Raises:
            LeaseLost: The token is not that of the job's lease.
        """
        with self._database.writing() as session:
            lock_leased_job(self._database, session, job_id, token)
            return cancel_open(self._database, session, job_id, self._database.now(session))

    def get_trial(self, job_id: str, number: int) -> Trial:
        """One trial with its result.

        Raises:
            NotFound: The job has no trial of this number.
        """
        with self._database.reading() as session:
            row = session.get(TrialRow, (job_id, number), options=[undefer(TrialRow.result)])
            if row is None:
                raise NotFound(f"there is no trial {number} of a job {job_id}")
            return trial_record(row)

    def list_trials(
        self,
        job_id: str,
        *,
        state: TrialState | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[Trial]:
        """Trials by number, those after `after`, without their results.

        Raises:
            InvalidInput: The limit is out of range.
        """
        check_limit(limit)
        statement = select(TrialRow).where(TrialRow.job_id == job_id, TrialRow.number > after)
        if state is not None:
            statement = statement.where(TrialRow.state == state)
        with self._database.reading() as session:
            rows = session.scalars(statement.order_by(TrialRow.number).limit(limit))
            return [trial_record(row, with_result=False) for row in rows]

    def open_trials(self, job_id: str) -> list[Trial]:
        """The trials that have no outcome yet, by number."""
        with self._database.reading() as session:
            rows = session.scalars(
                select(TrialRow)
                .where(TrialRow.job_id == job_id, TrialRow.state.in_(OPEN_TRIAL_STATES))
                .order_by(TrialRow.number)
            )
            return [trial_record(row, with_result=False) for row in rows]

    def trial_points(self, job_id: str, *, after: int = 0) -> list[TrialPoint]:
        """What a curve needs, of all trials after a number: cheap for 100,000 of them."""
        columns = (
            TrialRow.number,
            TrialRow.kind,
            TrialRow.label,
            TrialRow.state,
            TrialRow.value,
            TrialRow.cached,
            TrialRow.cpu_seconds,
            TrialRow.finished_at,
        )
        with self._database.reading() as session:
            rows = session.execute(
                select(*columns)
                .where(TrialRow.job_id == job_id, TrialRow.number > after)
                .order_by(TrialRow.number)
            )
            return [
                TrialPoint(
                    number=number,
                    kind=cast('Literal["baseline", "search"]', kind),
                    label=label,
                    state=cast("TrialState", state),
                    value=value,
                    cached=cached,
                    cpu_seconds=cpu_seconds,
                    finished_at=finished_at,
                )
                for number, kind, label, state, value, cached, cpu_seconds, finished_at in rows
            ]

    def best_trial(self, job_id: str) -> Trial | None:
        """The completed trial with the lowest value (of equals the first), with its result."""
        with self._database.reading() as session:
            row = session.scalars(
                select(TrialRow)
                .where(TrialRow.job_id == job_id, TrialRow.state == "completed")
                .order_by(TrialRow.value, TrialRow.number)
                .limit(1)
                .options(undefer(TrialRow.result))
            ).one_or_none()
            return None if row is None else trial_record(row)

    def trial_counts(self, job_id: str) -> dict[TrialState, int]:
        """How many trials are in each state; states without a trial are left out."""
        with self._database.reading() as session:
            rows = session.execute(
                select(TrialRow.state, func.count())
                .where(TrialRow.job_id == job_id)
                .group_by(TrialRow.state)
            )
            return {cast("TrialState", state): count for state, count in rows}

    def cpu_seconds_spent(self, job_id: str) -> float:
        """Simulator CPU seconds of the job's finished trials; cached ones cost none.

        Raises:
            NotFound: There is no such job.
        """
        return float(self._sum(job_id)[0])

    def evaluations_spent(self, job_id: str) -> int:
        """Finished trials of the job that were simulated, not answered by the cache.

        Raises:
            NotFound: There is no such job.
        """
        return int(self._sum(job_id)[1])

    def _sum(self, job_id: str) -> tuple[float, int]:
        with self._database.reading() as session:
            row = session.execute(
                select(JobRow.cpu_seconds, JobRow.evaluations).where(JobRow.id == job_id)
            ).one_or_none()
            if row is None:
                raise NotFound(f"there is no job {job_id}")
            return row[0], row[1]


def _split(identifier: str) -> tuple[str, int]:
    parts = split_trial_id(identifier)
    if parts is None:
        raise NotFound(f"there is no trial {identifier}")
    return parts

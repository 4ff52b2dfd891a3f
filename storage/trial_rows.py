"""What the repositories of jobs, trials and attempts share: rows of trials, settled and shown."""

from __future__ import annotations

from typing import Any, Literal, cast

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from storage.database import Database
from storage.identifiers import trial_id
from storage.models import AttemptRow, JobRow, TrialRow
from storage.records import FINAL_TRIAL_STATES, Outcome, Trial, TrialState

__all__ = [
    "OPEN_ATTEMPT_STATES",
    "OPEN_TRIAL_STATES",
    "cancel_open",
    "reopen",
    "settle",
    "trial_event",
    "trial_record",
]

OPEN_TRIAL_STATES: tuple[TrialState, ...] = ("pending", "running")
OPEN_ATTEMPT_STATES = ("dispatched", "running")


def settle(
    database: Database,
    session: Session,
    job: JobRow,
    trial: TrialRow,
    outcome: Outcome,
    now: float,
) -> None:
    """Give an open trial its outcome, and the job its costs."""
    assert trial.state not in FINAL_TRIAL_STATES
    trial.state = outcome.status
    trial.value = outcome.value
    trial.reason = outcome.reason
    trial.result = outcome.result
    trial.cached = outcome.cached
    trial.cpu_seconds = outcome.cpu_seconds
    trial.wall_seconds = outcome.wall_seconds
    trial.peak_rss_bytes = outcome.peak_rss_bytes
    trial.finished_at = now
    job.cpu_seconds += outcome.cpu_seconds
    if not outcome.cached and outcome.status != "infeasible":
        job.evaluations += 1
    database.note(session, job.id, "trial", trial_event(trial))


def reopen(database: Database, session: Session, trial: TrialRow) -> None:
    """Make a trial whose attempt was lost pending again, with the same configuration."""
    trial.state = "pending"
    trial.worker = None
    trial.started_at = None
    database.note(session, trial.job_id, "trial", trial_event(trial))


def cancel_open(database: Database, session: Session, job_id: str, now: float) -> int:
    """Cancel the open trials of a locked job and lose their attempts; how many there were."""
    trials = session.scalars(
        select(TrialRow)
        .where(TrialRow.job_id == job_id, TrialRow.state.in_(OPEN_TRIAL_STATES))
        .order_by(TrialRow.number)
    ).all()
    if trials:
        session.execute(
            update(AttemptRow)
            .where(AttemptRow.job_id == job_id, AttemptRow.state.in_(OPEN_ATTEMPT_STATES))
            .values(state="lost", finished_at=now)
        )
    for trial in trials:
        trial.state = "cancelled"
        trial.finished_at = now
        database.note(session, job_id, "trial", trial_event(trial))
    return len(trials)


def trial_event(trial: TrialRow) -> dict[str, Any]:
    """What the event of a changed trial tells: a line of a live table."""
    return {
        "number": trial.number,
        "state": trial.state,
        "kind": trial.kind,
        "label": trial.label,
        "value": trial.value,
        "cached": bool(trial.cached),
        "cpu_seconds": trial.cpu_seconds,
    }


def trial_record(row: TrialRow, *, with_result: bool = True) -> Trial:
    """The value of a row. Without the result, listings do not read it from the database."""
    return Trial(
        id=trial_id(row.job_id, row.number),
        job_id=row.job_id,
        number=row.number,
        kind=cast('Literal["baseline", "search"]', row.kind),
        label=row.label,
        configuration=row.configuration,
        configuration_sha256=row.configuration_sha256,
        technique=row.technique,
        state=cast("TrialState", row.state),
        cutoff=row.cutoff,
        value=row.value,
        cached=row.cached,
        reason=row.reason,
        result=row.result if with_result else None,
        cpu_seconds=row.cpu_seconds,
        wall_seconds=row.wall_seconds,
        peak_rss_bytes=row.peak_rss_bytes,
        worker=row.worker,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )

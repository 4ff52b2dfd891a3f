"""Statements about attempts, with what decides on them as parameters."""

from __future__ import annotations

from sqlalchemy import (
    Integer,
    and_,
    bindparam,
    exists,
    func,
    select,
    tuple_,
    update,
)

from storage.models import JobRow, table
from storage.trial_rows import (
    ATTEMPTS,
    OPEN_ATTEMPT_STATES,
    TRIALS,
)

__all__ = [
    "ALL_OPEN",
    "BEAT",
    "BEGIN",
    "CHANGE",
    "COUNT_RUNNING",
    "END",
    "FINISH",
    "LAST",
    "NEXT",
    "OF_TRIAL",
    "OPEN",
    "SILENT",
    "THESE",
    "THIS",
    "TRIAL_STATE",
    "WAITING",
]

_JOBS = table(JobRow)
THIS = and_(
    ATTEMPTS.c.job_id == bindparam("its_job"),
    ATTEMPTS.c.trial_number == bindparam("its_trial"),
    ATTEMPTS.c.number == bindparam("its_number"),
)
CHANGE = update(ATTEMPTS).where(THIS).returning(ATTEMPTS.c.number)
THESE = and_(
    ATTEMPTS.c.job_id == bindparam("its_job"),
    tuple_(ATTEMPTS.c.trial_number, ATTEMPTS.c.number).in_(bindparam("which", expanding=True)),
)
BEGIN = (
    update(ATTEMPTS)
    .where(THESE, ATTEMPTS.c.state == "dispatched")
    .values(state="running", worker=bindparam("its_worker"), heartbeat_at=bindparam("now"))
)
FINISH = (
    update(ATTEMPTS)
    .where(THESE, ATTEMPTS.c.state.in_(OPEN_ATTEMPT_STATES))
    .values(state="finished", finished_at=bindparam("now"))
)
END = CHANGE.where(ATTEMPTS.c.state.in_(OPEN_ATTEMPT_STATES))
BEAT = CHANGE.where(
    ATTEMPTS.c.state == "running",
    # Nobody wants to know what comes of a job that was deleted.
    exists().where(_JOBS.c.id == ATTEMPTS.c.job_id, _JOBS.c.deleted_at.is_(None)),
)
TRIAL_STATE = select(TRIALS.c.state).where(
    TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.number == bindparam("number")
)
OF_TRIAL = (
    select(ATTEMPTS)
    .where(ATTEMPTS.c.job_id == bindparam("job_id"), ATTEMPTS.c.trial_number == bindparam("number"))
    .order_by(ATTEMPTS.c.number)
)
LAST = OF_TRIAL.order_by(None).order_by(ATTEMPTS.c.number.desc()).limit(1)
OPEN = (
    select(ATTEMPTS)
    .where(ATTEMPTS.c.job_id == bindparam("job_id"), ATTEMPTS.c.state.in_(OPEN_ATTEMPT_STATES))
    .order_by(ATTEMPTS.c.trial_number)
)
SILENT = OPEN.where(
    ATTEMPTS.c.heartbeat_at + bindparam("silence") <= bindparam("now")
    # A heartbeat that came in while this waited for its row keeps the attempt.
).with_for_update()
ALL_OPEN = OPEN.with_for_update()
COUNT_RUNNING = select(func.count()).where(
    ATTEMPTS.c.job_id == bindparam("job_id"), ATTEMPTS.c.state == "running"
)
WAITING = (
    select(ATTEMPTS.c.trial_number, ATTEMPTS.c.number)
    .where(ATTEMPTS.c.job_id == bindparam("job_id"), ATTEMPTS.c.state == "dispatched")
    .order_by(ATTEMPTS.c.trial_number)
    .limit(bindparam("most", type_=Integer))
)
# What another worker is about to take is its.
NEXT = WAITING.with_for_update(skip_locked=True)

"""What the repositories of jobs, trials and attempts share: rows of trials, settled and shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, bindparam, or_, select, update
from sqlalchemy.orm import Session

from storage.database import Database
from storage.identifiers import trial_id
from storage.job_rows import improve
from storage.models import AttemptRow, TrialRow, pack, table
from storage.records import Outcome, Trial, TrialState

__all__ = [
    "ATTEMPTS",
    "GET",
    "GET_WHOLE",
    "LISTED",
    "OPEN_ATTEMPT_STATES",
    "OPEN_TRIAL_STATES",
    "TRIALS",
    "begin_trials",
    "best_of",
    "cancel_open",
    "change_trial",
    "columns_of",
    "numbered",
    "packed_result",
    "settle",
    "settle_trials",
    "trial_event",
    "trial_record",
]

OPEN_TRIAL_STATES: tuple[TrialState, ...] = ("pending", "running")
OPEN_ATTEMPT_STATES = ("dispatched", "running")

TRIALS = table(TrialRow)
ATTEMPTS = table(AttemptRow)
LISTED = tuple(column for column in TRIALS.c if column.name != "result")
"""All columns but the one that listings do not read, which is the last."""
_NAMES = tuple(column.name for column in LISTED)
_THE_TRIAL = and_(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.number == bindparam("number"))
GET = select(*LISTED).where(_THE_TRIAL)
"""One trial, without its result."""
GET_WHOLE = select(TRIALS).where(_THE_TRIAL)

_CHANGE = (
    update(TRIALS)
    .where(
        TRIALS.c.job_id == bindparam("its_job"),
        TRIALS.c.number == bindparam("its_number"),
        TRIALS.c.state.in_(OPEN_TRIAL_STATES),
    )
    .returning(*LISTED)
)
_THESE = and_(
    TRIALS.c.job_id == bindparam("its_job"),
    TRIALS.c.number.in_(bindparam("numbers", expanding=True)),
)
_BEGIN = (
    update(TRIALS)
    .where(_THESE, TRIALS.c.state.in_(OPEN_TRIAL_STATES))
    .values(state="running", worker=bindparam("its_worker"), started_at=bindparam("now"))
    .returning(*LISTED)
)
_NEVER_CHANGED = select(*(TRIALS.c[n] for n in ("number", "kind", "label", "inside", "cutoff")))
_ASKED = _NEVER_CHANGED.where(_THESE)
_SETTLE = update(TRIALS).where(
    TRIALS.c.job_id == bindparam("its_job"),
    TRIALS.c.number == bindparam("its_number"),
    # No list, which statements that are executed for many rows at once cannot have.
    or_(*(TRIALS.c.state == state for state in OPEN_TRIAL_STATES)),
)
_OPEN = (
    select(*LISTED)
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.state.in_(OPEN_TRIAL_STATES))
    .order_by(TRIALS.c.number)
)
_LOSE_ATTEMPTS = (
    update(ATTEMPTS)
    .where(ATTEMPTS.c.job_id == bindparam("its_job"), ATTEMPTS.c.state.in_(OPEN_ATTEMPT_STATES))
    .values(state="lost", finished_at=bindparam("now"))
)


_MOST_NUMBERS = 1000  # in one statement


def numbered(names: Sequence[str]) -> Select[Any]:
    """A statement for `columns_of`: these columns of trials by number."""
    return (
        select(*(TRIALS.c[name] for name in names))
        .where(
            TRIALS.c.job_id == bindparam("job_id"),
            TRIALS.c.number.in_(bindparam("numbers", expanding=True)),
        )
        .order_by(TRIALS.c.number)
    )


def columns_of(
    connection: Connection, statement: Select[Any], job_id: str, numbers: Sequence[int]
) -> list[Row[Any]]:
    """What a statement from `numbered` reads of a job's trials of these ascending numbers."""
    return [
        row
        for start in range(0, len(numbers), _MOST_NUMBERS)
        for row in connection.execute(
            statement, {"job_id": job_id, "numbers": numbers[start : start + _MOST_NUMBERS]}
        ).all()
    ]


def change_trial(
    database: Database, session: Session, job_id: str, number: int, **values: Any
) -> Row[Any] | None:
    """Change an open trial and note the event; its row then, None where it is not open."""
    found = session.connection().execute(
        _CHANGE, {"its_job": job_id, "its_number": number, **values}
    )
    row = found.one_or_none()
    if row is not None:
        database.note(session, job_id, "trial", trial_event(row))
    return row


def begin_trials(
    database: Database,
    session: Session,
    job_id: str,
    numbers: Sequence[int],
    worker: str,
    now: float,
) -> list[Row[Any]] | None:
    """Let trials of a job run; their rows in the order given, None where one is not open."""
    values = {"its_job": job_id, "numbers": list(numbers), "its_worker": worker, "now": now}
    rows = {row.number: row for row in session.connection().execute(_BEGIN, values).all()}
    if len(rows) != len(numbers):
        return None
    for number in numbers:
        database.note(session, job_id, "trial", trial_event(rows[number]))
    return [rows[number] for number in numbers]


def settle_trials(
    database: Database,
    session: Session,
    job_id: str,
    settled: Sequence[tuple[int, Outcome, bytes | None]],
    now: float,
) -> list[Row[Any]] | None:
    """Give open trials of a job their outcomes, without a look at which is the best.

    Args:
        database: Where events are noted.
        session: Of a writing transaction in which the job was charged.
        job_id: The job.
        settled: The number of each trial, its outcome, and that from `packed_result`.
        now: The time of the transaction.

    Returns:
        What was asked with each trial; None where one is not open.
    """
    connection = session.connection()
    numbers = [number for number, _, _ in settled]
    asked = connection.execute(_ASKED, {"its_job": job_id, "numbers": numbers})
    rows = {row.number: row for row in asked.all()}
    changed = connection.execute(
        _SETTLE,
        [
            {
                "its_job": job_id,
                "its_number": number,
                "state": outcome.status,
                "value": outcome.value,
                "reason": outcome.reason,
                "result": result,
                "cached": outcome.cached,
                "cpu_seconds": outcome.cpu_seconds,
                "wall_seconds": outcome.wall_seconds,
                "peak_rss_bytes": outcome.peak_rss_bytes,
                "finished_at": now,
            }
            for number, outcome, result in settled
        ],
    )
    if changed.rowcount != len(settled) or len(rows) != len(settled):
        return None
    for number, outcome, _ in settled:
        row = rows[number]
        event = {
            "number": number,
            "state": outcome.status,
            "kind": row.kind,
            "label": row.label,
            "value": outcome.value,
            "cached": outcome.cached,
            "cpu_seconds": outcome.cpu_seconds,
        }
        database.note(session, job_id, "trial", event)
    return [rows[number] for number in numbers]


def settle(
    database: Database,
    session: Session,
    job_id: str,
    number: int,
    outcome: Outcome,
    now: float,
    *,
    result: bytes | None,
) -> bool:
    """Give an open trial its outcome; False where it has one already.

    Args:
        database: Where events are noted.
        session: Of a writing transaction in which the job was charged.
        job_id: The job.
        number: The trial.
        outcome: What the evaluation came to.
        now: The time of the transaction.
        result: From `packed_result`.
    """
    rows = settle_trials(database, session, job_id, [(number, outcome, result)], now)
    if rows is None:
        return False
    value = best_of(rows[0], outcome)
    if value is not None:
        improve(session, job_id, number, value, now)
    return True


def best_of(trial: Row[Any], outcome: Outcome) -> float | None:
    """The value by which a trial may be the best of its job; None where it may not."""
    if not trial.inside or outcome.status != "completed" or outcome.value is None:
        return None
    return outcome.value if math.isfinite(outcome.value) else None


def packed_result(outcome: Outcome) -> bytes | None:
    """The measurements of an outcome as the trial and the evaluation cache keep them."""
    if outcome.packed_result is not None:
        return outcome.packed_result
    return None if outcome.result is None else pack(outcome.result)


def cancel_open(database: Database, session: Session, job_id: str, now: float) -> int:
    """Cancel the open trials of a locked job and lose their attempts; how many there were."""
    connection = session.connection()
    trials = connection.execute(_OPEN, {"job_id": job_id}).all()
    if trials:
        connection.execute(_LOSE_ATTEMPTS, {"its_job": job_id, "now": now})
    cancelled = [
        change_trial(database, session, job_id, trial.number, state="cancelled", finished_at=now)
        for trial in trials
    ]
    return sum(row is not None for row in cancelled)


def trial_event(trial: Row[Any] | Trial) -> dict[str, Any]:
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


def trial_record(row: Row[Any], *, result: dict[str, Any] | None = None) -> Trial:
    """The value of a row with the columns `LISTED`, with its result where that was read."""
    # By place: to ask a row for 20 columns by name takes several times as long.
    values = dict(zip(_NAMES, row, strict=False))  # a row read whole has its result at the end
    return Trial(id=trial_id(values["job_id"], values["number"]), result=result, **values)

"""Rows about runs on real clusters: finding, changing, and making records of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.errors import NotFound
from storage.measured_records import (
    MeasuredConfiguration,
    MeasuredOutcome,
    MeasuredPurpose,
    MeasuredRun,
    MeasuredState,
    Measuring,
    MeasuringState,
    NewMeasured,
)
from storage.models import MeasuredRow, MeasuredRunRow, MeasuringRow

__all__ = [
    "close",
    "configuration_record",
    "configuration_rows",
    "enter",
    "fill",
    "hear",
    "measuring_record",
    "new_run",
    "run_record",
    "run_row",
    "run_rows",
    "turn_of",
]


_FAILURES = 2  # after which a configuration is not tried again
_LOSSES = 5  # likewise: it may be what ends the agents
_RUNS = 3  # times the repetitions, however many of them did not count


def enter(
    session: Session, job_id: str, purpose: MeasuredPurpose, candidates: Sequence[NewMeasured]
) -> list[MeasuredRow]:
    """Enter configurations to be measured, after those that are there."""
    last = session.scalar(select(func.max(MeasuredRow.place)).where(MeasuredRow.job_id == job_id))
    rows = [
        MeasuredRow(
            job_id=job_id,
            place=place,
            purpose=purpose,
            trial_number=one.trial,
            label=one.label,
            simulated=one.simulated,
            state="entered",
        )
        for place, one in enumerate(candidates, start=(last or 0) + 1)
    ]
    session.add_all(rows)
    session.flush()
    return rows


def close(one: MeasuredRow, runs: Sequence[MeasuredRunRow], settings: Mapping[str, Any]) -> None:
    """Close a configuration that was run often enough, or that cannot be run."""
    repetitions = settings["repetitions"]
    by_state: dict[str, list[MeasuredRunRow]] = {}
    for run in runs:
        by_state.setdefault(run.state, []).append(run)
    counted, failed = by_state.get("counted", []), by_state.get("failed", [])
    lost, doubted = by_state.get("lost", []), by_state.get("doubted", [])
    if len(counted) >= repetitions:
        one.state = "measured"
    elif len(failed) >= _FAILURES:
        one.state, one.reason = "infeasible", failed[-1].reason
    elif len(lost) >= _LOSSES:
        message = f"agents fell silent in {len(lost)} runs of it"
        one.state, one.reason = "infeasible", {"kind": "lost", "message": message}
    elif len(runs) - len(lost) >= _RUNS * repetitions:
        if counted:
            one.state = "measured"
        else:
            message = f"no run of it counts: {'; '.join(doubted[-1].doubts)}"
            one.state, one.reason = "infeasible", {"kind": "doubted", "message": message}


def turn_of(one: MeasuredRow, runs: Sequence[MeasuredRunRow], seed: int) -> tuple[int, bytes]:
    """Its next turn, and its place in that turn's random order."""
    turn = sum(run.place == one.place and run.state != "lost" for run in runs)
    return turn, hashlib.sha256(f"{seed}/{turn}/{one.place}".encode()).digest()


def hear(row: MeasuringRow, agent: str | None, now: float) -> None:
    """Note that an agent was heard of."""
    row.agent, row.heard_at, row.silent_seconds = agent, now, 0.0


def new_run(
    one: MeasuredRow, number: int, now: float, agent: str | None, cluster: str | None
) -> MeasuredRunRow:
    """A run that begins now."""
    return MeasuredRunRow(
        job_id=one.job_id,
        place=one.place,
        number=number,
        state="running",
        agent=agent,
        cluster=cluster,
        doubts=[],
        started_at=now,
    )


def fill(run: MeasuredRunRow, outcome: MeasuredOutcome, now: float) -> None:
    """End a run with its outcome."""
    if outcome.reason is not None or outcome.seconds is None:
        run.state = "failed"
    else:
        run.state = "doubted" if outcome.doubts else "counted"
    run.seconds = outcome.seconds
    run.doubts = list(outcome.doubts)
    run.reason = outcome.reason
    run.origin = outcome.origin
    run.expires_at = None
    run.finished_at = now


def run_row(session: Session, job_id: str, place: int, number: int) -> MeasuredRunRow:
    """One run.

    Raises:
        NotFound: There is no such run.
    """
    run = session.get(MeasuredRunRow, (job_id, place, number))
    if run is None:
        raise NotFound(f"there is no run {place}.{number} of job {job_id}")
    return run


def configuration_rows(session: Session, job_id: str) -> list[MeasuredRow]:
    """The configurations of a job, in the order of their places."""
    statement = select(MeasuredRow).where(MeasuredRow.job_id == job_id).order_by(MeasuredRow.place)
    return list(session.scalars(statement))


def run_rows(session: Session, job_id: str) -> list[MeasuredRunRow]:
    """The runs of a job, in the order of their beginning."""
    order = (MeasuredRunRow.started_at, MeasuredRunRow.place, MeasuredRunRow.number)
    statement = select(MeasuredRunRow).where(MeasuredRunRow.job_id == job_id).order_by(*order)
    return list(session.scalars(statement))


def configuration_record(row: MeasuredRow, runs: Sequence[MeasuredRunRow]) -> MeasuredConfiguration:
    """A configuration with those of the runs that are its."""
    return MeasuredConfiguration(
        job_id=row.job_id,
        place=row.place,
        purpose=cast("MeasuredPurpose", row.purpose),
        trial=row.trial_number,
        label=row.label,
        simulated=row.simulated,
        state=cast("MeasuredState", row.state),
        reason=row.reason,
        plan=row.plan,
        runs=tuple(run_record(run) for run in runs if run.place == row.place),
    )


def run_record(row: MeasuredRunRow) -> MeasuredRun:
    """A run."""
    return MeasuredRun(
        job_id=row.job_id,
        place=row.place,
        number=row.number,
        state=cast("Any", row.state),
        agent=row.agent,
        cluster=row.cluster,
        seconds=row.seconds,
        doubts=tuple(row.doubts),
        reason=row.reason,
        origin=row.origin,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def measuring_record(row: MeasuringRow) -> Measuring:
    """How the measuring of a job stands."""
    return Measuring(
        job_id=row.job_id,
        state=cast("MeasuringState", row.state),
        because=row.because,
        settings=row.settings,
        cluster=row.cluster,
        agent=row.agent,
        heard_at=row.heard_at,
        spent_seconds=row.spent_seconds,
        silent_seconds=row.silent_seconds,
        simulated_best=row.simulated_best,
        decided=row.decided,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )

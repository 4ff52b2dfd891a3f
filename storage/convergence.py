"""The convergence of long jobs: what was reached by each trial, for as many as are shown.

Running bests and sums of 100,000 trials are a matter of milliseconds once their values lie side by
side, but not as so many rows: PostgreSQL hands each column over as one value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Double, bindparam, case, cast, func, literal, select

from storage.database import AS_BYTES
from storage.records import FINAL_TRIAL_STATES, ConvergencePoint, TrialPoint
from storage.repository import ScopedRepository
from storage.trial_rows import TRIALS, columns_of, numbered

__all__ = ["Convergence"]

_INSIDE, _SEARCH, _BASELINE = 1, 2, 4
_FLAGS = 8  # all of them; the number of a trial comes in the bits above

_LAST = select(func.max(TRIALS.c.number)).where(TRIALS.c.job_id == bindparam("job_id"))
_FINISHED = (
    select(
        (
            _FLAGS * TRIALS.c.number
            + case((TRIALS.c.inside, _INSIDE), else_=0)
            + case(
                (TRIALS.c.kind == "search", _SEARCH),
                (TRIALS.c.kind == "baseline", _BASELINE),
                else_=0,
            )
        ).label("flagged"),
        case((TRIALS.c.state == "completed", TRIALS.c.value)).label("value"),
        case((TRIALS.c.cached, 0.0), else_=func.coalesce(TRIALS.c.cpu_seconds, 0.0)).label("spent"),
        TRIALS.c.finished_at,
    )
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.state.in_(FINAL_TRIAL_STATES))
    .order_by(TRIALS.c.number)
)
_ROWS = _FINISHED.subquery("finished")
_NOTHING = cast(literal("NaN"), Double)
_COLUMNS = select(
    *(
        func.array_send(
            func.array_agg(
                column if column.name in ("flagged", "spent") else func.coalesce(column, _NOTHING)
            )
        )
        for column in _ROWS.c
    )
).execution_options(**AS_BYTES)
_KINDS = (">i4", ">f8", ">f8", ">f8")
_HEADER = 20  # bytes of an array of one dimension before its elements
_NUMBERED = numbered(TrialPoint._fields)

_Column = NDArray[Any]


class Convergence(ScopedRepository):
    """How the searches of jobs went, of one project or of all."""

    def count_asked(self, job_id: str) -> int:
        """How many trials of a job were asked."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            return session.connection().execute(_LAST, {"job_id": job_id}).scalar_one() or 0

    def points(self, job_id: str, stride: int) -> list[ConvergencePoint]:
        """Some trials of a job, by number, and what had been reached by each.

        Args:
            job_id: The job.
            stride: Of the trials with an outcome, each so many-th is among them, beside the last,
                all baselines and all that improve the best of the job or of its search.
        """
        self._scope.admit_job(job_id)
        with self._database.snapshot() as session:
            connection = session.connection()
            columns = self._columns(connection, job_id)
            if columns is None:
                return []
            flagged, value, spent, finished_at = columns
            numbers, flags = flagged // _FLAGS, flagged % _FLAGS
            best = _lowest(np.where(flags & _INSIDE, value, np.nan))
            searched_best = _lowest(np.where(flags & _SEARCH, value, np.nan))
            kept = (flags & _BASELINE) != 0
            kept |= _changes(best) | _changes(searched_best)
            kept[::stride] = True
            kept[-1] = True
            chosen = numbers[kept].tolist()
            trials = [
                TrialPoint._make(row) for row in columns_of(connection, _NUMBERED, job_id, chosen)
            ]
        reached = (
            best,
            np.fmax.accumulate(finished_at),
            np.cumsum(spent),
            searched_best,
            np.cumsum(flags & _SEARCH) // _SEARCH,
        )
        rows = zip(*(column[kept].tolist() for column in reached), strict=True)
        return [
            ConvergencePoint(
                trial, _known(best), _known(ended), spent, _known(searched_best), searched
            )
            for trial, (best, ended, spent, searched_best, searched) in zip(
                trials, rows, strict=True
            )
        ]

    def _columns(self, connection: Connection, job_id: str) -> list[_Column] | None:
        """Flagged number, value, CPU seconds and end of all trials with an outcome, in order."""
        if self._database.is_sqlite:
            rows = connection.execute(_FINISHED, {"job_id": job_id}).all()
            if not rows:
                return None
            columns = zip(zip(*rows, strict=True), _KINDS, strict=True)
            return [np.array(column, dtype=kind[1:]) for column, kind in columns]
        sent = connection.execute(_COLUMNS, {"job_id": job_id}).one()
        if sent[0] is None:
            return None
        return [_elements(data, kind) for data, kind in zip(sent, _KINDS, strict=True)]


def _elements(data: bytes, kind: str) -> _Column:
    """The numbers of an array as PostgreSQL's `array_send` writes it: each after its length."""
    element = np.dtype([("length", ">i4"), ("value", kind)])
    return np.frombuffer(data, element, offset=_HEADER)["value"].astype(kind[1:])


def _lowest(values: _Column) -> _Column:
    """The lowest value so far; NaN before the first."""
    return np.fmin.accumulate(values)


def _changes(values: _Column) -> NDArray[np.bool_]:
    """Where a value differs from the one before, NaN before the first."""
    before = np.concatenate(([np.nan], values[:-1]))
    changed: NDArray[np.bool_] = (values != before) & ~(np.isnan(values) & np.isnan(before))
    return changed


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value

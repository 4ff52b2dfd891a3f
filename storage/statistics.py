"""Statistics of the whole service, for its operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select

from storage.models import EvaluationRow, JobRow, table
from storage.records import FINAL_JOB_STATES
from storage.repository import Repository
from storage.trial_rows import ATTEMPTS, TRIALS

__all__ = ["ServiceStatistics", "Statistics"]

_JOBS = table(JobRow)
_THERE = _JOBS.c.deleted_at.is_(None)
_BY_STATE = select(_JOBS.c.state, func.count()).where(_THERE).group_by(_JOBS.c.state)
_ACTIVE = select(_JOBS.c.id).where(_JOBS.c.state.not_in(FINAL_JOB_STATES), _THERE)
_TRIALS = (
    select(TRIALS.c.state, func.count())
    .where(TRIALS.c.job_id.in_(_ACTIVE))
    .group_by(TRIALS.c.state)
)
_ATTEMPTS = (
    select(ATTEMPTS.c.state, func.count())
    .where(ATTEMPTS.c.job_id.in_(_ACTIVE), ATTEMPTS.c.state.in_(("dispatched", "running")))
    .group_by(ATTEMPTS.c.state)
)
_SUMS = select(
    func.coalesce(func.sum(_JOBS.c.cpu_seconds), 0.0),
    func.coalesce(func.sum(_JOBS.c.evaluations), 0),
).where(_THERE)
_CACHED = select(func.count()).select_from(table(EvaluationRow))


@dataclass(frozen=True, kw_only=True)
class ServiceStatistics:
    """Of all projects; deleted jobs do not count.

    Attributes:
        jobs: How many by state.
        trials: How many by state, of jobs that have not ended.
        queued: Evaluations that no worker has taken yet.
        evaluating: Evaluations under way.
        cpu_seconds: Of the simulator, over the jobs that are there.
        evaluations: Simulated, over the jobs that are there.
        cached: Entries of the evaluation cache.
    """

    jobs: dict[str, int]
    trials: dict[str, int]
    queued: int
    evaluating: int
    cpu_seconds: float
    evaluations: int
    cached: int


class Statistics(Repository):
    """Statistics of all projects."""

    def current(self) -> ServiceStatistics:
        """As it is now."""
        with self._database.reading() as session:
            connection = session.connection()
            attempts = _counts(connection.execute(_ATTEMPTS))
            cpu_seconds, evaluations = connection.execute(_SUMS).one()
            return ServiceStatistics(
                jobs=_counts(connection.execute(_BY_STATE)),
                trials=_counts(connection.execute(_TRIALS)),
                queued=attempts.get("dispatched", 0),
                evaluating=attempts.get("running", 0),
                cpu_seconds=float(cpu_seconds),
                evaluations=int(evaluations),
                cached=int(connection.execute(_CACHED).scalar_one()),
            )


def _counts(rows: Iterable[Row[Any]]) -> dict[str, int]:
    pairs: Iterable[Any] = rows
    return {state: int(count) for state, count in pairs}

"""Courses of long jobs, thinned by the database: running bests and sums as window functions.

So that a course of 100,000 trials costs the service what it shows, in time and in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Over,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
)
from sqlalchemy.sql.functions import FunctionElement

from storage.database import Repository
from storage.records import FINAL_TRIAL_STATES, CoursePoint, TrialPoint
from storage.trial_rows import TRIALS

__all__ = ["Courses"]

_FINISHED = (
    select(*(TRIALS.c[name] for name in TrialPoint._fields))
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.state.in_(FINAL_TRIAL_STATES))
    .subquery("finished")
)
_COUNT = select(func.count()).select_from(_FINISHED)
_IS_SEARCH = _FINISHED.c.kind == "search"
_SPENT = case((_FINISHED.c.cached, 0.0), else_=func.coalesce(_FINISHED.c.cpu_seconds, 0.0))
_VALUE = case((_FINISHED.c.state == "completed", _FINISHED.c.value))


def _so_far(aggregate: FunctionElement[Any]) -> Over[Any]:
    """Over a trial and all before it."""
    return aggregate.over(order_by=_FINISHED.c.number, rows=(None, 0))


def _beside(column: ColumnElement[Any], offset: Callable[..., FunctionElement[Any]]) -> Over[Any]:
    """The value of the trial before or behind."""
    return offset(column).over(order_by=_COURSE.c.number)


_COURSE = select(
    *(_FINISHED.c[name] for name in TrialPoint._fields),
    _so_far(func.min(case((_FINISHED.c.inside, _VALUE)))).label("best"),
    _so_far(func.max(_FINISHED.c.finished_at)).label("all_finished_at"),
    _so_far(func.sum(_SPENT)).label("cpu_seconds_spent"),
    _so_far(func.min(case((_IS_SEARCH, _VALUE)))).label("searched_best"),
    cast(_so_far(func.sum(case((_IS_SEARCH, 1), else_=0))), Integer).label("searched"),
    func.row_number().over(order_by=_FINISHED.c.number).label("place"),
).subquery("course")
_BEFORE = select(
    _COURSE,
    _beside(_COURSE.c.best, func.lag).label("best_before"),
    _beside(_COURSE.c.searched_best, func.lag).label("searched_best_before"),
    _beside(_COURSE.c.number, func.lead).label("next"),
).subquery("before")
_THINNED = (
    select(*(_BEFORE.c[name] for name in (*TrialPoint._fields, *CoursePoint._fields[1:])))
    .where(
        or_(
            _BEFORE.c.best.is_distinct_from(_BEFORE.c.best_before),
            _BEFORE.c.searched_best.is_distinct_from(_BEFORE.c.searched_best_before),
            _BEFORE.c.kind == "baseline",
            _BEFORE.c.next.is_(None),
            (_BEFORE.c.place - 1) % bindparam("stride", type_=Integer) == 0,
        )
    )
    .order_by(_BEFORE.c.number)
)
_FIELDS = len(TrialPoint._fields)


class Courses(Repository):
    """The methods of `Storage` about courses of jobs."""

    def count_finished(self, job_id: str) -> int:
        """How many trials of a job have an outcome."""
        with self._database.reading() as session:
            return int(session.connection().execute(_COUNT, {"job_id": job_id}).scalar_one())

    def course_points(self, job_id: str, stride: int) -> list[CoursePoint]:
        """Some points of a job's course, by number, and what had been reached by each.

        Args:
            job_id: The job.
            stride: Of the trials with an outcome, each so many-th is among them, beside the last,
                all baselines and all that improve the best of the job or of its search.
        """
        with self._database.reading() as session:
            rows = session.connection().execute(_THINNED, {"job_id": job_id, "stride": stride})
            return [CoursePoint(TrialPoint._make(row[:_FIELDS]), *row[_FIELDS:]) for row in rows]

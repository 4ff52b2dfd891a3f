"""Courses of long jobs, thinned by the database, so that they cost the service what it shows.

The trials are summed up in as many buckets as points are wanted. What had been reached before each
bucket follows from those before it; only where the best changes within a bucket are its trials
looked at one by one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Over,
    and_,
    bindparam,
    case,
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
    select(
        *(TRIALS.c[name] for name in TrialPoint._fields),
        ((TRIALS.c.number - 1) // bindparam("stride", type_=Integer)).label("bucket"),
    )
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.state.in_(FINAL_TRIAL_STATES))
    .subquery("finished")
)
_COUNT = select(func.count()).where(
    TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.state.in_(FINAL_TRIAL_STATES)
)
_VALUE = case((_FINISHED.c.state == "completed", _FINISHED.c.value))
_IS_SEARCH = _FINISHED.c.kind == "search"
_SUMS = {
    "best": func.min(case((_FINISHED.c.inside, _VALUE))),
    "all_finished_at": func.max(_FINISHED.c.finished_at),
    "cpu_seconds_spent": func.sum(
        case((_FINISHED.c.cached, 0.0), else_=func.coalesce(_FINISHED.c.cpu_seconds, 0.0))
    ),
    "searched_best": func.min(case((_IS_SEARCH, _VALUE))),
    "searched": func.sum(case((_IS_SEARCH, 1), else_=0)),
}
_SUMMED = (
    select(
        _FINISHED.c.bucket,
        func.min(_FINISHED.c.number).label("first"),
        func.max(_FINISHED.c.number).label("last"),
        func.max(case((_FINISHED.c.kind == "baseline", 1), else_=0)).label("baselines"),
        *(function.label(name) for name, function in _SUMS.items()),
    )
    .group_by(_FINISHED.c.bucket)
    .subquery("summed")
)
_FIRST = TRIALS.alias("first_trial")
_BUCKETS = (
    select(
        *(_FIRST.c[name].label(f"first_{name}") for name in TrialPoint._fields),
        *_SUMMED.c,
    )
    .join_from(
        _SUMMED,
        _FIRST,
        and_(_FIRST.c.job_id == bindparam("job_id"), _FIRST.c.number == _SUMMED.c.first),
    )
    .order_by(_SUMMED.c.bucket)
)


def _so_far(aggregate: FunctionElement[Any]) -> Over[Any]:
    """Over a trial and those of its bucket before it."""
    order = _FINISHED.c.number
    return aggregate.over(partition_by=_FINISHED.c.bucket, order_by=order, rows=(None, 0))


def _before(column: ColumnElement[Any]) -> Over[Any]:
    """The value of the trial before, in the same bucket."""
    return func.lag(column).over(partition_by=_COURSE.c.bucket, order_by=_COURSE.c.number)


_COURSE = (
    select(
        *(_FINISHED.c[name] for name in TrialPoint._fields),
        _FINISHED.c.bucket,
        *(_so_far(function).label(name) for name, function in _SUMS.items()),
    )
    .where(_FINISHED.c.bucket.in_(bindparam("buckets", expanding=True)))
    .subquery("course")
)
_BESIDE = select(
    _COURSE,
    _before(_COURSE.c.number).label("number_before"),
    _before(_COURSE.c.best).label("best_before"),
    _before(_COURSE.c.searched_best).label("searched_best_before"),
).subquery("beside")
_WITHIN = (
    select(
        *(_BESIDE.c[name] for name in TrialPoint._fields),
        _BESIDE.c.bucket,
        *(_BESIDE.c[name] for name in _SUMS),
    )
    .where(
        or_(
            _BESIDE.c.best.is_distinct_from(_BESIDE.c.best_before),
            _BESIDE.c.searched_best.is_distinct_from(_BESIDE.c.searched_best_before),
            _BESIDE.c.kind == "baseline",
            _BESIDE.c.number_before.is_(None),
            _BESIDE.c.number == bindparam("last", type_=Integer),
        )
    )
    .order_by(_BESIDE.c.number)
)
_FIELDS = len(TrialPoint._fields)


@dataclass(frozen=True)
class _Reached:
    """What some trials had reached, and those after them together; infinity is nothing yet."""

    best: float = math.inf
    all_finished_at: float = -math.inf
    cpu_seconds_spent: float = 0.0
    searched_best: float = math.inf
    searched: int = 0

    @classmethod
    def of(cls, row: Any) -> _Reached:
        """Of the sums in a row."""
        return cls(
            math.inf if row.best is None else row.best,
            -math.inf if row.all_finished_at is None else row.all_finished_at,
            row.cpu_seconds_spent,
            math.inf if row.searched_best is None else row.searched_best,
            int(row.searched),
        )

    @classmethod
    def alone(cls, trial: TrialPoint) -> _Reached:
        """Of one trial."""
        completed = trial.state == "completed" and trial.value is not None
        value = trial.value if completed and trial.value is not None else math.inf
        searches = trial.kind == "search"
        return cls(
            value if trial.inside else math.inf,
            -math.inf if trial.finished_at is None else trial.finished_at,
            0.0 if trial.cached else trial.cpu_seconds or 0.0,
            value if searches else math.inf,
            int(searches),
        )

    def then(self, other: _Reached) -> _Reached:
        """With those that follow."""
        return _Reached(
            min(self.best, other.best),
            max(self.all_finished_at, other.all_finished_at),
            self.cpu_seconds_spent + other.cpu_seconds_spent,
            min(self.searched_best, other.searched_best),
            self.searched + other.searched,
        )

    def bettered_by(self, other: _Reached) -> bool:
        """Whether those that follow improve the best of the job or of its search."""
        return other.best < self.best or other.searched_best < self.searched_best

    def at(self, trial: TrialPoint) -> CoursePoint:
        """As a point of the course, the last of whose trials is this."""
        return CoursePoint(
            trial,
            None if math.isinf(self.best) else self.best,
            None if math.isinf(self.all_finished_at) else self.all_finished_at,
            self.cpu_seconds_spent,
            None if math.isinf(self.searched_best) else self.searched_best,
            self.searched,
        )


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
            stride: Of so many trials one after the other, the first with an outcome is among them,
                beside the last of all, all baselines and all that improve the best of the job or of
                its search.
        """
        with self._database.snapshot() as session:
            connection = session.connection()
            values: dict[str, Any] = {"job_id": job_id, "stride": stride}
            buckets: Sequence[Any] = connection.execute(_BUCKETS, values).all()
            if not buckets:
                return []
            values.update(buckets=_eventful(buckets), last=buckets[-1].last)
            within: dict[int, list[Any]] = defaultdict(list)
            for row in connection.execute(_WITHIN, values):
                within[row.bucket].append(row)
        points: list[CoursePoint] = []
        before = _Reached()
        for bucket in buckets:
            first = TrialPoint._make(bucket[:_FIELDS])
            rows = within.get(bucket.bucket)
            if rows is None:
                points.append(before.then(_Reached.alone(first)).at(first))
            else:
                points += _improving(before, rows, bucket.last)
            before = before.then(_Reached.of(bucket))
        return points


def _eventful(buckets: Sequence[Any]) -> list[int]:
    """The buckets whose trials have to be looked at one by one."""
    found = []
    before = _Reached()
    for row in buckets:
        inside = _Reached.of(row)
        if before.bettered_by(inside) or row.baselines or row is buckets[-1]:
            found.append(int(row.bucket))
        before = before.then(inside)
    return found


def _improving(before: _Reached, rows: Sequence[Any], last: int) -> list[CoursePoint]:
    """Of the rows of a bucket the first, its baselines, what improves on all before, the last."""
    points = []
    so_far = before
    for row in rows:
        reached = before.then(_Reached.of(row))
        needed = row is rows[0] or row.number == last or row.kind == "baseline"
        if needed or so_far.bettered_by(reached):
            points.append(reached.at(TrialPoint._make(row[:_FIELDS])))
        so_far = reached
    return points

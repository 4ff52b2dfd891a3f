"""Trials as a project sees them: listing, and the sums that budgets ask for."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Sequence

from sqlalchemy import and_, bindparam, func, select, text

from storage.errors import NotFound
from storage.models import NOT_OF_THE_SEARCH, JobRow, table
from storage.pagination import check_limit
from storage.records import (
    FINAL_TRIAL_STATES,
    Trial,
    TrialCells,
    TrialCounts,
    TrialKind,
    TrialPoint,
    TrialState,
)
from storage.repository import ScopedRepository
from storage.trial_rows import (
    GET,
    GET_WHOLE,
    LISTED,
    OPEN_TRIAL_STATES,
    TRIALS,
    columns_of,
    numbered,
    trial_record,
)

__all__ = ["ProjectTrials"]

_JOBS = table(JobRow)
_POINTS = (
    select(*(TRIALS.c[name] for name in TrialPoint._fields))
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.number > bindparam("after"))
    .order_by(TRIALS.c.number)
)
_LISTED = (
    select(*LISTED)
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.number > bindparam("after"))
    .order_by(TRIALS.c.number)
    .limit(bindparam("most"))
)
_CELLS = numbered(TrialCells._fields)
_INITIAL = _POINTS.where(TRIALS.c.kind == "search", TRIALS.c.state == "completed").limit(1)
_MOST_BASELINES = 1000
_BEST = select(TRIALS).join(
    _JOBS,
    and_(
        _JOBS.c.id == bindparam("job_id"),
        TRIALS.c.job_id == _JOBS.c.id,
        TRIALS.c.number == _JOBS.c.best_trial,
    ),
)
_COMPARISONS = (
    select(*LISTED)
    .where(
        TRIALS.c.job_id == bindparam("job_id"),
        TRIALS.c.kind == "comparison",
        text(NOT_OF_THE_SEARCH),
    )
    .order_by(TRIALS.c.number)
)
_COMPARED = (
    select(*LISTED)
    .where(
        TRIALS.c.job_id == bindparam("job_id"),
        TRIALS.c.state == "completed",
        TRIALS.c.inside,
        TRIALS.c.configuration_sha256.in_(bindparam("digests", expanding=True)),
    )
    .order_by(TRIALS.c.value.desc(), TRIALS.c.number.desc())
)
_COUNTS = (
    select(TRIALS.c.job_id, TRIALS.c.state, func.count())
    .where(TRIALS.c.job_id.in_(bindparam("job_ids", expanding=True)))
    .group_by(TRIALS.c.job_id, TRIALS.c.state)
)
# Literally the condition of the index that holds these few, or it would not serve.
_OTHER_COUNTS = (
    select(TRIALS.c.job_id, TRIALS.c.kind, TRIALS.c.state, func.count())
    .where(
        TRIALS.c.job_id.in_(bindparam("job_ids", expanding=True)),
        text(NOT_OF_THE_SEARCH),
    )
    .group_by(TRIALS.c.job_id, TRIALS.c.kind, TRIALS.c.state)
)
_LAST = select(func.max(TRIALS.c.number)).where(TRIALS.c.job_id == bindparam("job_id"))
_SEARCH_SECONDS = select(func.coalesce(func.sum(TRIALS.c.cpu_seconds), 0.0)).where(
    TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.kind != "comparison"
)


class ProjectTrials(ScopedRepository):
    """Trials of a project's jobs, and the sums that budgets ask for."""

    def get(self, job_id: str, number: int, *, with_result: bool = True) -> Trial:
        """One trial, with its result unless that is not wanted.

        Raises:
            NotFound: The job has no trial of this number.
        """
        self._scope.admit_job(job_id)
        statement = GET_WHOLE if with_result else GET
        with self._database.reading() as session:
            row = (
                session.connection()
                .execute(statement, {"job_id": job_id, "number": number})
                .one_or_none()
            )
            if row is None:
                last = session.scalar(_LAST, {"job_id": job_id})
                known = f"it has 1 to {last}" if last else "it has none"
                raise NotFound(f"there is no trial {number} of job {job_id}; {known}")
            return trial_record(row, result=row.result if with_result else None)

    def of_job(
        self,
        job_id: str,
        *,
        states: Collection[TrialState] = (),
        after: int = 0,
        limit: int = 1000,
    ) -> list[Trial]:
        """Trials by number, those after `after`, without their results.

        Of some states only, where any are given.

        Raises:
            InvalidInput: The limit is out of range.
        """
        self._scope.admit_job(job_id)
        check_limit(limit)
        statement = _LISTED.where(TRIALS.c.state.in_(states)) if states else _LISTED
        values = {"job_id": job_id, "after": after, "most": limit}
        with self._database.reading() as session:
            # One by one they would cost the driver twice as much.
            rows = session.connection().execute(statement, values).all()
        return [trial_record(row) for row in rows]

    def cells(self, job_id: str, numbers: Sequence[int]) -> list[TrialCells]:
        """What a table shows of the trials of these numbers that there are, by number."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = columns_of(session.connection(), _CELLS, job_id, numbers)
            return [TrialCells._make(row) for row in rows]

    def unfinished(self, job_id: str) -> list[Trial]:
        """The trials that have no outcome yet, by number."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = (
                session.connection()
                .execute(
                    select(*LISTED)
                    .where(TRIALS.c.job_id == job_id, TRIALS.c.state.in_(OPEN_TRIAL_STATES))
                    .order_by(TRIALS.c.number)
                )
                .all()
            )
            return [trial_record(row) for row in rows]

    def points(self, job_id: str, *, after: int = 0) -> list[TrialPoint]:
        """What a curve needs, of all trials after a number: cheap for 100,000 of them."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = session.connection().execute(_POINTS, {"job_id": job_id, "after": after}).all()
            return [TrialPoint._make(row) for row in rows]

    def baseline_points(self, job_id: str) -> list[TrialPoint]:
        """The points of a job's baselines and of their estimates, which are its first trials."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = session.connection().execute(
                _POINTS.limit(_MOST_BASELINES), {"job_id": job_id, "after": 0}
            )
            points = map(TrialPoint._make, rows)
            kinds = ("baseline", "estimate")
            return list(itertools.takewhile(lambda point: point.kind in kinds, points))

    def initial_point(self, job_id: str) -> TrialPoint | None:
        """The first completed trial of the search."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            row = session.connection().execute(_INITIAL, {"job_id": job_id, "after": 0}).first()
            return None if row is None else TrialPoint._make(row)

    def best(self, job_id: str) -> Trial | None:
        """The best trial of a job with its result; None while there is none.

        It is the completed trial inside the search space with the lowest value, of equals the
        first. Baselines outside the space are what it is compared with: they cannot be the best,
        since nobody offered them.
        """
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            row = session.connection().execute(_BEST, {"job_id": job_id}).one_or_none()
            return None if row is None else trial_record(row, result=row.result)

    def comparisons(self, job_id: str) -> list[tuple[Trial, Trial]]:
        """The trials that were evaluated with the fluid model as well, each with its comparison.

        Without results, in the order of comparing, which is that of what packets said.
        """
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            connection = session.connection()
            rows = connection.execute(_COMPARISONS, {"job_id": job_id})
            repeated = [trial_record(row) for row in rows]
            if not repeated:
                return []
            digests = [trial.configuration_sha256 for trial in repeated]
            found = connection.execute(_COMPARED, {"job_id": job_id, "digests": digests})
            decided = {trial.configuration_sha256: trial for trial in map(trial_record, found)}
            return [(decided[trial.configuration_sha256], trial) for trial in repeated]

    def counts(self, job_ids: Sequence[str]) -> dict[str, TrialCounts]:
        """How many trials each job has; states and kinds without a trial are left out."""
        job_ids = self._scope.ours(job_ids)
        states: dict[str, dict[TrialState, int]] = {job_id: {} for job_id in job_ids}
        kinds: dict[str, Counter[TrialKind]] = {job_id: Counter() for job_id in job_ids}
        with self._database.reading() as session:
            rows = session.connection().execute(_COUNTS, {"job_ids": list(job_ids)})
            for job_id, state, count in rows:
                states[job_id][state] = count
                if state in FINAL_TRIAL_STATES:
                    kinds[job_id]["search"] += count
            others = session.connection().execute(_OTHER_COUNTS, {"job_ids": list(job_ids)})
            for job_id, kind, state, count in others:
                if state in FINAL_TRIAL_STATES:
                    kinds[job_id].update({kind: count, "search": -count})
        return {job_id: TrialCounts(states[job_id], dict(+kinds[job_id])) for job_id in job_ids}

    def counts_of(self, job_id: str) -> TrialCounts:
        """How many trials one job has.

        Raises:
            NotFound: There is no such job.
        """
        found = self.counts([job_id]).get(job_id)
        if found is None:
            raise NotFound(f"there is no job {job_id}")
        return found

    def search_seconds(self, job_id: str) -> float:
        """Simulator CPU seconds of the job's finished trials but for comparisons."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            return float(
                session.connection().execute(_SEARCH_SECONDS, {"job_id": job_id}).scalar_one()
            )

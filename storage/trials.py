"""Trials: proposing, settling, listing, and the sums that budgets ask for."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Integer, and_, bindparam, func, insert, select, text, update

from storage.database import Repository
from storage.errors import NotFound, ReplayDiverged
from storage.identifiers import split_trial_id, trial_id
from storage.job_rows import charge, hold_lease
from storage.models import NOT_OF_THE_SEARCH, JobRow, table
from storage.outlooks import add_outlooks
from storage.pagination import check_limit
from storage.project_rows import spend
from storage.records import (
    FINAL_TRIAL_STATES,
    Outcome,
    OutlookPoint,
    Proposal,
    Trial,
    TrialCells,
    TrialCounts,
    TrialKind,
    TrialPoint,
    TrialState,
)
from storage.trial_rows import (
    ATTEMPTS,
    LISTED,
    OPEN_ATTEMPT_STATES,
    OPEN_TRIAL_STATES,
    TRIALS,
    cancel_open,
    columns_of,
    numbered,
    packed_result,
    settle,
    trial_event,
    trial_record,
)

__all__ = ["Trials"]

_THE_TRIAL = and_(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.number == bindparam("number"))
_GET = select(*LISTED).where(_THE_TRIAL)
_GET_WHOLE = select(TRIALS).where(_THE_TRIAL)
_INSERT_SEVERAL = insert(TRIALS)
_INSERT = _INSERT_SEVERAL.returning(*LISTED)
_INSERT_ATTEMPT = insert(ATTEMPTS)
_PENDING: dict[str, Any] = dict.fromkeys(
    (
        "value",
        "reason",
        "result",
        "cpu_seconds",
        "wall_seconds",
        "peak_rss_bytes",
        "worker",
        "started_at",
        "finished_at",
    )
)
_IDENTITIES = select(TRIALS.c.number, TRIALS.c.configuration_sha256).where(
    TRIALS.c.job_id == bindparam("job_id"),
    TRIALS.c.number.between(bindparam("first"), bindparam("last")),
)
_FROM = (
    select(*LISTED)
    .where(TRIALS.c.job_id == bindparam("job_id"), TRIALS.c.number >= bindparam("first"))
    .order_by(TRIALS.c.number)
    .limit(bindparam("most", type_=Integer))
)
_LOSE_ATTEMPT = (
    update(ATTEMPTS)
    .where(
        ATTEMPTS.c.job_id == bindparam("its_job"),
        ATTEMPTS.c.trial_number == bindparam("its_number"),
        ATTEMPTS.c.state.in_(OPEN_ATTEMPT_STATES),
    )
    .values(state="lost", finished_at=bindparam("now"))
)
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
_SUMS = select(_JOBS.c.cpu_seconds, _JOBS.c.evaluations).where(_JOBS.c.id == bindparam("job_id"))


class Trials(Repository):
    """The methods of `Storage` about trials."""

    def propose_trial(
        self,
        job_id: str,
        token: int,
        *,
        number: int,
        kind: TrialKind,
        label: str | None,
        inside: bool = True,
        configuration: dict[str, Any],
        configuration_sha256: str,
        technique: str | None,
        cutoff: float | None,
        attempt: bool = False,
    ) -> Trial:
        """Store a trial as pending, or return the one that has this number already.

        Args:
            job_id: The job.
            token: The coordinator's lease.
            number: 1, 2, ... in ask order.
            kind: A baseline, or a trial of the search.
            label: The name of a baseline.
            inside: Whether it may be the best: see `Trial.inside`.
            configuration: What to evaluate.
            configuration_sha256: Its identity.
            technique: Whose idea it was.
            cutoff: Simulated seconds at which it may be stopped.
            attempt: Also open the first attempt at a trial that is new (`open_attempt` finds it):
                one transaction instead of two.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            ReplayDiverged: Another configuration is stored under this number.
        """
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            connection = session.connection()
            row = connection.execute(_GET_WHOLE, {"job_id": job_id, "number": number}).one_or_none()
            if row is not None:
                if row.configuration_sha256 != configuration_sha256:
                    raise ReplayDiverged(
                        f"trial {number} of job {job_id} was proposed with another configuration"
                        " before; the versions of OpenTuner or hamtune may have changed"
                    )
                return trial_record(row, result=row.result)
            values: dict[str, Any] = {
                "job_id": job_id,
                "number": number,
                "kind": kind,
                "label": label,
                "inside": inside,
                "configuration": configuration,
                "configuration_sha256": configuration_sha256,
                "technique": technique,
                "state": "pending",
                "cutoff": cutoff,
                "cached": False,
                "created_at": now,
            }
            row = connection.execute(_INSERT, values).one()
            if attempt:
                connection.execute(_INSERT_ATTEMPT, _first_attempt(job_id, number, now))
            self._database.note(session, job_id, "trial", trial_event(row))
            return trial_record(row)

    def propose_trials(
        self,
        job_id: str,
        token: int,
        proposals: Sequence[Proposal],
        outlooks: Sequence[OutlookPoint] = (),
        *,
        attempt: bool = True,
    ) -> list[Trial]:
        """Store new trials as pending, each with its first attempt open, in one transaction.

        Args:
            job_id: The job.
            token: The coordinator's lease.
            proposals: With consecutive numbers.
            outlooks: What the search expected when it asked these or earlier trials; one that is
                stored already stays.
            attempt: Otherwise no attempt is opened, and no worker takes one.

        Returns:
            The trials in order.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            ReplayDiverged: There is a trial of one of these numbers.
        """
        numbers = [proposal.number for proposal in proposals]
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            connection = session.connection()
            span = {"job_id": job_id, "first": numbers[0], "last": numbers[-1]}
            taken = connection.execute(_IDENTITIES, span).first()
            if taken is not None:
                raise ReplayDiverged(f"trial {taken.number} of job {job_id} was proposed before")
            rows: list[dict[str, Any]] = [
                {
                    "job_id": job_id,
                    **vars(proposal),
                    "state": "pending",
                    "cached": False,
                    "created_at": now,
                }
                for proposal in proposals
            ]
            connection.execute(_INSERT_SEVERAL, rows)
            add_outlooks(self._database, session, job_id, outlooks)
            if attempt:
                first = [_first_attempt(job_id, number, now) for number in numbers]
                connection.execute(_INSERT_ATTEMPT, first)
            trials = [Trial(id=trial_id(job_id, row["number"]), **row, **_PENDING) for row in rows]
            for trial in trials:
                self._database.note(session, job_id, "trial", trial_event(trial))
            return trials

    def settle_trial(self, identifier: str, token: int, outcome: Outcome) -> Trial:
        """Give a trial an outcome that needs no attempt; a trial that has one keeps it.

        Raises:
            LeaseLost: The token is not that of the job's lease.
            NotFound: There is no such trial.
        """
        job_id, number = _split(identifier)
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            connection = session.connection()
            is_new = settle(
                self._database,
                session,
                job_id,
                number,
                outcome,
                now,
                result=packed_result(outcome),
            )
            if is_new:
                charge(self._database, session, job_id, outcome)
                connection.execute(
                    _LOSE_ATTEMPT, {"its_job": job_id, "its_number": number, "now": now}
                )
                spend(session, job_id, now, outcome)
            row = connection.execute(_GET, {"job_id": job_id, "number": number}).one_or_none()
            if row is None:
                raise NotFound(f"there is no trial {identifier}")
            return trial_record(row, result=outcome.result if is_new else None)

    def cancel_open_trials(self, job_id: str, token: int) -> int:
        """Cancel all trials that have no outcome; how many there were.

        Raises:
            LeaseLost: The token is not that of the job's lease.
        """
        with self._database.writing() as session:
            now = hold_lease(self._database, session, job_id, token)
            return cancel_open(self._database, session, job_id, now)

    def get_trial(self, job_id: str, number: int, *, with_result: bool = True) -> Trial:
        """One trial, with its result unless that is not wanted.

        Raises:
            NotFound: The job has no trial of this number.
        """
        statement = _GET_WHOLE if with_result else _GET
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

    def finished_from(self, job_id: str, first: int, most: int) -> list[Trial]:
        """The trials from a number on up to one that has no outcome, at most so many.

        Without their results.
        """
        with self._database.reading() as session:
            rows = session.connection().execute(
                _FROM, {"job_id": job_id, "first": first, "most": most}
            )
            finished = itertools.takewhile(lambda row: row.state in FINAL_TRIAL_STATES, rows.all())
            return [trial_record(row) for row in finished]

    def list_trials(
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
        check_limit(limit)
        statement = _LISTED.where(TRIALS.c.state.in_(states)) if states else _LISTED
        values = {"job_id": job_id, "after": after, "most": limit}
        with self._database.reading() as session:
            # One by one they would cost the driver twice as much.
            rows = session.connection().execute(statement, values).all()
        return [trial_record(row) for row in rows]

    def trial_cells(self, job_id: str, numbers: Sequence[int]) -> list[TrialCells]:
        """What a table shows of the trials of these numbers that there are, by number."""
        with self._database.reading() as session:
            rows = columns_of(session.connection(), _CELLS, job_id, numbers)
            return [TrialCells._make(row) for row in rows]

    def open_trials(self, job_id: str) -> list[Trial]:
        """The trials that have no outcome yet, by number."""
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

    def trial_points(self, job_id: str, *, after: int = 0) -> list[TrialPoint]:
        """What a curve needs, of all trials after a number: cheap for 100,000 of them."""
        with self._database.reading() as session:
            rows = session.connection().execute(_POINTS, {"job_id": job_id, "after": after}).all()
            return [TrialPoint._make(row) for row in rows]

    def baseline_points(self, job_id: str) -> list[TrialPoint]:
        """The points of a job's baselines and of their estimates, which are its first trials."""
        with self._database.reading() as session:
            rows = session.connection().execute(
                _POINTS.limit(_MOST_BASELINES), {"job_id": job_id, "after": 0}
            )
            points = map(TrialPoint._make, rows)
            kinds = ("baseline", "estimate")
            return list(itertools.takewhile(lambda point: point.kind in kinds, points))

    def initial_point(self, job_id: str) -> TrialPoint | None:
        """The first completed trial of the search."""
        with self._database.reading() as session:
            row = session.connection().execute(_INITIAL, {"job_id": job_id, "after": 0}).first()
            return None if row is None else TrialPoint._make(row)

    def best_trial(self, job_id: str) -> Trial | None:
        """The best trial of a job with its result; None while there is none.

        It is the completed trial inside the search space with the lowest value, of equals the
        first. Baselines outside the space are what it is compared with: they cannot be the best,
        since nobody offered them.
        """
        with self._database.reading() as session:
            row = session.connection().execute(_BEST, {"job_id": job_id}).one_or_none()
            return None if row is None else trial_record(row, result=row.result)

    def comparisons(self, job_id: str) -> list[tuple[Trial, Trial]]:
        """The trials that were evaluated with the fluid model as well, each with its comparison.

        Without results, in the order of comparing, which is that of what packets said.
        """
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

    def trial_counts(self, job_ids: Sequence[str]) -> dict[str, TrialCounts]:
        """How many trials each job has; states and kinds without a trial are left out."""
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

    def cpu_seconds_spent(self, job_id: str) -> float:
        """Simulator CPU seconds of the job's finished trials; cached ones cost none.

        Raises:
            NotFound: There is no such job.
        """
        return float(self._sum(job_id)[0])

    def search_seconds(self, job_id: str) -> float:
        """Simulator CPU seconds of the job's finished trials but for comparisons."""
        with self._database.reading() as session:
            return float(
                session.connection().execute(_SEARCH_SECONDS, {"job_id": job_id}).scalar_one()
            )

    def evaluations_spent(self, job_id: str) -> int:
        """Finished trials of the job that were simulated, not answered by the cache.

        Raises:
            NotFound: There is no such job.
        """
        return int(self._sum(job_id)[1])

    def _sum(self, job_id: str) -> tuple[float, int]:
        with self._database.reading() as session:
            row = session.connection().execute(_SUMS, {"job_id": job_id}).one_or_none()
            if row is None:
                raise NotFound(f"there is no job {job_id}")
            return row[0], row[1]


def _first_attempt(job_id: str, number: int, now: float) -> dict[str, Any]:
    """The row of a new trial's first attempt, which waits for a worker."""
    return {
        "job_id": job_id,
        "trial_number": number,
        "number": 1,
        "state": "dispatched",
        "dispatched_at": now,
    }


def _split(identifier: str) -> tuple[str, int]:
    parts = split_trial_id(identifier)
    if parts is None:
        raise NotFound(f"there is no trial {identifier}")
    return parts

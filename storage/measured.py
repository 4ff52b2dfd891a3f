"""What real clusters measure of jobs: which configurations, by whom, and every run of each.

A run is leased like a trial's attempt: whoever claims it says that it lives, and one that falls
silent is lost and done anew under another number, so that the old one cannot be told any more.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from storage.errors import Conflict
from storage.job_rows import lock_job, lock_leased_job
from storage.measured_records import (
    MeasuredConfiguration,
    MeasuredOutcome,
    MeasuredPurpose,
    MeasuredRun,
    MeasuredState,
    Measuring,
    MeasuringCounts,
    NewMeasured,
)
from storage.measured_rows import (
    close,
    configuration_record,
    configuration_rows,
    enter,
    fill,
    hear,
    measuring_record,
    new_run,
    run_record,
    run_row,
    run_rows,
    turn_of,
)
from storage.models import JobRow, MeasuredRow, MeasuredRunRow, MeasuringRow, ProjectRow
from storage.records import FINAL_JOB_STATES
from storage.repository import ForAllProjects, ScopedRepository

__all__ = ["EVENT", "MeasuredRuns", "ProjectMeasuredRuns"]

EVENT = "measuring"
"""The kind of the events that tell of runs."""


class ProjectMeasuredRuns(ScopedRepository):
    """Measured configurations of a project's jobs, and their runs."""

    def add(
        self,
        job_id: str,
        purpose: MeasuredPurpose,
        configuration: NewMeasured,
        outcomes: Sequence[MeasuredOutcome],
        *,
        cluster: str | None = None,
        infeasible: dict[str, Any] | None = None,
    ) -> MeasuredConfiguration:
        """Keep what was measured of a configuration by somebody who asked for no work.

        Raises:
            NotFound: There is no such job.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            lock_job(session, job_id)
            (row,) = enter(session, job_id, purpose, [configuration])
            row.state = "measured" if infeasible is None else "infeasible"
            row.reason = infeasible
            session.flush()
            now = self._database.now(session)
            for number, outcome in enumerate(outcomes, start=1):
                run = new_run(row, number, now, None, cluster)
                session.add(run)
                fill(run, outcome, now)
            session.flush()
            return configuration_record(row, run_rows(session, job_id))

    def measuring(self, job_id: str) -> Measuring | None:
        """How the measuring of a job's finalists stands; None where it has not begun."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            row = session.get(MeasuringRow, job_id)
            return None if row is None else measuring_record(row)

    def configurations(
        self, job_id: str, purpose: MeasuredPurpose | None = None
    ) -> list[MeasuredConfiguration]:
        """What is or was measured of a job, in order, for one purpose or all."""
        self._scope.admit_job(job_id)
        with self._database.reading() as session:
            rows = configuration_rows(session, job_id)
            runs = run_rows(session, job_id)
            return [
                configuration_record(row, runs) for row in rows if purpose in (None, row.purpose)
            ]

    def counts(self, job_ids: Sequence[str]) -> dict[str, MeasuringCounts]:
        """How far those of these jobs have come whose finalists are being measured."""
        job_ids = self._scope.ours(job_ids)
        open_jobs = select(MeasuringRow.job_id).where(
            MeasuringRow.job_id.in_(job_ids), MeasuringRow.state == "open"
        )
        mine = MeasuredRow.job_id.in_(open_jobs), MeasuredRow.purpose == "finalists"
        by_state = (
            select(MeasuredRow.job_id, MeasuredRow.state, func.count())
            .where(*mine)
            .group_by(MeasuredRow.job_id, MeasuredRow.state)
        )
        ended = (
            select(MeasuredRunRow.job_id, func.count())
            .where(MeasuredRunRow.job_id.in_(open_jobs), MeasuredRunRow.state != "running")
            .group_by(MeasuredRunRow.job_id)
        )
        states: dict[str, Counter[str]] = {}
        with self._database.reading() as session:
            for job_id, state, count in session.execute(by_state):
                states.setdefault(job_id, Counter())[state] = count
            runs: dict[str, int] = {}
            for job_id, count in session.execute(ended):
                runs[job_id] = count
        return {
            job_id: MeasuringCounts(
                settled=counted["measured"] + counted["infeasible"],
                wanted=counted["open"] + counted["measured"] + counted["infeasible"],
                runs=runs.get(job_id, 0),
            )
            for job_id, counted in states.items()
        }

    def measurable_jobs(self, cluster: str, library: str, testbed: str | None) -> list[str]:
        """Jobs that a cluster may measure, oldest first: of one job all times are of one cluster.

        Args:
            cluster: Its name.
            library: The kind of library that it runs.
            testbed: Its name, if it is a testbed.
        """
        statement = (
            select(MeasuringRow, JobRow.spec)
            .join(JobRow, JobRow.id == MeasuringRow.job_id)
            .where(MeasuringRow.state == "open", JobRow.state == "running")
            .order_by(MeasuringRow.created_at, MeasuringRow.job_id)
        )
        statement = self._scope.visible(statement, JobRow.project)
        found = []
        with self._database.reading() as session:
            for row, _spec in session.execute(statement):
                wished = row.settings
                same = row.cluster in (None, cluster) and wished.get("library") == library
                if same and wished.get("testbed") == testbed:
                    found.append(row.job_id)
        return found

    def settle_entered(
        self, job_id: str, plans: Mapping[int, tuple[MeasuredState, dict[str, Any]]]
    ) -> None:
        """Say what configurations come to on a cluster; those that are settled stay as they are.

        Args:
            job_id: The job.
            plans: By place: `open` with the plan, or another state with the reason.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            lock_job(session, job_id)
            for row in configuration_rows(session, job_id):
                if row.state != "entered" or row.place not in plans:
                    continue
                state, document = plans[row.place]
                row.state = state
                if state == "open":
                    row.plan = document
                else:
                    row.reason = document
            measuring = session.get(MeasuringRow, job_id)
            if measuring is not None and measuring.state == "open":
                session.flush()
                self._settle(session, measuring)  # where none is left, there is nothing to wait for

    def claim(
        self, job_id: str, agent: str, cluster: str, seconds: float
    ) -> tuple[MeasuredConfiguration, MeasuredRun] | None:
        """Take the next run of a job: in turns, each turn in random order.

        One run of a job is under way at a time, and all are on one cluster; on a cluster runs one
        of a project.

        Args:
            job_id: The job.
            agent: Who takes it.
            cluster: On what it runs.
            seconds: How long the lease lasts unless it is renewed.

        Returns:
            What is run, and the run; None where there is nothing to do now.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            job = lock_job(session, job_id)
            row = session.get(MeasuringRow, job_id)
            if row is None or row.state != "open" or job.state != "running":
                return None
            if row.cluster not in (None, cluster):
                return None
            now = self._database.now(session)
            hear(row, agent, now)
            self._lose_silent(session, row, now)
            runs = run_rows(session, job_id)
            if row.state != "open" or _is_busy(session, job.project, cluster, now):
                return None
            waiting = [one for one in configuration_rows(session, job_id) if one.state == "open"]
            if not waiting or any(run.state == "running" for run in runs):
                return None
            chosen = min(waiting, key=lambda one: turn_of(one, runs, job.seed))
            number = 1 + max((run.number for run in runs if run.place == chosen.place), default=0)
            run = new_run(chosen, number, now, agent, cluster)
            run.expires_at = now + seconds
            row.cluster = cluster
            session.add(run)
            session.flush()
            return configuration_record(chosen, [*runs, run]), run_record(run)

    def beat(self, job_id: str, place: int, number: int, seconds: float) -> None:
        """Say that a run goes on.

        Raises:
            NotFound: There is no such run.
            Conflict: Its lease has ended, or the job no longer wants it.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            job = lock_job(session, job_id)
            run = run_row(session, job_id, place, number)
            measuring = session.get(MeasuringRow, job_id)
            if run.state != "running":
                raise Conflict(f"run {place}.{number} of job {job_id} is {run.state}")
            ends = job.state in ("cancelling", *FINAL_JOB_STATES)
            if measuring is None or measuring.state != "open" or ends:
                raise Conflict(f"job {job_id} wants no further runs")
            now = self._database.now(session)
            if run.expires_at is not None and run.expires_at <= now:
                # The cluster may have been given to another run of the project since.
                raise Conflict(f"run {place}.{number} of job {job_id} was silent for too long")
            run.expires_at = now + seconds
            hear(measuring, run.agent, now)

    def finish(self, job_id: str, place: int, number: int, outcome: MeasuredOutcome) -> MeasuredRun:
        """Keep what a run came to; told again, it changes nothing.

        Raises:
            NotFound: There is no such run.
            Conflict: The run was lost, and has been or will be done anew.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            job = lock_job(session, job_id)
            run = run_row(session, job_id, place, number)
            if run.state == "running":
                now = self._database.now(session)
                if _had_company(session, job.project, run, now):
                    run.state, run.finished_at = "lost", now
                else:
                    fill(run, outcome, now)
                row = session.get(MeasuringRow, job_id)
                if row is not None and row.state == "open":
                    hear(row, run.agent, now)
                    session.flush()
                    self._settle(session, row)
                    self._tell(session, row)
            kept = run_record(run)
        if kept.state == "lost":
            raise Conflict(
                f"run {place}.{number} of job {job_id} was given up after a silence: it is done "
                "anew, and this time does not count"
            )
        return kept

    def end_measuring(self, job_id: str, because: str) -> Measuring:
        """End the measuring now: what is known decides, or else the simulation.

        Raises:
            Conflict: Nothing of the job is being measured.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            lock_job(session, job_id)
            row = session.get(MeasuringRow, job_id)
            if row is None or row.state != "open":
                raise Conflict(f"nothing of job {job_id} is being measured")
            self._decide(session, row, because)
            return measuring_record(row)

    def _lose_silent(self, session: Session, row: MeasuringRow, now: float) -> None:
        lost = [
            run
            for run in run_rows(session, row.job_id)
            if run.state == "running" and run.expires_at is not None and run.expires_at <= now
        ]
        for run in lost:
            run.state = "lost"
            run.finished_at = now
        if lost:
            session.flush()
            self._settle(session, row)
            self._tell(session, row)

    def _settle(self, session: Session, row: MeasuringRow) -> None:
        """Close configurations that are known well enough, and decide once all are."""
        runs = run_rows(session, row.job_id)
        finalists = [
            one for one in configuration_rows(session, row.job_id) if one.purpose == "finalists"
        ]
        for one in finalists:
            if one.state == "open":
                close(one, [run for run in runs if run.place == one.place], row.settings)
        if all(one.state not in ("entered", "open") for one in finalists):
            self._decide(session, row, None)

    def _decide(self, session: Session, row: MeasuringRow, cut_short: str | None) -> None:
        """The configuration with the lowest median is the best, if any of a trial has one."""
        runs = run_rows(session, row.job_id)
        medians: dict[int, float] = {}
        for one in configuration_rows(session, row.job_id):
            mine = [run for run in runs if run.place == one.place]
            known = [run.seconds for run in mine if run.state == "counted" and run.seconds]
            if one.purpose != "finalists" or not known:
                continue
            if one.state == "open":
                one.state = "measured"
            if one.state == "measured" and one.trial_number is not None:
                medians[one.trial_number] = statistics.median(known)
                if one.simulated is None:
                    medians.pop(one.trial_number)
        row.because = cut_short
        row.finished_at = self._database.now(session)
        if medians:
            row.state = "decided"
            row.decided = min(medians, key=lambda trial: (medians[trial], trial))
            job = session.get_one(JobRow, row.job_id)
            job.best_trial = row.decided
            job.best_value = next(
                one.simulated
                for one in configuration_rows(session, row.job_id)
                if one.trial_number == row.decided and one.purpose == "finalists"
            )
        else:
            row.state = "undecided"
            row.because = cut_short or "no configuration could be run"
        session.flush()
        self._tell(session, row)

    def _tell(self, session: Session, row: MeasuringRow) -> None:
        data = {"state": row.state, "because": row.because, "decided": row.decided}
        self._database.note(session, row.job_id, EVENT, data)


def _is_busy(session: Session, project: str, cluster: str, now: float) -> bool:
    """Whether a run of a project is under way on a cluster; where none is, none begins meanwhile.

    Locks the project's row, for the runs are those of jobs that others hold. Whoever has locked the
    row of a job may: nobody locks a job after its project.
    """
    session.execute(
        select(ProjectRow.name).where(ProjectRow.name == project).with_for_update(key_share=True)
    )
    busy = (
        select(MeasuredRunRow.place)
        .join(JobRow, JobRow.id == MeasuredRunRow.job_id)
        .where(
            JobRow.project == project,
            JobRow.deleted_at.is_(None),
            MeasuredRunRow.state == "running",
            MeasuredRunRow.cluster == cluster,
            MeasuredRunRow.expires_at > now,
        )
        .limit(1)
    )
    return session.scalars(busy).first() is not None


def _had_company(session: Session, project: str, run: MeasuredRunRow, now: float) -> bool:
    """Whether another run began on the cluster of one that goes on after the end of its lease."""
    if run.expires_at is None or run.expires_at > now:
        return False
    begun_since = (
        select(MeasuredRunRow.place)
        .join(JobRow, JobRow.id == MeasuredRunRow.job_id)
        .where(
            JobRow.project == project,
            MeasuredRunRow.cluster == run.cluster,
            MeasuredRunRow.agent.is_not(None),
            MeasuredRunRow.started_at >= run.expires_at,
            or_(
                MeasuredRunRow.job_id != run.job_id,
                MeasuredRunRow.place != run.place,
                MeasuredRunRow.number != run.number,
            ),
        )
        .limit(1)
    )
    return session.scalars(begun_since).first() is not None


class MeasuredRuns(ForAllProjects, ProjectMeasuredRuns):
    """Those of all projects, for coordinators."""

    def open_measuring(
        self,
        job_id: str,
        token: int,
        settings: Mapping[str, Any],
        candidates: Sequence[NewMeasured],
        simulated_best: int | None,
    ) -> Measuring:
        """Commit what is to be measured after a search; once: what is stored is left as it is.

        Args:
            job_id: The job.
            token: Of its lease.
            settings: The job's field `finalists`.
            candidates: In the order in which they are measured, as many as are wanted.
            simulated_best: The best trial by simulation.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        with self._database.writing() as session:
            lock_leased_job(session, job_id, token)
            row = session.get(MeasuringRow, job_id)
            if row is None:
                row = MeasuringRow(
                    job_id=job_id,
                    state="open",
                    settings=dict(settings),
                    simulated_best=simulated_best,
                    spent_seconds=0.0,
                    silent_seconds=0.0,
                    created_at=self._database.now(session),
                )
                session.add(row)
                enter(session, job_id, "finalists", candidates)
                self._tell(session, row)
            return measuring_record(row)

    def tend_measuring(self, job_id: str, token: int, elapsed: float) -> Measuring:
        """Count time, give up runs whose agents are silent, and end what takes too long.

        Args:
            job_id: The job.
            token: Of its lease.
            elapsed: Seconds since the last call under this lease.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        with self._database.writing() as session:
            lock_leased_job(session, job_id, token)
            row = session.get_one(MeasuringRow, job_id)
            if row.state != "open":
                return measuring_record(row)
            now = self._database.now(session)
            row.silent_seconds += elapsed
            if row.cluster is not None:
                row.spent_seconds += elapsed
            self._lose_silent(session, row, now)
            wait, most = row.settings["wait"], row.settings["seconds"]
            if row.state == "open" and row.silent_seconds >= wait:
                self._decide(session, row, f"no agent has asked for work for {wait:g} s")
            if row.state == "open" and row.spent_seconds >= most:
                self._decide(session, row, f"the {most:g} s of finalists.seconds are over")
            return measuring_record(row)

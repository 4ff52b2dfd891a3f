"""Leases: which coordinator drives a job, for how long, and under which fencing token.

Which job a coordinator takes next is told by `storage.fair_share.driving_order`.

Every acquisition raises the token. Writers show theirs, so that one who lost the lease without
noticing changes nothing (Kleppmann, Designing Data-Intensive Applications, chapter 8).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, not_, or_, select
from sqlalchemy.orm import Session

from storage.errors import LeaseLost
from storage.fair_share import Queued, driving_order
from storage.job_rows import count_active_time, end_lease, find_and_lock_job, job_record
from storage.models import JobRow, ProjectRow
from storage.project_rows import queued
from storage.records import ACTIVE_JOB_STATES, Job
from storage.repository import Repository

__all__ = ["Leases", "ProjectLeases"]

_FIRSTS = 8  # of each project: others may be taking the first ones


class ProjectLeases(Repository):
    """What a project may know of how jobs are driven: how long its own wait."""

    def shares(self, projects: Collection[str]) -> dict[str, float]:
        """Which part of the workers a driven job of each of these projects may expect."""
        with self._database.reading() as session:
            counts = _driven(session, _free("", None, self._database.now(session), False))
            names = {*counts, *projects}
            rows = select(ProjectRow.name, ProjectRow.weight).where(ProjectRow.name.in_(names))
            weights = {row.name: row.weight for row in session.execute(rows)}
        total = sum(weights.get(name, 1.0) for name in names)
        return {
            name: weights.get(name, 1.0) / total / max(1, counts.get(name, 0)) for name in projects
        }

    def queue_positions(self, job_ids: Collection[str]) -> dict[str, int]:
        """How many jobs are taken by coordinators before each of these, of those that wait."""
        with self._database.reading() as session:
            now = self._database.now(session)
            free = _free("", None, now, False)
            rows = session.execute(_queued().where(free)).all()
            order = driving_order([queued(row, now) for row in rows], _driven(session, free))
        wanted = set(job_ids)
        return {job: before for before, job in enumerate(order) if job in wanted}


class Leases(ProjectLeases):
    """Leases of jobs of all projects, for coordinators."""

    def acquire(
        self,
        owner: str,
        seconds: float,
        job_id: str | None = None,
        *,
        alone: bool = False,
        driven: Collection[str] = (),
    ) -> Job | None:
        """Take the active job whose turn it is (or the one named), free or with a lease run out.

        Args:
            owner: Who takes it; others are told apart by it.
            seconds: How long it lasts unless renewed.
            job_id: Only this job.
            alone: No other owner lives, so that the leases of others are free at once.
            driven: Jobs that the owner is driving. Under load a lease may run out before it is
                renewed; while nobody else takes it, it is still the owner's, who would only
                take it from itself.

        Returns:
            The job with its new `lease_token`; None where there is nothing to take.
        """
        if not self.has_free_job(owner, job_id, alone=alone, driven=driven):
            return None  # a read, where trying to take one would be a write
        with self._database.writing() as session:
            now = self._database.now(session)
            free = and_(_free(owner, job_id, now, alone), JobRow.id.not_in(driven))
            if job_id is not None:
                chosen = [job_id]
            else:
                chosen = driving_order(_firsts(session, free, now), _driven(session, free))
            row = None
            for identifier in chosen:
                # One that another coordinator is about to take is its.
                statement = select(JobRow).where(free, JobRow.id == identifier)
                row = session.scalars(
                    statement.with_for_update(skip_locked=job_id is None)
                ).one_or_none()
                if row is not None:
                    break
            if row is None:
                return None
            row.lease_owner = owner
            row.lease_token += 1
            row.lease_expires_at = now + seconds
            row.lease_renewed_at = now
            return job_record(row)

    def has_free_job(
        self,
        owner: str,
        job_id: str | None = None,
        *,
        alone: bool = False,
        driven: Collection[str] = (),
    ) -> bool:
        """Whether `acquire` would find a job, for less than it costs to try."""
        with self._database.reading() as session:
            now = self._database.now(session)
            free = and_(_free(owner, job_id, now, alone), JobRow.id.not_in(driven))
            found = select(JobRow.id).where(free).limit(1)
            return session.connection().execute(found).first() is not None

    def has_left_out_project(self) -> bool:
        """Whether a project has jobs that wait for a coordinator, and none that is driven."""
        with self._database.reading() as session:
            free = _free("", None, self._database.now(session), False)
            waiting = set(session.scalars(select(JobRow.project).where(free).distinct()))
            return not waiting <= _driven(session, free).keys()

    def renew(self, job_id: str, token: int, seconds: float) -> Job:
        """Prolong a lease to `seconds` from now and see the job as it stands.

        The lease of a job that paused or ended is over; renewing it changes nothing.

        Raises:
            LeaseLost: Another holds the job, or it was deleted.
        """
        with self._database.writing() as session:
            row = _lock(session, job_id, token)
            if row.lease_owner is not None:
                now = self._database.now(session)
                count_active_time(row, now)
                row.lease_expires_at = now + seconds
            return job_record(row)

    def release(self, job_id: str, token: int) -> None:
        """Give a job free for other coordinators; a lease that ended already is left alone."""
        with self._database.writing() as session:
            try:
                row = _lock(session, job_id, token)
            except LeaseLost:
                return
            if row.lease_owner is not None:
                end_lease(row, self._database.now(session))


def _free(owner: str, job_id: str | None, now: float, alone: bool) -> ColumnElement[bool]:
    """Which jobs somebody may take."""
    free = or_(JobRow.lease_owner.is_(None), JobRow.lease_expires_at <= now)
    if alone:
        free = or_(free, JobRow.lease_owner != owner)
    active = JobRow.state.in_(ACTIVE_JOB_STATES)
    return and_(active, free) if job_id is None else and_(active, free, JobRow.id == job_id)


def _queued() -> Select[Any]:
    """Jobs with what decides on whose turn it is."""
    columns: list[Any] = [
        JobRow.id,
        JobRow.project,
        JobRow.priority,
        JobRow.created_at,
        ProjectRow.priority.label("highest"),
        ProjectRow.weight,
        ProjectRow.usage,
        ProjectRow.usage_at,
    ]
    return select(*columns).join_from(
        JobRow, ProjectRow, ProjectRow.name == JobRow.project, isouter=True
    )


def _firsts(session: Session, free: ColumnElement[bool], now: float) -> list[Queued]:
    """Of each project and priority, the first free job."""
    place = func.row_number().over(
        partition_by=(JobRow.project, JobRow.priority), order_by=(JobRow.created_at, JobRow.id)
    )
    ranked = select(JobRow.id, place.label("place")).where(free).subquery()
    firsts = select(ranked.c.id).where(ranked.c.place <= _FIRSTS)
    return [queued(row, now) for row in session.execute(_queued().where(JobRow.id.in_(firsts)))]


def _driven(session: Session, free: ColumnElement[bool]) -> dict[str, int]:
    """How many jobs of each project are driven."""
    statement = (
        select(JobRow.project, func.count().label("jobs"))
        .where(JobRow.state.in_(ACTIVE_JOB_STATES), not_(free))
        .group_by(JobRow.project)
    )
    return {row.project: row.jobs for row in session.execute(statement)}


def _lock(session: Session, job_id: str, token: int) -> JobRow:
    row = find_and_lock_job(session, job_id)
    if row is None or row.lease_token != token:
        raise LeaseLost(f"the lease {token} of job {job_id} has ended")
    return row

"""Jobs: creation, listing, preparation, changes of state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import bindparam, select, update

from storage.errors import Conflict
from storage.fair_share import PRIORITIES
from storage.identifiers import new_id
from storage.job_names import free_name
from storage.job_rows import (
    absent_job,
    end_lease,
    job_event,
    job_record,
    lock_job,
    lock_leased_job,
)
from storage.models import JobRow, table
from storage.outbox import note_end
from storage.pagination import newest_first
from storage.project_rows import PROJECTS
from storage.quotas import admit_job, exhausted
from storage.records import FINAL_JOB_STATES, Archived, Deleted, Job, JobState, Page, Priority
from storage.repository import ForAllProjects, ScopedRepository
from storage.states import check_transition
from storage.trial_rows import cancel_open

__all__ = ["Glance", "Jobs", "ProjectJobs"]

_JOBS = table(JobRow)
_GLANCE = (
    select(
        _JOBS.c.state,
        _JOBS.c.lease_token,
        PROJECTS.c.name,
        PROJECTS.c.spent_trials,
        PROJECTS.c.most_trials,
        PROJECTS.c.spent_cpu_seconds,
        PROJECTS.c.most_cpu_seconds,
    )
    .join_from(_JOBS, PROJECTS, PROJECTS.c.name == _JOBS.c.project, isouter=True)
    .where(_JOBS.c.id == bindparam("job_id"), _JOBS.c.deleted_at.is_(None))
)


class Glance(NamedTuple):
    """A job at a glance.

    Attributes:
        state: Of the job.
        lease_token: Of its lease.
        exhausted: Which quota its project has used up, in words; None where there is none.
    """

    state: JobState
    lease_token: int
    exhausted: str | None


_AT_FIRST = {
    "state": "queued",
    "lease_token": 0,
    "active_seconds": 0.0,
    "cpu_seconds": 0.0,
    "evaluations": 0,
}
"""What every job has in the beginning."""


class ProjectJobs(ScopedRepository):
    """Jobs of a project."""

    def create(
        self,
        *,
        name: str,
        spec: dict[str, Any],
        seed: int,
        application_id: str | None = None,
        idempotency_key: str | None = None,
        owner: str | None = None,
        priority: Priority = "normal",
        concurrency: int | None = None,
        numbered: bool = False,
        decided: Collection[str] = (),
    ) -> Job:
        """Store a job, queued.

        Args:
            name: Name for people; need not be unique.
            spec: The job file in canonical form.
            seed: Seed of all random choices of the job.
            application_id: The application, where it is known already.
            idempotency_key: A repeated call with the same key returns the job of the first.
            owner: Who submits it.
            priority: Its class.
            concurrency: How many of its trials are evaluated at once, at most.
            numbered: Whether it is another one of this name, and gets the first of `name-2`,
                `name-3`, ... that is free, in its job file too.
            decided: Fields of the job file that were decided here, so that a repeated call may have
                others.

        Raises:
            QuotaExceeded: The project may have no more jobs, or has used up what it may.
            Conflict: The key was used for a job with another specification, or that was deleted.
            NotFound: There is no such application.
        """
        if application_id is not None:
            self._scope.admit_application(application_id)
        with self._database.writing() as session:
            identifier = new_id()
            values = {
                "id": identifier,
                "project": self._scope.home,
                "owner": owner,
                "name": name,
                "seed": seed,
                "application_id": application_id,
                "idempotency_key": idempotency_key,
                "created_at": self._database.now(session),
                "spec": spec,
                "priority": PRIORITIES[priority],
                "concurrency": concurrency,
            }
            inserted = self._database.insert_new(session, JobRow, _AT_FIRST | values)
            if inserted:
                admit_job(session, self._scope.home)
                row = session.get_one(JobRow, identifier)
                if numbered:
                    row.name = free_name(session, self._scope.home, name)
                    row.spec = {**spec, "name": row.name}
                self._database.note(session, row.id, "job", job_event(row, None))
                return job_record(row)
            row = session.scalars(
                select(JobRow).where(
                    JobRow.project == self._scope.home, JobRow.idempotency_key == idempotency_key
                )
            ).one()
            ours = {*decided, "name"} if numbered else {*decided}
            _check_repeated(row, spec | {field: row.spec.get(field) for field in ours}, seed)
            return job_record(row)

    def free_name(self, name: str) -> str:
        """The first of `name-2`, `name-3`, ... that no job of the project has now."""
        with self._database.reading() as session:
            return free_name(session, self._scope.home, name)

    def get(self, job_id: str) -> Job:
        """One job.

        Raises:
            NotFound: There is none with this id.
        """
        with self._database.reading() as session:
            row = self._scope.find_job(session, job_id)
            if row is None or row.deleted_at is not None:
                raise absent_job(job_id, row)
            return job_record(row)

    def check(self, job_id: str) -> None:
        """Check that there is a job, for less than it costs to read it.

        Raises:
            NotFound: There is none with this id.
        """
        self._scope.check_job(job_id)

    def page(
        self,
        *,
        state: JobState | tuple[JobState, ...] | None = None,
        name: str | None = None,
        tag: str | None = None,
        search: str | None = None,
        archived: Archived = "include",
        deleted: Deleted = "exclude",
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Job]:
        """Jobs, newest first, of a state (or one of several), a name and a tag, where given.

        Args:
            state: One or several.
            name: The whole name.
            tag: One that they have.
            search: Part of the name or of a tag, in small or capital letters, or the beginning of
                the id.
            archived: Whether jobs that are put aside are among them, or they alone.
            deleted: Whether jobs are listed that are there, or those in the trash.
            limit: Most jobs of the page.
            cursor: Of the page before.

        Raises:
            InvalidInput: The limit is out of range or the cursor is not one.
        """
        gone = JobRow.deleted_at.is_not(None)
        statement = self._scope.visible(select(JobRow), JobRow.project).where(
            gone if deleted == "only" else ~gone
        )
        if state is not None:
            statement = statement.where(
                JobRow.state.in_((state,) if isinstance(state, str) else state)
            )
        if name is not None:
            statement = statement.where(JobRow.name == name)
        if tag is not None:
            statement = statement.where(JobRow.tags.contains(f",{tag},", autoescape=True))
        if search is not None:
            statement = statement.where(
                JobRow.name.icontains(search, autoescape=True)
                | JobRow.tags.icontains(search, autoescape=True)
                | JobRow.id.startswith(search, autoescape=True)
            )
        if archived != "include":
            aside = JobRow.archived_at.is_not(None)
            statement = statement.where(aside if archived == "only" else ~aside)
        with self._database.reading() as session:
            return newest_first(
                session, statement, JobRow.id, job_record, limit=limit, cursor=cursor
            )

    def transition(
        self,
        job_id: str,
        to: JobState,
        *,
        expected: tuple[JobState, ...] | None = None,
        token: int | None = None,
        error: str | None = None,
        ended_because: str | None = None,
        paused_because: str | None = None,
    ) -> Job:
        """Change the state of a job; a job that is in the state already is left as it is.

        A job that pauses or ends gives its lease free; one that ends cancels its open trials.

        Args:
            job_id: The job.
            to: The new state.
            expected: The states from which the change is wanted; None for all that are legal.
            token: The lease under which a coordinator writes; None for users and workers.
            error: What went wrong, for a failed job.
            ended_because: Which budget ended a completed job.
            paused_because: Why the service pauses the job, where no user does; forgotten once the
                job goes on.

        Raises:
            NotFound: There is no such job.
            Conflict: The change is not legal or not from an expected state.
            LeaseLost: The token is not that of the job's lease.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            if token is None:
                row = lock_job(session, job_id)
            else:
                row = lock_leased_job(session, job_id, token)
            previous = cast("JobState", row.state)
            if previous == to:
                return job_record(row)
            check_transition(job_id, previous, to, expected)
            now = self._database.now(session)
            row.state = to
            if error is not None:
                row.error = error
            if ended_because is not None:
                row.ended_because = ended_because
            if paused_because is not None:
                row.paused_because = paused_because
            elif to not in ("pausing", "paused"):
                row.paused_because = None
            if to not in ("paused", *FINAL_JOB_STATES):
                row.archived_at = None  # nobody would look for a job at work among those put aside
            if row.started_at is None and to in ("preparing", "running"):
                row.started_at = now
            if to in FINAL_JOB_STATES:
                row.finished_at = now
                cancel_open(self._database, session, job_id, now)
            if to == "paused" or to in FINAL_JOB_STATES:
                end_lease(row, now)
            if to in FINAL_JOB_STATES:
                note_end(session, row, now)
            self._database.note(session, job_id, "job", job_event(row, previous))
            return job_record(row)

    def set_priority(self, job_id: str, priority: Priority) -> Job:
        """Change the class in which a job competes from now on; its trials stay the same.

        Raises:
            NotFound: There is no such job.
            Conflict: The job has ended.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            row = lock_job(session, job_id)
            if row.priority == PRIORITIES[priority]:
                return job_record(row)
            if row.state in FINAL_JOB_STATES:
                raise Conflict(f"job {job_id} is {row.state}; its priority means nothing any more")
            row.priority = PRIORITIES[priority]
            event = {**job_event(row, None), "priority": priority}
            self._database.note(session, job_id, "job", event)
            return job_record(row)

    def describe(
        self,
        job_id: str,
        *,
        name: str | None = None,
        note: str | None = None,
        tags: Collection[str] | None = None,
        archived: bool | None = None,
    ) -> Job:
        """Change what people call a job and say of it, in any state; its job file stays.

        Args:
            job_id: The job.
            name: Its name for people; need not be unique.
            note: Text of any length.
            tags: All that it has from now on; none with a comma.
            archived: Whether it is put aside, until it goes on.

        Raises:
            NotFound: There is no such job.
            Conflict: It is to be put aside, and is still at work.
        """
        self._scope.admit_job(job_id)
        with self._database.writing() as session:
            row = lock_job(session, job_id)
            if archived and row.state != "paused" and row.state not in FINAL_JOB_STATES:
                raise Conflict(
                    f"job {job_id} is {row.state}; pause or cancel it before archiving it"
                )
            if archived is not None and archived != (row.archived_at is not None):
                row.archived_at = self._database.now(session) if archived else None
            if name is not None:
                row.name = name
            if note is not None:
                row.note = note
            if tags is not None:
                row.tags = "".join(f",{tag}" for tag in sorted(set(tags))) + ("," if tags else "")
            self._database.note(session, job_id, "job", job_event(row, None))
            return job_record(row)


class Jobs(ForAllProjects, ProjectJobs):
    """Jobs of all projects, for those who drive and prepare them."""

    def glance(self, job_id: str) -> Glance | None:
        """The state of a job and the token of its lease, at little cost; None if it is gone."""
        with self._database.reading() as session:
            row = session.connection().execute(_GLANCE, {"job_id": job_id}).one_or_none()
            if row is None:
                return None
            return Glance(cast("JobState", row.state), row.lease_token, exhausted(row))

    def set_prepared(self, job_id: str, *, application_id: str, space: dict[str, Any]) -> Job:
        """Store what preparing a job found out; a second preparation changes nothing.

        Raises:
            NotFound: There is no such job.
            Conflict: The job has ended meanwhile.
        """
        with self._database.writing() as session:
            row = lock_job(session, job_id)
            if row.state in FINAL_JOB_STATES:
                raise Conflict(f"job {job_id} is {row.state}; it cannot be prepared")
            if row.space is None:
                row.application_id = application_id
                row.space = space
            return job_record(row)

    def set_application(self, job_id: str, application_id: str) -> None:
        """Tell which application a job is waiting for."""
        with self._database.writing() as session:
            session.execute(
                update(JobRow).where(JobRow.id == job_id).values(application_id=application_id)
            )

    def weigh_sources(self, job_id: str, token: int, weights: Sequence[float]) -> None:
        """Store how much each job counts that a job learns from, for people to see.

        Args:
            job_id: The job.
            token: Its lease.
            weights: In the order of `learned_from` of its space.

        Raises:
            LeaseLost: The token is not that of the job's lease.
        """
        with self._database.writing() as session:
            row = lock_leased_job(session, job_id, token)
            space = row.space or {}
            learned = [
                {**one, "weight": weight}
                for one, weight in zip(space.get("learned_from", ()), weights, strict=True)
            ]
            row.space = {**space, "learned_from": learned}


def _check_repeated(row: JobRow, spec: dict[str, Any], seed: int) -> None:
    """Refuse another job under the key of one that there is, and the key of a deleted one.

    A job that was renamed meanwhile still has its first name in its file.
    """
    if row.deleted_at is not None:
        raise Conflict(
            f"the idempotency key was used for job {row.id}, which was deleted;"
            " restore that job, or send another key"
        )
    if (row.spec, row.seed) != (spec, seed):
        raise Conflict(
            f"the idempotency key was used for job {row.id}, which differs;"
            " send another key for another job"
        )

"""A project's share of the storage: what belongs to others does not exist in it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

from sqlalchemy import select

from searchspace.errors import InvalidInput
from storage.errors import NotFound
from storage.failures import FailureCount
from storage.measured_records import MeasuringCounts
from storage.models import ApplicationRow, JobRow
from storage.records import Event, OutlookPoint, TrialCounts
from storage.storage import Storage

__all__ = ["BY_APPLICATION", "BY_JOB", "NARROWED", "SHARED", "ProjectStorage"]

P = ParamSpec("P")
R = TypeVar("R")

NARROWED = (
    "add_application", "add_audit", "add_key", "add_machine", "add_source_application",
    "add_subscription", "add_test", "admit_upload", "application_log", "begin_test", "check_job",
    "check_quotas", "create_job", "delete_job", "delete_subscription", "end_test", "events_after",
    "failures", "find_application", "find_machine", "free_job_name", "get_application", "get_job",
    "get_key", "get_machine", "get_project", "get_subscription", "has_source", "home",
    "last_outlooks",
    "list_applications", "list_audit", "list_deliveries", "list_jobs", "list_keys",
    "list_machines", "list_projects", "list_subscriptions", "measurable_jobs", "measuring_counts",
    "output_files",
    "project", "project_use", "restore_job", "revoke_key", "rotate_key", "trash_job",
    "trial_counts",
)  # fmt: skip
"""Methods that look at the project by themselves."""

BY_JOB = (
    "add_measured", "add_measurement", "append_event", "ask_trials", "baseline_points",
    "beat_run", "best_trial", "claim_run", "comparisons", "convergence_points", "count_asked",
    "cpu_seconds_spent", "describe_job",
    "end_measuring", "evaluations_spent", "finish_run", "get_trial", "initial_point",
    "is_being_prepared", "list_measurements", "list_trials", "measured", "measuring",
    "open_attempts", "open_trials", "outlooks", "propose_configuration", "proposed_configuration",
    "release_trial", "running_attempts", "search_seconds", "set_job_priority", "settle_entered",
    "tell_trial", "transition", "trial_attempts", "trial_cells", "trial_points",
)  # fmt: skip
"""Methods whose first argument is a job, which must be the project's."""

BY_APPLICATION = ("add_to_summary", "claim_capture", "report_capture")
"""Methods whose first argument is an application, which must be the project's."""

SHARED = (
    "artifact_path", "close", "find_network", "hears_all", "last_event_id", "notifications",
    "of", "open",
    "put_artifact", "put_network", "queue_positions", "shares", "worker_slots",
)  # fmt: skip
"""Methods that show nothing of anybody but how much there is to do: artifacts are found by their
digests alone, networks by those of their descriptions."""


class ProjectStorage(Storage):
    """The storage as a project may use it.

    A method that is in none of the lists above is for those who serve all projects (coordinators,
    workers, operators) and is refused here, so that a new one is closed until it is looked at.

    Args:
        whole: The storage of all projects.
        project: The project.
    """

    def __init__(self, whole: Storage, project: str) -> None:
        super().__init__(whole._database, whole._artifacts)
        self.project = project

    @classmethod
    def of(cls, whole: Storage, project: str) -> ProjectStorage:
        """The share that a project has of a storage.

        Raises:
            ValueError: `whole` is the share of a project itself.
        """
        if whole.project not in (None, project):
            raise ValueError("the share of one project holds nothing of another's")
        return cls(whole, project)

    def events_after(
        self, cursor: int, *, job_id: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Events of a job of the project; those of a job that is gone are nobody's.

        Raises:
            InvalidInput: No job is named, or the limit is out of range.
        """
        if job_id is None:
            raise InvalidInput("a project sees the events of one job at a time", field="job_id")
        return super().events_after(cursor, job_id=job_id, limit=limit) if self._has(job_id) else []

    def trial_counts(self, job_ids: Sequence[str]) -> dict[str, TrialCounts]:
        """How many trials each job of the project has."""
        return super().trial_counts(self._ours(job_ids))

    def failures(self, job_ids: Sequence[str]) -> dict[str, list[FailureCount]]:
        """Why trials of jobs of the project failed."""
        return super().failures(self._ours(job_ids))

    def measuring_counts(self, job_ids: Sequence[str]) -> dict[str, MeasuringCounts]:
        """How far jobs of the project have come whose finalists are being measured."""
        return super().measuring_counts(self._ours(job_ids))

    def last_outlooks(self, job_ids: Sequence[str]) -> dict[str, OutlookPoint]:
        """What the searches of jobs of the project expected last."""
        return super().last_outlooks(self._ours(job_ids))

    def _ours(self, job_ids: Sequence[str]) -> list[str]:
        with self._database.reading() as session:
            ours = set(
                session.scalars(
                    select(JobRow.id).where(JobRow.project == self.project, JobRow.id.in_(job_ids))
                )
            )
        return [job_id for job_id in job_ids if job_id in ours]

    def _has(self, job_id: str) -> bool:
        statement = select(JobRow.id).where(
            JobRow.id == job_id, JobRow.project == self.project, JobRow.deleted_at.is_(None)
        )
        with self._database.reading() as session:
            return session.scalar(statement) is not None

    def _admit_job(self, job_id: str) -> None:
        self.check_job(job_id)

    def _admit_application(self, application_id: str) -> None:
        statement = select(ApplicationRow.id).where(
            ApplicationRow.id == application_id, ApplicationRow.project == self.project
        )
        with self._database.reading() as session:
            if session.scalar(statement) is None:
                raise NotFound(f"there is no application {application_id}")


def _admitting(
    method: Callable[Concatenate[Any, str, P], R], admit: Callable[[Any, str], None]
) -> Callable[Concatenate[Any, str, P], R]:
    """A method that first looks whether its first argument is the project's."""

    @functools.wraps(method)
    def admitted(self: Any, identifier: str, /, *rest: P.args, **options: P.kwargs) -> R:
        admit(self, identifier)
        return method(self, identifier, *rest, **options)

    return admitted


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *_rest: Any, **_options: Any) -> NoReturn:
        raise PermissionError(f"{name} serves all projects; one of them may not use it")

    return refuse


def _close_the_rest() -> None:
    for name in BY_JOB:
        setattr(ProjectStorage, name, _admitting(getattr(Storage, name), ProjectStorage._admit_job))
    for name in BY_APPLICATION:
        setattr(
            ProjectStorage,
            name,
            _admitting(getattr(Storage, name), ProjectStorage._admit_application),
        )
    known = {*NARROWED, *BY_JOB, *BY_APPLICATION, *SHARED}
    for name in dir(Storage):
        if not name.startswith("_") and name not in known:
            setattr(ProjectStorage, name, _refused(name))


_close_the_rest()

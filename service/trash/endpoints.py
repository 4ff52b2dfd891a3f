"""Deleting jobs, and bringing them back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from service.auth.access import needs
from service.auth.audit import audited_as
from service.dependencies import SettingsDependency, StorageDependency
from service.jobs.schemas import EXAMPLE, JobView
from service.openapi import answers
from service.parameters import JobId
from storage.records import Job

__all__ = ["Deletion", "router"]

router = APIRouter(prefix="/jobs", tags=["jobs"])

_DELETION: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ab",
    "name": "cg-64",
    "deleted_at": 1790000000.0,
    "restorable_until": 1792592000.0,
    "restore": "hamtune restore 0k3v9m2x7q1zt8ab",
}


class Deletion(BaseModel):
    """A job that was deleted, and how to get it back; without that it is gone for good."""

    id: str
    name: str
    deleted_at: float | None = Field(
        default=None, description="Since when it can be restored; null where it is gone for good."
    )
    restorable_until: float | None = Field(
        default=None, description="Until when; null where it is gone for good."
    )
    restore: str | None = Field(
        default=None,
        description="The command that brings it back, as `POST /jobs/{id}/restore` does; null "
        "where it is gone for good.",
    )

    @classmethod
    def of(cls, job: Job) -> Deletion:
        """The view of a job in the trash."""
        return cls(
            id=job.id,
            name=job.name,
            deleted_at=job.deleted_at,
            restorable_until=job.restorable_until,
            restore=f"hamtune restore {job.id}",
        )


@router.delete(
    "/{job_id}",
    dependencies=[needs("jobs", "write")],
    operation_id="delete_job",
    summary="Delete a job",
    response_model=Deletion,
    responses=answers(_DELETION, 404, 409, 422, description="How to get it back, and until when."),
)
def delete_job(
    request: Request,
    job_id: JobId,
    storage: StorageDependency,
    settings: SettingsDependency,
    now: Annotated[
        bool, Query(description="For good, also where it was deleted already; nothing undoes this.")
    ] = False,
) -> Deletion:
    """Delete a paused or ended job with its trials. Cancel one that is at work first.

    It can be restored for as long as the service keeps deleted jobs; until then it is hidden.
    The audit log has a job that is gone for good as `delete_job_for_good`.
    """
    if now or settings.keep_deleted <= 0.0:
        audited_as(request, "delete_job_for_good")
    if not now:
        # One that was deleted before keeps its time, whatever the setting is today.
        trashed = storage.trash.put(job_id, settings.keep_deleted)
        if settings.keep_deleted > 0.0:
            return Deletion.of(trashed)
    gone = storage.trash.delete(job_id)
    return Deletion(id=gone.id, name=gone.name)


@router.post(
    "/{job_id}/restore",
    dependencies=[needs("jobs", "write")],
    operation_id="restore_job",
    summary="Restore a deleted job",
    response_model=JobView,
    responses=answers(EXAMPLE, 403, 404, 422, description="The job, as it was."),
)
def restore_job(job_id: JobId, storage: StorageDependency, settings: SettingsDependency) -> JobView:
    """Bring a deleted job back as it was, with its trials: a paused one can be resumed.

    It keeps its name, which another job may have got meanwhile. A job that is not deleted stays as
    it is.
    """
    return JobView.of(storage.trash.restore(job_id), storage, settings)

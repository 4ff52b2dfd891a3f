"""Results of a job: the best, how it converged, and what its program left."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from service.applications.files import file_of, files_of
from service.applications.schemas import FILES_EXAMPLE, FilesView
from service.auth.access import needs
from service.dependencies import StorageDependency
from service.jobs.outlook import outlook_view
from service.jobs.schemas import (
    OUTLOOK_EXAMPLE,
    OutlookView,
)
from service.openapi import answers
from service.parameters import FilePath, JobId, Log, LogOffset, Points
from service.results import service as results
from service.results.schemas import BEST_EXAMPLE, CONVERGENCE_EXAMPLE, BestView, ConvergenceView
from service.writing import as_json
from storage.errors import NotFound
from storage.view import StorageView

__all__ = ["router"]

router = APIRouter(prefix="/jobs", tags=["jobs"])


@router.get(
    "/{job_id}/best",
    dependencies=[needs("jobs", "read")],
    operation_id="get_best",
    summary="Show the best configuration",
    response_model=BestView,
    responses=answers(
        BEST_EXAMPLE, 404, 409, 422, description="The best configuration beside the baselines."
    ),
)
def get_best(job_id: JobId, storage: StorageDependency) -> BestView:
    """The best configuration so far, and what it gains over the best baseline.

    409 while no trial has completed.
    """
    return results.best(storage, job_id)


@router.get(
    "/{job_id}/convergence",
    dependencies=[needs("jobs", "read")],
    operation_id="get_convergence",
    summary="Show the convergence",
    response_model=ConvergenceView,
    responses=answers(
        CONVERGENCE_EXAMPLE, 404, 422, description="How the job converged, as its figures need it."
    ),
)
def get_convergence(job_id: JobId, storage: StorageDependency, points: Points = None) -> Response:
    """Best so far by trial, by wall clock and by CPU seconds spent, with the baselines.

    Of a long job, `points` asks for fewer points, which draw the same curve: the first, the last
    and every improvement are kept (even where they are more than that), the others evenly sampled.
    """
    return as_json(results.convergence_view(storage, job_id, points))


@router.get(
    "/{job_id}/outlook",
    dependencies=[needs("jobs", "read")],
    operation_id="get_outlook",
    summary="Show what more trials would bring",
    response_model=OutlookView,
    responses=answers(OUTLOOK_EXAMPLE, 404, 422, description="What the search's model expects."),
)
def get_outlook(job_id: JobId, storage: StorageDependency) -> OutlookView:
    """How likely a configuration not tried yet is faster than the best, and by how much.

    The last model that was made tells it, of a job that has ended as well; of a space of more than
    6,000 configurations it looks at a sample. `unknown` says why no model tells it.
    """
    return outlook_view(storage, job_id)


@router.get(
    "/{job_id}/logs/{log}",
    dependencies=[needs("jobs", "read")],
    operation_id="get_job_log",
    summary="Read a log of the application",
    response_class=PlainTextResponse,
    responses=answers(
        "$ make CG CLASS=S NPROCS=16\n...", 404, 422, description="The log.", media="text/plain"
    ),
)
def get_job_log(
    job_id: JobId, log: Log, storage: StorageDependency, offset: LogOffset = 0
) -> PlainTextResponse:
    """The build or run log of the job's application, if that is built from a source tree."""
    return PlainTextResponse(storage.applications.log(_built(storage, job_id), log)[offset:])


@router.get(
    "/{job_id}/files",
    dependencies=[needs("jobs", "read")],
    operation_id="list_job_files",
    summary="List the files that runs of the application left",
    response_model=FilesView,
    responses=answers(FILES_EXAMPLE, 404, 422, description="The files."),
)
def list_job_files(job_id: JobId, storage: StorageDependency) -> FilesView:
    """The files that the job's program wrote or changed, if it is built from a source tree."""
    return files_of(storage, _built(storage, job_id))


@router.get(
    "/{job_id}/files/{path:path}",
    dependencies=[needs("jobs", "read")],
    operation_id="get_job_file",
    summary="Read a file that runs of the application left",
    response_class=Response,
    responses=answers(
        "(bytes of the file)", 404, 422, description="It.", media="application/octet-stream"
    ),
)
def get_job_file(job_id: JobId, path: FilePath, storage: StorageDependency) -> Response:
    """One of the files that the job's `files` lists."""
    return file_of(storage, _built(storage, job_id), path)


def _built(storage: StorageView, job_id: str) -> str:
    """The id of the application of a job.

    Raises:
        NotFound: There is no such job, or it has none yet.
    """
    application_id = storage.jobs.get(job_id).application_id
    if application_id is None:
        raise NotFound(f"job {job_id} has no application yet, or none that is built")
    return application_id

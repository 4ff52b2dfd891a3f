"""Tuning jobs: creation, listing, life, results."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from searchspace.job import JobSpec
from searchspace.validation import check
from service.agents.schemas import VALIDATION_EXAMPLE, MeasuredList, NewValidation
from service.auth.access import PrincipalDependency, needs
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.jobs import service
from service.jobs.checking import EXAMPLE as CHECK_EXAMPLE
from service.jobs.checking import CheckView, look_at
from service.jobs.schemas import (
    EXAMPLE,
    SPEC_EXAMPLE,
    TAG_PATTERN,
    JobDescription,
    JobPage,
    JobView,
    PriorityChange,
)
from service.openapi import answers, body
from service.parameters import Cursor, JobId, Limit
from service.settings import Settings
from storage.measured_records import NewMeasured
from storage.records import Archived, Deleted, JobState
from storage.view import StorageView

__all__ = ["router"]

router = APIRouter(prefix="/jobs", tags=["jobs"])

IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        pattern=r"^[ -~]+$",
        description="Of the client's choosing. Repeating a request with its key answers the job "
        "of the first; the key with another job is refused (409).",
    ),
]
_MEASURED: dict[str, Any] = {
    "state": "open",
    "because": None,
    "cluster": "bluebird",
    "agent": "login1-4711",
    "heard_at": 1790000001.0,
    "simulated_best": 17,
    "decided": None,
    "items": [],
}
_PAUSED = {**EXAMPLE, "state": "pausing"}
_CANCELLED = {**EXAMPLE, "state": "cancelling", "estimated_end": None}
_QUEUED = {
    **EXAMPLE,
    "state": "queued",
    "space": None,
    "started_at": None,
    "queue_position": 3,
    "estimated_end": None,
    "active_seconds": 0.0,
    "progress": {"trials": {}, "finished": 0, "evaluations": 0, "cpu_seconds": 0.0, "best": None},
}


@router.post(
    "",
    dependencies=[needs("jobs", "write")],
    operation_id="create_job",
    summary="Create a job",
    status_code=201,
    response_model=JobView,
    responses=answers(
        _QUEUED,
        400,
        409,
        413,
        415,
        422,
        status=201,
        description="The job, queued.",
        headers={"Location": "Where the job is."},
    ),
    openapi_extra=body(
        JobSpec,
        {
            "Tune a built-in program": SPEC_EXAMPLE,
            "Tune an uploaded trace on a stored machine": {
                **SPEC_EXAMPLE,
                "application": {"id": "0k3v9m2x7q1zt8aa"},
                "machine": {"id": "0k3v9m2x7q1zt8ac"},
            },
        },
    ),
)
async def create_job(
    request: Request,
    response: Response,
    storage: StorageDependency,
    settings: SettingsDependency,
    principal: PrincipalDependency,
    idempotency_key: IdempotencyKey = None,
) -> JobView:
    """Check a job file, as JSON or YAML, and queue it.

    The application is a built-in program or the id of an uploaded trace; a path is refused, since
    paths of the client mean nothing here. The machine is described in place or by its id.
    """
    document = await read_document(request, settings.body_limit)
    view = await run_in_threadpool(
        _create, storage, settings, document, idempotency_key, principal.name
    )
    response.headers["Location"] = f"{request.url.path}/{view.id}"
    return view


@router.post(
    "/check",
    dependencies=[needs("jobs", "write")],
    operation_id="check_job",
    summary="Check a job file",
    response_model=CheckView,
    responses=answers(
        CHECK_EXAMPLE, 400, 413, 415, 422, description="What the job would be; none is created."
    ),
    openapi_extra=body(
        JobSpec,
        {"Tune a built-in program": SPEC_EXAMPLE},
    ),
)
async def check_job(
    request: Request, storage: StorageDependency, settings: SettingsDependency
) -> CheckView:
    """Check a job file as creating a job does, with the same messages, without creating one.

    The answer is what the job would be: its canonical form, its search space, how long it may take,
    and a picture of its network.
    """
    document = await read_document(request, settings.body_limit)
    return await run_in_threadpool(look_at, storage, settings, document)


@router.post(
    "/read",
    dependencies=[needs("jobs", "write")],
    operation_id="read_job_file",
    summary="Read a job file as JSON",
    responses=answers(
        {"document": SPEC_EXAMPLE}, 400, 413, 415, 422, description="What it says, unchecked."
    ),
    openapi_extra=body({}, {"Tune a built-in program": SPEC_EXAMPLE}),
)
async def read_job_file(request: Request, settings: SettingsDependency) -> dict[str, Any]:
    """What a job file in YAML says, for programs that read JSON.

    Whether it can be used is not looked at (see `check`).
    """
    return {"document": await read_document(request, settings.body_limit)}


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="list_jobs",
    summary="List jobs",
    response_model=JobPage,
    responses=answers(
        {"items": [EXAMPLE], "cursor": None}, 422, description="A page of jobs, newest first."
    ),
)
def list_jobs(
    storage: StorageDependency,
    settings: SettingsDependency,
    state: Annotated[
        list[JobState] | None, Query(description="Only jobs in this state; may be repeated.")
    ] = None,
    name: Annotated[
        str | None, Query(max_length=200, pattern=r"^[^\x00]*$", description="Only this name.")
    ] = None,
    search: Annotated[
        str | None,
        Query(
            max_length=200,
            pattern=r"^[^\x00]*$",
            description="Only with this in the name or a tag, or at the beginning of the id.",
        ),
    ] = None,
    tag: Annotated[
        str | None, Query(max_length=50, pattern=TAG_PATTERN, description="Only with this tag.")
    ] = None,
    archived: Annotated[
        Archived, Query(description="Whether archived jobs are among them, or they alone.")
    ] = "exclude",
    deleted: Annotated[
        Deleted,
        Query(description="`only`: deleted jobs that can be restored, archived ones among them."),
    ] = "exclude",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> JobPage:
    """Jobs, newest first, with their progress."""
    page = storage.jobs.page(
        state=None if state is None else tuple(state),
        name=name,
        tag=tag,
        search=search,
        archived="include" if deleted == "only" else archived,
        deleted=deleted,
        limit=limit,
        cursor=cursor,
    )
    return JobPage(items=JobView.of_all(page.items, storage, settings), cursor=page.cursor)


@router.get(
    "/{job_id}",
    dependencies=[needs("jobs", "read")],
    operation_id="get_job",
    summary="Show a job",
    response_model=JobView,
    responses=answers(EXAMPLE, 404, 422, description="The job."),
)
def get_job(job_id: JobId, storage: StorageDependency, settings: SettingsDependency) -> JobView:
    """One job with its job file, its space and its progress."""
    return JobView.of(storage.jobs.get(job_id), storage, settings)


@router.patch(
    "/{job_id}",
    dependencies=[needs("jobs", "write")],
    operation_id="describe_job",
    summary="Rename a job, write on it, tag it, archive it",
    response_model=JobView,
    responses=answers(EXAMPLE, 400, 404, 413, 415, 422, description="The job."),
    openapi_extra=body(
        JobDescription,
        {
            "A note and tags": {"note": "With the new cables.", "tags": ["cables", "spring"]},
            "Another name": {"name": "cg-64-new-cables"},
            "Put aside": {"archived": True},
        },
    ),
)
async def describe_job(
    job_id: JobId, request: Request, storage: StorageDependency, settings: SettingsDependency
) -> JobView:
    """Change what people call a job and say of it, whatever its state.

    What is left out stays. The job file keeps the name that it was submitted with. A paused or
    ended job can be archived: lists leave it out unless they are asked for it.
    """
    await run_in_threadpool(storage.jobs.check, job_id)
    document = await read_document(request, settings.body_limit)
    return await run_in_threadpool(_describe, storage, settings, job_id, document)


@router.post(
    "/{job_id}/pause",
    dependencies=[needs("jobs", "write")],
    operation_id="pause_job",
    summary="Pause a job",
    response_model=JobView,
    responses=answers(
        _PAUSED, 404, 409, 422, description="The job, paused or pausing; evaluations may yet end."
    ),
)
def pause_job(job_id: JobId, storage: StorageDependency, settings: SettingsDependency) -> JobView:
    """Stop asking for trials. Those being evaluated are finished; nothing is lost."""
    return JobView.of(service.pause(storage, job_id), storage, settings)


@router.post(
    "/{job_id}/resume",
    dependencies=[needs("jobs", "write")],
    operation_id="resume_job",
    summary="Resume a job",
    response_model=JobView,
    responses=answers(_QUEUED, 404, 409, 422, description="The job, queued again or at work."),
)
def resume_job(job_id: JobId, storage: StorageDependency, settings: SettingsDependency) -> JobView:
    """Let a paused job go on where it stopped. Its outcome is that of a job never paused."""
    return JobView.of(service.resume(storage, job_id), storage, settings)


@router.post(
    "/{job_id}/cancel",
    dependencies=[needs("jobs", "write")],
    operation_id="cancel_job",
    summary="Cancel a job",
    response_model=JobView,
    responses=answers(_CANCELLED, 404, 409, 422, description="The job, cancelled or about to be."),
)
def cancel_job(job_id: JobId, storage: StorageDependency, settings: SettingsDependency) -> JobView:
    """End a job for good. Its trials, best configuration and exports stay."""
    return JobView.of(service.cancel(storage, job_id), storage, settings)


@router.get(
    "/{job_id}/measured",
    dependencies=[needs("jobs", "read")],
    operation_id="list_measured",
    summary="Show what clusters measure of a job",
    response_model=MeasuredList,
    responses=answers(_MEASURED, 404, 422, description="Configurations with all their runs."),
)
def list_measured(job_id: JobId, storage: StorageDependency) -> MeasuredList:
    """How the measuring of finalists stands, and every run: also failed, lost and doubted ones."""
    storage.jobs.get(job_id)
    return MeasuredList.of(
        storage.measured_runs.measuring(job_id), storage.measured_runs.configurations(job_id)
    )


@router.post(
    "/{job_id}/measured",
    dependencies=[needs("jobs", "write")],
    operation_id="add_measured",
    summary="Tell what a configuration took on a cluster",
    status_code=201,
    response_model=MeasuredList,
    responses=answers(
        _MEASURED, 400, 404, 413, 415, 422, status=201, description="All that was measured."
    ),
    openapi_extra=body(NewValidation, {"A trial, run once": VALIDATION_EXAMPLE}),
)
async def add_measured(
    job_id: JobId, request: Request, storage: StorageDependency, settings: SettingsDependency
) -> MeasuredList:
    """Keep runs that somebody made. They decide nothing; they show what a model is worth."""
    await run_in_threadpool(storage.jobs.check, job_id)
    new = check(NewValidation, await read_document(request, settings.body_limit))
    configuration = NewMeasured(label=new.label, trial=new.trial, simulated=new.simulated)
    outcomes = [each.outcome for each in new.outcomes]

    def keep() -> MeasuredList:
        if new.trial is not None:
            storage.trials.get(job_id, new.trial)
        storage.measured_runs.add(
            job_id, "validation", configuration, outcomes, cluster=new.cluster
        )
        return MeasuredList.of(
            storage.measured_runs.measuring(job_id), storage.measured_runs.configurations(job_id)
        )

    return await run_in_threadpool(keep)


@router.post(
    "/{job_id}/measured/end",
    dependencies=[needs("jobs", "write")],
    operation_id="end_measuring",
    summary="End the measuring of a job",
    response_model=MeasuredList,
    responses=answers(_MEASURED, 404, 409, 422, description="What is known, which decides."),
)
def end_measuring(job_id: JobId, storage: StorageDependency) -> MeasuredList:
    """Wait for no further runs: what was measured decides, or else the simulation."""
    storage.jobs.get(job_id)
    storage.measured_runs.end_measuring(job_id, "it was ended by a user")
    return MeasuredList.of(
        storage.measured_runs.measuring(job_id), storage.measured_runs.configurations(job_id)
    )


@router.put(
    "/{job_id}/priority",
    dependencies=[needs("jobs", "write")],
    operation_id="set_job_priority",
    summary="Change the priority of a job",
    response_model=JobView,
    responses=answers(
        {**EXAMPLE, "priority": "high"}, 400, 404, 409, 413, 415, 422, description="The job."
    ),
    openapi_extra=body(
        PriorityChange,
        {"Before those of others": {"priority": "high"}},
    ),
)
async def set_job_priority(
    job_id: JobId, request: Request, storage: StorageDependency, settings: SettingsDependency
) -> JobView:
    """Let a job compete in another class from now on, of those that have not ended.

    Which trials it has, and what they come to, stays as it is; its job file too.
    """
    await run_in_threadpool(storage.jobs.check, job_id)
    document = await read_document(request, settings.body_limit)
    return await run_in_threadpool(_prioritise, storage, settings, job_id, document)


@router.get(
    "/{job_id}/clone",
    dependencies=[needs("jobs", "read")],
    operation_id="get_clone",
    summary="Show the job file of a clone",
    response_model=dict[str, Any],
    responses=answers(
        {**SPEC_EXAMPLE, "name": "cg-64-2"}, 404, 422, description="The job file, to be changed."
    ),
)
def get_clone(job_id: JobId, storage: StorageDependency) -> dict[str, Any]:
    """The job file of another job with the name that a clone would have now; nothing is queued."""
    return service.file_of_clone(storage, job_id)


@router.post(
    "/{job_id}/clone",
    dependencies=[needs("jobs", "write")],
    operation_id="clone_job",
    summary="Clone a job",
    status_code=201,
    response_model=JobView,
    responses=answers(
        {**_QUEUED, "id": "0k3v9m2x7q1zt8bc"},
        400,
        404,
        409,
        413,
        415,
        422,
        status=201,
        description="The new job, queued.",
        headers={"Location": "Where the new job is."},
    ),
    openapi_extra=body(
        {"type": "object"},
        {
            "Another seed and a larger budget": {"seed": 2, "budget": {"trials": 400}},
            "Without its patience": {"budget": {"patience": None}},
        },
        required=False,
    ),
)
async def clone_job(
    job_id: JobId,
    request: Request,
    response: Response,
    storage: StorageDependency,
    settings: SettingsDependency,
    principal: PrincipalDependency,
    idempotency_key: IdempotencyKey = None,
) -> JobView:
    """Queue a new job with the job file of another, changed by the body if there is one.

    The body is a merge patch (RFC 7396): fields given replace those of the job file, null removes
    a field. Without a `name` the clone is named after the other, with a number: `cg-64-2`.
    Trials are not copied, but evaluations that were done answer from the cache.
    """
    changes = await read_document(request, settings.body_limit, optional=True)
    view = await run_in_threadpool(
        _clone, storage, settings, job_id, changes, idempotency_key, principal.name
    )
    response.headers["Location"] = f"{request.url.path.rsplit('/', 2)[0]}/{view.id}"
    return view


def _create(
    storage: StorageView, settings: Settings, document: Any, key: str | None, owner: str
) -> JobView:
    job = service.create(storage, document, key, owner=owner, concurrency=settings.concurrency)
    return JobView.of(job, storage, settings)


def _describe(storage: StorageView, settings: Settings, job_id: str, document: Any) -> JobView:
    new = check(JobDescription, document)
    job = storage.jobs.describe(
        job_id, name=new.name, note=new.note, tags=new.tags, archived=new.archived
    )
    return JobView.of(job, storage, settings)


def _prioritise(storage: StorageView, settings: Settings, job_id: str, document: Any) -> JobView:
    priority = check(PriorityChange, document).priority
    return JobView.of(storage.jobs.set_priority(job_id, priority), storage, settings)


def _clone(
    storage: StorageView, settings: Settings, job_id: str, changes: Any, key: str | None, owner: str
) -> JobView:
    job = service.clone(
        storage, job_id, changes, key, owner=owner, concurrency=settings.concurrency
    )
    return JobView.of(job, storage, settings)

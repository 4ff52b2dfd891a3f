"""Work for agents on clusters, which ask for it, say that they live, and tell what runs took."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool

from searchspace.errors import HamtuneError
from searchspace.validation import check
from service.agents.plans import settle
from service.agents.schemas import (
    BEAT_SECONDS,
    LEASE_SECONDS,
    OUTCOME_EXAMPLE,
    WISH_EXAMPLE,
    WORK_EXAMPLE,
    NewOutcome,
    RunView,
    Wish,
    WorkView,
)
from service.auth.access import needs
from service.bodies import read_document
from service.dependencies import SettingsDependency, StorageDependency
from service.openapi import answers, body
from service.parameters import JobId
from storage.errors import NotFound, Unavailable
from storage.measured_records import MeasuredConfiguration, MeasuredRun
from storage.view import StorageView

__all__ = ["router"]

router = APIRouter(prefix="/agents", tags=["agents"])

log = logging.getLogger("hamtune.service")

Place = Annotated[
    int, Path(ge=1, le=2**31 - 1, description="Which configuration of the job is run.")
]
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Which run of it, lost ones counted.")]
_RUN: dict[str, Any] = {
    "number": 1,
    "state": "counted",
    "agent": "login1-4711",
    "cluster": "bluebird",
    **OUTCOME_EXAMPLE,
    "started_at": 1790000000.0,
    "finished_at": 1790000002.0,
}


@router.post(
    "/work",
    dependencies=[needs("agents", "write")],
    operation_id="ask_for_work",
    summary="Ask for a run",
    response_model=WorkView,
    responses={
        **answers(WORK_EXAMPLE, 400, 413, 415, 422, description="A run to do, leased."),
        204: {"description": "There is nothing to do now."},
    },
    openapi_extra=body(Wish, {"A cluster with Open MPI": WISH_EXAMPLE}),
)
async def ask_for_work(
    request: Request, storage: StorageDependency, settings: SettingsDependency
) -> Any:
    """Take the next run of a finalist, if a job waits for one.

    What is answered is data: which hosts by number, and settings of the library. No command is.
    """
    wish = check(Wish, await read_document(request, settings.body_limit))
    found = await run_in_threadpool(_next, storage, wish)
    return Response(status_code=204) if found is None else found


@router.post(
    "/runs/{job_id}/{place}/{number}/beat",
    dependencies=[needs("agents", "write")],
    operation_id="beat_run",
    summary="Say that a run goes on",
    status_code=204,
    responses={
        **answers(None, 404, 409, 422, status=204, description="The lease is renewed."),
    },
    response_class=Response,
)
def beat(job_id: JobId, place: Place, number: Number, storage: StorageDependency) -> Response:
    """Renew the lease of a run; 409 tells to give it up."""
    storage.measured_runs.beat(job_id, place, number, LEASE_SECONDS)
    return Response(status_code=204)


@router.post(
    "/runs/{job_id}/{place}/{number}/outcome",
    dependencies=[needs("agents", "write")],
    operation_id="finish_run",
    summary="Tell what a run came to",
    response_model=RunView,
    responses=answers(_RUN, 400, 404, 409, 413, 415, 422, description="The run as it is kept."),
    openapi_extra=body(NewOutcome, {"A run that counts": OUTCOME_EXAMPLE}),
)
async def finish(
    request: Request,
    job_id: JobId,
    place: Place,
    number: Number,
    storage: StorageDependency,
    settings: SettingsDependency,
) -> RunView:
    """Keep a run's outcome; told again, nothing changes. 409: it was given up and is done anew."""
    await run_in_threadpool(storage.jobs.check, job_id)
    new = check(NewOutcome, await read_document(request, settings.body_limit))
    kept = await run_in_threadpool(storage.measured_runs.finish, job_id, place, number, new.outcome)
    return RunView.of(kept)


def _next(storage: StorageView, wish: Wish) -> WorkView | None:
    for job_id in storage.measured_runs.measurable_jobs(wish.cluster, wish.library, wish.testbed):
        measuring = storage.measured_runs.measuring(job_id)
        if measuring is None:
            continue
        try:
            settle(storage, measuring)
        except Unavailable:
            raise
        except HamtuneError as error:  # what is at fault here is so for this job, not for others
            log.error("finalists of job %s cannot be handed out: %s", job_id, error)
            continue
        claimed = storage.measured_runs.claim(job_id, wish.agent, wish.cluster, LEASE_SECONDS)
        if claimed is None:
            continue
        with suppress(NotFound):  # the job was deleted meanwhile
            return _work(storage, measuring.settings, *claimed)
    return None


def _work(
    storage: StorageView, settings: dict[str, Any], one: MeasuredConfiguration, run: MeasuredRun
) -> WorkView:
    job = storage.jobs.get(one.job_id)
    assert job.application_id is not None, "a job that is measured was prepared"
    name = settings["application"] or storage.applications.get(job.application_id).name
    return WorkView(
        job=one.job_id,
        place=one.place,
        number=run.number,
        label=one.label,
        application=name,
        library=settings["library"],
        target=settings["target"],
        plan=one.plan or {},
        seconds=settings["seconds"],
        lease_seconds=LEASE_SECONDS,
        beat_seconds=BEAT_SECONDS,
    )

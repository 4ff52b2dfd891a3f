"""Scripts in the place of the search, or in that of the simulator."""

from __future__ import annotations

import uuid
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.concurrency import run_in_threadpool

from searchspace.validation import check
from service.auth.access import needs
from service.bodies import read_document
from service.dependencies import FeedDependency, SettingsDependency, StorageDependency
from service.openapi import answers, body
from service.parameters import JobId
from service.scripts import service
from service.scripts.schemas import (
    ASK_EXAMPLE,
    ASKED_EXAMPLE,
    FAILED_EXAMPLE,
    MOST_WAIT,
    PROPOSAL_EXAMPLE,
    PROPOSED_EXAMPLE,
    TELL_EXAMPLE,
    AskedView,
    NewAsk,
    NewProposal,
    NewTell,
    ProposalView,
    Release,
)
from service.trials.schemas import EXAMPLE, TrialView

__all__ = ["router"]

# Of the trials, so that whoever may write jobs may do this.
router = APIRouter(prefix="/jobs/{job_id}", tags=["trials"])

_LARGEST = 2**31 - 1
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[ -~]+$",
        description="Of the client's choosing. A request that is repeated with its key answers "
        "what the first one stored, and stores nothing; with another body it is refused (409).",
    ),
]
Number = Annotated[int, Path(ge=1, le=_LARGEST, description="The trial's number.")]
Place = Annotated[int, Path(ge=1, le=_LARGEST, description="The proposal's place.")]
Wait = Annotated[float, Query(ge=0, le=MOST_WAIT, description="Seconds to wait for the outcome.")]


@router.post(
    "/proposals",
    dependencies=[needs("jobs", "write")],
    operation_id="propose_configuration",
    summary="Propose a configuration",
    status_code=201,
    response_model=ProposalView,
    responses=answers(
        PROPOSED_EXAMPLE, 400, 404, 409, 413, 415, 422,
        status=201, description="The proposal, with its trial once its turn has come.",
    ),
    openapi_extra=body(NewProposal, {"A point of the space": PROPOSAL_EXAMPLE}),
)  # fmt: skip
async def propose(
    job_id: JobId,
    request: Request,
    storage: StorageDependency,
    settings: SettingsDependency,
    feed: FeedDependency,
    key: Key = None,
) -> ProposalView:
    """Have a configuration simulated, in a job with `external: proposals`.

    It becomes a trial of the job, after those that were proposed before it. Parameters that do not
    count beside the others are left out; a configuration that was tried before is a trial again,
    which the cache answers. 409 where the job is paused, has ended or has no space yet, where its
    `budget.trials` are proposed, or where 1,024 proposals wait.
    """
    await run_in_threadpool(storage.jobs.check, job_id)
    new = check(NewProposal, await read_document(request, settings.body_limit))
    view = await run_in_threadpool(service.propose, storage, job_id, key, new)
    return await service.settled(feed, storage, job_id, view.place, new.wait)


@router.get(
    "/proposals/{place}",
    dependencies=[needs("jobs", "read")],
    operation_id="get_proposal",
    summary="Show a proposal",
    response_model=ProposalView,
    responses=answers(PROPOSED_EXAMPLE, 404, 422, description="The proposal and its trial."),
)
async def get_proposal(
    job_id: JobId, place: Place, storage: StorageDependency, feed: FeedDependency, wait: Wait = 0.0
) -> ProposalView:
    """What became of a proposed configuration; with `wait`, once that is known."""
    return await service.settled(feed, storage, job_id, place, wait)


@router.post(
    "/ask",
    dependencies=[needs("jobs", "write")],
    operation_id="ask_for_trials",
    summary="Ask for trials to measure",
    response_model=AskedView,
    responses=answers(
        ASKED_EXAMPLE, 400, 404, 409, 413, 415, 422, description="Trials, leased to who asks."
    ),
    openapi_extra=body(NewAsk, {"One trial": ASK_EXAMPLE}),
)
async def ask(
    job_id: JobId,
    request: Request,
    storage: StorageDependency,
    settings: SettingsDependency,
    feed: FeedDependency,
    key: Key = None,
) -> AskedView:
    """Take trials that nobody measures, in a job with `external: measurements`.

    As many are there as the job's `batch` says, the baselines first. What is not told within
    `seconds` is given to who asks next. 409 where the job is paused.
    """
    await run_in_threadpool(storage.jobs.check, job_id)
    new = check(NewAsk, await read_document(request, settings.body_limit))
    token = key or uuid.uuid4().hex
    return await service.waiting(
        feed,
        job_id,
        new.wait,
        lambda: service.ask(storage, job_id, token, new),
        service.ended,
    )


@router.post(
    "/trials/{number}/tell",
    dependencies=[needs("jobs", "write")],
    operation_id="tell_trial",
    summary="Tell what a trial took",
    response_model=TrialView,
    responses=answers(
        {**EXAMPLE, "worker": "login1-4711"}, 400, 404, 409, 413, 415, 422,
        description="The trial with its outcome.",
    ),
    openapi_extra=body(
        NewTell, {"What it took": TELL_EXAMPLE, "A run that failed": FAILED_EXAMPLE}
    ),
)  # fmt: skip
async def tell(
    job_id: JobId,
    number: Number,
    request: Request,
    storage: StorageDependency,
    settings: SettingsDependency,
) -> TrialView:
    """Keep what a script measured of a trial; told again, nothing changes.

    It may be told while the job is paused, and late, as long as nobody else has the trial. 409
    where it was told otherwise before, was given to another, or was cancelled.
    """
    await run_in_threadpool(storage.jobs.check, job_id)
    new = check(NewTell, await read_document(request, settings.body_limit))
    return await run_in_threadpool(service.tell, storage, job_id, number, new)


@router.post(
    "/trials/{number}/release",
    dependencies=[needs("jobs", "write")],
    operation_id="release_trial",
    summary="Hand a trial back",
    response_model=TrialView,
    responses=answers(
        {**EXAMPLE, "state": "pending", "value": None, "worker": None},
        400, 404, 409, 413, 415, 422,
        description="The trial, which whoever asks next is given.",
    ),
    openapi_extra=body(Release, {"The first attempt at it": {"attempt": 1}}),
)  # fmt: skip
async def release(
    job_id: JobId,
    number: Number,
    request: Request,
    storage: StorageDependency,
    settings: SettingsDependency,
) -> TrialView:
    """Give up a trial that a script has, before its time is over; again, nothing changes."""
    await run_in_threadpool(storage.jobs.check, job_id)
    given = check(Release, await read_document(request, settings.body_limit))
    return await run_in_threadpool(service.release, storage, job_id, number, given)

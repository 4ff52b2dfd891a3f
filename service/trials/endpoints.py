"""The trials of a job."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from service.auth.access import needs
from service.dependencies import StorageDependency
from service.openapi import answers
from service.parameters import JobId, TrialStates
from service.trials.pages import PAGES
from service.trials.replay import EXAMPLE as REPLAY_EXAMPLE
from service.trials.replay import Replay, replay
from service.trials.schemas import (
    DETAIL_EXAMPLE,
    EXAMPLE,
    RUNNING_EXAMPLE,
    RunningTrial,
    TrialDetail,
    TrialPage,
)
from service.trials.summary import MOST_LISTED
from storage.view import StorageView

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/trials", tags=["trials"])

_LARGEST_NUMBER = 2**31 - 1
_Whole = Annotated[
    bool, Query(description=f"Whether to list more than {MOST_LISTED} ranks or cables.")
]

After = Annotated[
    int, Query(ge=0, le=_LARGEST_NUMBER, description="Only trials with a higher number.")
]
PageLimit = Annotated[int, Query(ge=1, le=500, description="Trials in a page.")]


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="list_trials",
    summary="List trials",
    response_model=TrialPage,
    responses=answers(
        {"items": [EXAMPLE], "cursor": 17}, 404, 422, description="A page of trials by number."
    ),
)
def list_trials(
    job_id: JobId,
    storage: StorageDependency,
    after: After = 0,
    limit: PageLimit = 100,
    state: TrialStates = None,
) -> Response:
    """Trials in the order of asking, without what the simulator measured beside the time.

    To go on, pass the page's `cursor` as `after`.
    """
    storage.jobs.check(job_id)
    if not state:
        lines = _numbered(storage, job_id, after, limit + 1)
        cursor = after + limit
    else:
        trials = storage.trials.of_job(job_id, states=state, after=after, limit=limit + 1)
        lines = PAGES.write(trials)
        cursor = trials[limit - 1].number if len(trials) > limit else 0
    items = b",".join(lines[:limit])
    more = len(lines) > limit
    content = b'{"items":[%b],"cursor":%b}' % (items, str(cursor if more else "null").encode())
    return Response(content, media_type="application/json")


def _numbered(storage: StorageView, job_id: str, after: int, most: int) -> list[bytes]:
    """Trials whatever their state, of which there is one of each number up to the last.

    Only those are read that lie between the first and the last one that is not at hand.
    """
    lines = PAGES.known(job_id, range(after + 1, after + 1 + most))
    lacking = [place for place, line in enumerate(lines) if line is None]
    if lacking:
        first, end = lacking[0], lacking[-1] + 1
        lines[first:end] = PAGES.write(
            storage.trials.of_job(job_id, after=after + first, limit=end - first)
        )
    return [line for line in lines if line is not None]


@router.get(
    "/running",
    dependencies=[needs("jobs", "read")],
    operation_id="list_running",
    summary="List evaluations under way",
    responses=answers(RUNNING_EXAMPLE, 404, 422, description="By trial; none where nothing runs."),
)
def list_running(job_id: JobId, storage: StorageDependency) -> list[RunningTrial]:
    """Which trials workers are at, and how far each has come in simulated time and calls."""
    storage.jobs.check(job_id)
    return [RunningTrial.of(attempt) for attempt in storage.attempts.running(job_id)]


@router.get(
    "/{number}",
    dependencies=[needs("jobs", "read")],
    operation_id="get_trial",
    summary="Show a trial",
    response_model=TrialDetail,
    responses=answers(DETAIL_EXAMPLE, 404, 422, description="The trial, measurements included."),
)
def get_trial(
    job_id: JobId,
    number: Annotated[int, Path(ge=1, le=_LARGEST_NUMBER, description="The trial's number.")],
    storage: StorageDependency,
    whole: _Whole = False,
) -> TrialDetail:
    """One trial with the finish times of the ranks, the loads of the links, and all attempts."""
    storage.jobs.check(job_id)
    trial = storage.trials.get(job_id, number)
    return TrialDetail.of_attempts(trial, storage.attempts.of_trial(job_id, number), whole=whole)


@router.post(
    "/{number}/replay",
    dependencies=[needs("jobs", "write")],
    operation_id="replay_trial",
    summary="Evaluate a trial again",
    response_model=Replay,
    responses=answers(REPLAY_EXAMPLE, 404, 409, 422, 429, description="Both, side by side."),
)
def replay_trial(
    job_id: JobId,
    number: Annotated[int, Path(ge=1, le=_LARGEST_NUMBER, description="The trial's number.")],
    storage: StorageDependency,
    whole: _Whole = False,
) -> Replay:
    """The trial's configuration is simulated anew and set beside what was stored.

    The cache is not asked, and no cutoff ends it. The answer comes when the simulation has ended,
    after two minutes at most; one is made at a time. Nothing is stored.
    """
    return replay(storage, job_id, number, whole=whole)

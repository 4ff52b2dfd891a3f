"""What happens in a job, as it happens."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from service.auth.access import needs
from service.dependencies import FeedDependency, StorageDependency
from service.events.stream import stream
from service.openapi import answers
from service.parameters import JobId

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/events", tags=["events"])

_LARGEST_ID = 2**63 - 1
_EXAMPLE = (
    "id: 812\nevent: trial\n"
    'data: {"id":812,"job_id":"0k3v9m2x7q1zt8ab","kind":"trial","at":1790000011.4,'
    '"data":{"number":17,"state":"completed","value":0.0712}}\n\n'
)


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="watch_job",
    summary="Watch a job",
    response_class=StreamingResponse,
    responses=answers(
        _EXAMPLE,
        404,
        422,
        description="A stream of events that ends when the job is completed, failed or cancelled.",
        media="text/event-stream",
    ),
)
async def watch_job(
    job_id: JobId,
    request: Request,
    storage: StorageDependency,
    feed: FeedDependency,
    after: Annotated[
        int, Query(ge=0, le=_LARGEST_ID, description="Only events with a higher id.")
    ] = 0,
    last_event_id: Annotated[
        int | None,
        Header(ge=0, le=_LARGEST_ID, description="As `after`; sent by browsers that reconnect."),
    ] = None,
) -> StreamingResponse:
    """Events of a job as Server-Sent Events: first those stored, then new ones.

    Kinds: `job` (its state changed), `trial` (a trial changed), `message`. Each event has an
    id; a client that comes back with the last id it saw, as `Last-Event-ID` or `after`,
    misses nothing and sees nothing twice. The stream ends soon after the key ends with which it was
    asked for.
    """
    state = request.app.state
    await run_in_threadpool(storage.jobs.get, job_id)
    return StreamingResponse(
        stream(
            storage,
            feed,
            job_id,
            after if last_event_id is None else last_event_id,
            may_stay=partial(state.access.still_admits, request, state.runtime.storage),
        ),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )

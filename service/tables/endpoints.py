"""The trials of a job as a table: in columns for programs that draw, and as files."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from service.auth.access import needs
from service.dependencies import StorageDependency
from service.jobs.yardsticks import error_for, machine_of
from service.openapi import answers
from service.parameters import JobId, Points, TrialStates
from service.tables.answers import Answers
from service.tables.columns import read_table
from service.tables.files import FILES, table_file
from service.tables.rows import Order, read_rows
from service.tables.schemas import EXAMPLE, ROWS_EXAMPLE, RowsView, TableView
from storage.records import FINAL_JOB_STATES

__all__ = ["router"]

_ANSWERS = Answers(most_bytes=16 * 2**20)
"""Of jobs that have ended, whose trials do not change any more."""

_MOST_ROWS = 200

router = APIRouter(prefix="/jobs/{job_id}", tags=["trials"])


@router.get(
    "/table",
    dependencies=[needs("jobs", "read")],
    operation_id="get_table",
    summary="Show all trials in columns",
    response_model=TableView,
    responses=answers(EXAMPLE, 404, 422, description="The table."),
)
def get_table(
    job_id: JobId,
    storage: StorageDependency,
    after: Annotated[
        int, Query(ge=0, le=2**31 - 1, description="Only trials with a higher number.")
    ] = 0,
    points: Points = None,
) -> Response:
    """All trials that have an outcome, a list for each of their properties, in the order of asking.

    With `points`, about so many: every improvement, all baselines, the first and the last stay, the
    others are sampled evenly. Who follows a job asks again `after` the last number before the first
    open one.
    """
    job = storage.jobs.get(job_id)
    ended = job.state in FINAL_JOB_STATES
    # What is measured afterwards changes this, and nothing else of the table.
    error = error_for(machine_of(storage, job), storage.measured_runs.configurations(job_id))
    asked = (job_id, after, points, error.value)
    content = _ANSWERS.get(asked) if ended else None
    if content is None:
        document = read_table(storage, job_id, after=after, points=points)
        # As it is: checking 10,000 rows against the schema again would take longer than making it.
        content = json.dumps(document, separators=(",", ":")).encode()
        if ended:
            _ANSWERS.put(asked, content)
    return Response(content, media_type="application/json")


@router.get(
    "/rows",
    dependencies=[needs("jobs", "read")],
    operation_id="get_rows",
    summary="Show some trials, sorted and filtered",
    response_model=RowsView,
    responses=answers(ROWS_EXAMPLE, 404, 422, description="Rows of the table."),
)
def get_rows(
    job_id: JobId,
    storage: StorageDependency,
    order: Annotated[Order, Query(description="What comes first.")] = "newest",
    state: TrialStates = None,
    cached: Annotated[
        bool | None, Query(description="Only trials that the cache answered, or did not.")
    ] = None,
    skip: Annotated[int, Query(ge=0, le=2**31 - 1, description="Rows to leave out.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_ROWS, description="Rows at most.")] = 50,
) -> Response:
    """Rows of trials that have an outcome, of all of them and not of a sample."""
    document = read_rows(
        storage, job_id, order=order, states=state or (), cached=cached, skip=skip, limit=limit
    )
    return Response(json.dumps(document, separators=(",", ":")), media_type="application/json")


@router.get(
    "/table/{format_name}",
    dependencies=[needs("jobs", "read")],
    operation_id="download_table",
    summary="Download all trials",
    description="All trials of a job as one file, or those of some states.\n\nFormats:\n\n"
    + "\n".join(f"- `{name}`: {kind.description}" for name, kind in FILES.items()),
    response_class=Response,
    responses=answers(
        "number,kind,state,value,...",
        404,
        422,
        description="The file.",
        media="application/octet-stream",
        headers={"Content-Disposition": "The name to save it under."},
    ),
)
def download_table(
    job_id: JobId,
    format_name: Annotated[str, Path(max_length=64, description="One of the formats above.")],
    storage: StorageDependency,
    state: TrialStates = None,
) -> Response:
    job = storage.jobs.get(job_id)
    kind, content = table_file(storage, job, format_name, states=state or ())
    return Response(
        content,
        media_type=kind.media_type,
        headers={"Content-Disposition": f'attachment; filename="{job_id}-trials.{kind.suffix}"'},
    )

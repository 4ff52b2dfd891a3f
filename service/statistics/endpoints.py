"""What all trials of a job come to."""

from __future__ import annotations

from fastapi import APIRouter

from service.auth.access import needs
from service.dependencies import StorageDependency
from service.openapi import answers
from service.outcomes import Remembered
from service.parameters import JobId
from service.statistics.model import EXAMPLE, Statistics, statistics
from service.tables.columns import read_trials

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/statistics", tags=["jobs"])

_KNOWN: Remembered[Statistics] = Remembered()


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="get_statistics",
    summary="Count the trials",
    response_model=Statistics,
    responses=answers(EXAMPLE, 404, 422, description="Counts of all trials with an outcome."),
)
def get_statistics(job_id: JobId, storage: StorageDependency) -> Statistics:
    """Outcomes, workers, and the fastest trial of each value of each parameter.

    All trials count, however many there are; a table with `points` is a sample of them.
    """
    return _KNOWN.answer(storage, job_id, lambda: statistics(read_trials(storage, job_id)))

"""What no other trial of a job beats in both time and price."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from service.auth.access import needs
from service.dependencies import StorageDependency
from service.fronts.model import Priced, front_view, priced
from service.fronts.schemas import EXAMPLE, By, FrontView
from service.openapi import answers
from service.outcomes import Remembered
from service.parameters import JobId

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/front", tags=["jobs"])

_KNOWN: Remembered[Priced] = Remembered()

Weighed = Annotated[
    By | None,
    Query(description="What time is weighed against: as the job does, else cost."),
]
Seconds = Annotated[
    float | None,
    Query(gt=0, lt=1e15, allow_inf_nan=False, description="Seconds of another reference."),
]
Price = Annotated[
    float | None,
    Query(
        gt=0,
        lt=1e15,
        allow_inf_nan=False,
        description="Price of another reference, as `by` says.",
    ),
]


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="get_front",
    summary="Show the front of time and cost",
    response_model=FrontView,
    responses=answers(EXAMPLE, 404, 422, description="The front, the cheapest network first."),
)
def get_front(
    job_id: JobId,
    storage: StorageDependency,
    by: Weighed = None,
    reference_seconds: Seconds = None,
    reference_price: Price = None,
) -> FrontView:
    """Which configurations no other completed one beats in both simulated time and price.

    The price is that of switches, cables and adapters, by `machine.parts` of the job, or the energy
    of a run. The hypervolume of two jobs may be compared where the reference is the same.
    """
    known = _KNOWN.answer(storage, job_id, lambda: priced(storage, job_id))
    return front_view(known, by, reference_seconds, reference_price)

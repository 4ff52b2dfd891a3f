"""Trials on their networks, for pictures."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from service.auth.access import needs
from service.dependencies import StorageDependency
from service.drawings.placement import EXAMPLE, Placement, placement
from service.openapi import answers
from service.parameters import JobId

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/trials/{number}/placement", tags=["trials"])


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="get_placement",
    summary="Show a trial on its network",
    response_model=Placement,
    responses=answers(EXAMPLE, 404, 409, 422, description="The network, its load, the ranks."),
)
def get_placement(
    job_id: JobId,
    number: Annotated[int, Path(ge=1, le=2**31 - 1, description="The trial's number.")],
    storage: StorageDependency,
) -> Placement:
    """The network of a trial with a place for every node, and what went over it.

    Also the host of every rank, what hosts exchange, and how far apart ranks are that do.
    409 for a trial whose configuration gives no network.
    """
    return placement(storage, job_id, number)

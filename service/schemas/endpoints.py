"""JSON schemas of job and machine files, as this service reads them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from searchspace.schema import schema
from service.auth.access import needs
from service.openapi import answers

__all__ = ["router"]

router = APIRouter(prefix="/schema", tags=["service"])

_EXAMPLE = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "JobSpec"}
_ANSWERS: dict[int | str, dict[str, Any]] = answers(_EXAMPLE, description="The schema.")


@router.get(
    "/job.json",
    dependencies=[needs("service", "read")],
    operation_id="get_job_schema",
    summary="Show the JSON schema of job files",
    responses=_ANSWERS,
)
def get_job_schema() -> dict[str, Any]:
    """What a job file may say, for editors and for programs that write one."""
    return schema("job")


@router.get(
    "/machine.json",
    dependencies=[needs("service", "read")],
    operation_id="get_machine_schema",
    summary="Show the JSON schema of machine files",
    responses=_ANSWERS,
)
def get_machine_schema() -> dict[str, Any]:
    """What a machine file may say, for editors and for programs that write one."""
    return schema("machine")

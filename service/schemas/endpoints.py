"""JSON schemas of job and machine files, as this service reads them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from searchspace.schema import DocumentKind, schema
from service.openapi import answers

__all__ = ["router"]

router = APIRouter(prefix="/schema", tags=["service"])

_EXAMPLE = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "JobSpec"}


@router.get(
    "/{document}.json",
    operation_id="get_schema",
    summary="Show the JSON schema of a document",
    responses=answers(_EXAMPLE, 422, description="The schema."),
)
def get_schema(
    document: Annotated[DocumentKind, Path(description="Which document it is of.")],
) -> dict[str, Any]:
    """The JSON schema of job or machine files, for editors and for programs that write them."""
    return schema(document)

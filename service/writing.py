"""Long answers, written in one go."""

from __future__ import annotations

from fastapi import Response
from pydantic import BaseModel

__all__ = ["as_json"]


def as_json(view: BaseModel) -> Response:
    """A view as the answer to a request.

    What is returned to FastAPI it checks again and takes apart before it writes it, which for a
    long page costs more than all the rest.
    """
    return Response(view.model_dump_json(by_alias=True), media_type="application/json")

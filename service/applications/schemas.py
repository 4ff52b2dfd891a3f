"""Applications as REST shows them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from storage.records import Application, ApplicationKind

__all__ = ["EXAMPLE", "ApplicationPage", "ApplicationView"]

EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ab",
    "name": "cg",
    "kind": "trace",
    "trace_sha256": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
    "ranks": 64,
    "summary": {"program": "cg", "calls": {"send": 26880, "allreduce": 64}},
    "created_at": 1790000000.0,
}


class ApplicationView(BaseModel):
    """An application: a trace that configurations replay."""

    id: str
    name: str
    kind: ApplicationKind = Field(
        description="A built-in program captured by a worker, or a trace that was uploaded."
    )
    trace_sha256: str = Field(description="SHA-256 of the trace archive: its identity.")
    ranks: int
    summary: dict[str, Any] = Field(description="What the trace holds: calls, bytes, flops.")
    created_at: float = Field(description="Seconds since the epoch.")

    @classmethod
    def of(cls, application: Application) -> ApplicationView:
        """The view of a stored application."""
        return cls.model_validate(application, from_attributes=True)


class ApplicationPage(BaseModel):
    """A page of applications, newest first."""

    items: list[ApplicationView]
    cursor: str | None = Field(description="Fetches the next page; null on the last.")

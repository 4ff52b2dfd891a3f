"""Applications as REST shows them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from service.applications.notes import notes_on
from storage.records import Application, ApplicationKind, ApplicationState

__all__ = [
    "EXAMPLE",
    "FILES_EXAMPLE",
    "ApplicationPage",
    "ApplicationView",
    "CaptureProgress",
    "FilesView",
]

EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ab",
    "name": "cg",
    "kind": "trace",
    "state": "ready",
    "error": None,
    "recipe": None,
    "trace_sha256": "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
    "ranks": 64,
    "summary": {"program": "cg", "calls": {"send": 26880, "allreduce": 64}},
    "notes": [
        "computation: measured 12,128 times between calls, 9.419 us on average: uncertain by 5.6%"
    ],
    "created_at": 1790000000.0,
    "capture_progress": None,
}

FILES_EXAMPLE: dict[str, Any] = {
    "files": [{"path": "out/results.txt", "bytes": 1834}],
    "left_out": [{"path": "checkpoint.bin", "bytes": 8589934592}],
}


class CaptureProgress(BaseModel):
    """How far a capture is, as its ranks say."""

    run: int = Field(description="Which of the `runs`, from 1.")
    runs: int
    operations: int = Field(description="Recorded in this run so far, of all ranks.")
    ranks_ended: int = Field(description="Ranks that have called MPI_Finalize in this run.")
    ranks: int
    simulated_seconds: float = Field(description="The latest simulated time in this run.")


class OutputFile(BaseModel):
    """A file that runs of a program left."""

    path: str = Field(description="In the folder where it ran.")
    bytes: int


class FilesView(BaseModel):
    """What the last runs of a program left beside the trace."""

    files: list[OutputFile] = Field(description="New or changed files, which can be fetched.")
    left_out: list[OutputFile] = Field(
        description="Others, which were not kept: 1,000 files and 64 MiB are, the smallest first."
    )


class ApplicationView(BaseModel):
    """An application: a trace that configurations replay."""

    id: str
    name: str
    kind: ApplicationKind = Field(
        description="A built-in program captured by a worker, a trace that was uploaded, a "
        "program that is built from a source tree, a pattern of messages, a run extrapolated from "
        "smaller ones, or several of these at once."
    )
    state: ApplicationState = Field(
        description="`ready` with a trace. One made from a source tree is `new` until a job needs "
        "it, then `capturing`, and `failed` where that did not work; the next job tries again."
    )
    error: str | None = Field(description="Why the capture failed, with the end of the log.")
    recipe: dict[str, Any] | None = Field(
        description="How a source tree is built and run: `source_sha256`, `build`, `run`, `ranks`, "
        "`captures`, `computation`, `host_speed_of_capture`."
    )
    trace_sha256: str | None = Field(
        description="SHA-256 of the trace archive: its identity. Null until there is one."
    )
    ranks: int
    summary: dict[str, Any] = Field(
        description="What the trace holds: calls, bytes, flops, whether it is `truncated` (missing "
        "where the trace cannot be read), and how much repeated captures differ (`repeats`), "
        "and how computation was `measured`, with its `uncertainty` as a part of it. A "
        "truncated trace has those of the iterations that were kept, and times are estimated by it."
    )
    notes: list[str] = Field(
        description="How the trace came about and how far it can be relied on, in sentences."
    )
    created_at: float = Field(description="Seconds since the epoch.")
    capture_progress: CaptureProgress | None = Field(
        description="While it is captured: how far that is; null before its ranks are in MPI_Init."
    )

    @classmethod
    def of(cls, application: Application) -> ApplicationView:
        """The view of a stored application."""
        fields = {name: getattr(application, name) for name in cls.model_fields if name != "notes"}
        fields["trace_sha256"] = application.trace_sha256 or None
        return cls(**fields, notes=notes_on(application.summary))


class ApplicationPage(BaseModel):
    """A page of applications, newest first."""

    items: list[ApplicationView]
    cursor: str | None = Field(description="Fetches the next page; null on the last.")

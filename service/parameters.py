"""The parameters that several endpoints take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from storage.records import LogName

__all__ = ["ApplicationId", "Cursor", "JobId", "Limit", "Log", "LogOffset", "MachineId"]

# Ids are visible ASCII; what is not cannot be stored under, and some databases refuse to look.
_VISIBLE = r"^[!-~]+$"

Limit = Annotated[int, Query(ge=1, le=200, description="Entries in a page.")]
Cursor = Annotated[
    str | None,
    Query(max_length=200, pattern=_VISIBLE, description="The `cursor` of the page before; opaque."),
]
JobId = Annotated[str, Path(max_length=64, pattern=_VISIBLE, description="The job's id.")]
ApplicationId = Annotated[
    str, Path(max_length=64, pattern=_VISIBLE, description="The application's id.")
]
MachineId = Annotated[str, Path(max_length=64, pattern=_VISIBLE, description="The machine's id.")]
Log = Annotated[LogName, Path(description="Of the build or of the runs.")]
LogOffset = Annotated[
    int, Query(ge=0, le=2**31, description="Characters to leave out: those that are known.")
]

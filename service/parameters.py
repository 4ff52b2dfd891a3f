"""The parameters that several endpoints take."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from service.problems import ProblemError
from storage.records import LogName, TrialState

__all__ = [
    "ApplicationId",
    "Cursor",
    "FilePath",
    "JobId",
    "Limit",
    "Log",
    "LogOffset",
    "MachineId",
    "Points",
    "TrialStates",
    "only_known_parameters",
]

# Ids are visible ASCII; what is not cannot be stored under, and some databases refuse to look.
_VISIBLE = r"^[!-~]+$"

Limit = Annotated[int, Query(ge=1, le=200, description="Entries in a page.")]
Cursor = Annotated[
    str | None,
    Query(max_length=200, pattern=_VISIBLE, description="The `cursor` of the page before; opaque."),
]
Points = Annotated[
    int | None,
    Query(ge=2, le=1_000_000, description="About how many points are wanted; all by default."),
]
JobId = Annotated[str, Path(max_length=64, pattern=_VISIBLE, description="The job's id.")]
ApplicationId = Annotated[
    str, Path(max_length=64, pattern=_VISIBLE, description="The application's id.")
]
MachineId = Annotated[str, Path(max_length=64, pattern=_VISIBLE, description="The machine's id.")]
Log = Annotated[LogName, Path(description="Of the build or of the runs.")]
FilePath = Annotated[
    str, Path(max_length=4096, description="The path of a file, as the list of them has it.")
]
TrialStates = Annotated[
    list[TrialState] | None,
    Query(max_length=50, description="Only trials in this state; given again, in any of them."),
]
LogOffset = Annotated[
    int, Query(ge=0, le=2**31, description="Characters to leave out: those that are known.")
]


async def only_known_parameters(request: Request) -> None:
    """Refuse query parameters that an operation does not have: they would change nothing.

    Raises:
        ProblemError: 422 with those that it has.
    """
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return
    if not request.query_params:
        return
    known = sorted(_query_parameters(route.dependant))
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        allowed = f"allowed: {', '.join(known)}" if known else "there is none here"
        errors = [(f"query.{name}", f"unknown parameter; {allowed}") for name in unknown]
        detail = "; ".join(f"{field}: {message}" for field, message in errors)
        raise ProblemError(422, detail, errors=errors)


def _query_parameters(dependant: Dependant) -> set[str]:
    own = {parameter.alias for parameter in dependant.query_params}
    return own.union(*map(_query_parameters, dependant.dependencies))

"""Every error of the REST interface as problem details (RFC 9457)."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from searchspace.disk_room import NoRoom
from searchspace.errors import HamtuneError, InvalidDocument, InvalidInput
from searchspace.validation import describe
from storage.errors import Conflict, NotFound, QuotaExceeded, Unavailable

__all__ = [
    "KINDS",
    "MEDIA_TYPE",
    "TYPE_PREFIX",
    "FieldError",
    "Problem",
    "ProblemError",
    "install",
    "problem_response",
]

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:problem:hamtune:"

KINDS = {
    400: ("bad-request", "The request cannot be read"),
    401: ("unauthorized", "The service does not know who asks"),
    403: ("forbidden", "This is not allowed"),
    404: ("not-found", "There is no such thing"),
    405: ("method-not-allowed", "This method is not possible here"),
    409: ("conflict", "The state of things does not allow it"),
    413: ("too-large", "The body is too large"),
    415: ("unsupported-media-type", "This content type is not accepted here"),
    422: ("invalid", "Something in the request cannot be used"),
    429: ("too-many-requests", "Requests come too often"),
    500: ("server-failed", "The server failed"),
    503: ("unavailable", "The service cannot work just now"),
    507: ("no-room", "The service has no room for it on its disk"),
}
"""Type and title of the problems by status; they must not change with Python's phrases."""

log = logging.getLogger("hamtune.service")


class FieldError(BaseModel):
    """What is wrong with one field of the request."""

    field: str = Field(description="Dotted path of the field, or `query.<name>`.")
    message: str


class Problem(BaseModel):
    """Problem details, RFC 9457 section 3."""

    type: str = Field(description="Names the kind of problem; stable, for programs.")
    title: str = Field(description="The kind of problem in words.")
    status: int
    detail: str = Field(description="What was wrong with this request and what to do.")
    instance: str = Field(description="The path asked for.")
    errors: list[FieldError] | None = Field(default=None, description="Only on 422.")


class ProblemError(HamtuneError):
    """A request that cannot be served, with the status that says so.

    Args:
        status: HTTP status, 4xx or 5xx.
        detail: What was wrong and what to do, one line.
        errors: Fields at fault as (field, message).
        headers: Further response headers.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors
        self.headers = headers


def problem_response(
    request: Request,
    status: int,
    detail: str,
    *,
    errors: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Answer `request` with a problem."""
    kind, title = KINDS.get(status, KINDS[status // 100 * 100])
    problem = Problem(
        type=TYPE_PREFIX + kind,
        title=title,
        status=status,
        detail=detail,
        instance=request.url.path,
        errors=[FieldError(field=field, message=message) for field, message in errors] or None,
    )
    return JSONResponse(
        problem.model_dump(exclude_none=True),
        status_code=status,
        headers=dict(headers or {}),
        media_type=MEDIA_TYPE,
    )


def install(app: FastAPI) -> None:
    """Make `app` answer every error with problem details."""
    app.add_exception_handler(HamtuneError, _hamtune_error)
    app.add_exception_handler(RequestValidationError, _invalid_parameters)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _ended_early)
    app.add_exception_handler(Exception, _unexpected)


def _hamtune_error(request: Request, error: Exception) -> JSONResponse:
    match error:
        case ProblemError():
            return problem_response(
                request,
                error.status,
                error.detail,
                errors=error.errors,
                headers=error.headers,
            )
        case InvalidInput():
            mistakes = error.errors if isinstance(error, InvalidDocument) else (error,)
            errors = [(one.field, one.message) for one in mistakes if one.field]
            return problem_response(request, 422, "; ".join(map(str, mistakes)), errors=errors)
        case NotFound() | Conflict() | QuotaExceeded():
            status = {NotFound: 404, Conflict: 409, QuotaExceeded: 403}
            kind = next(kind for kind in status if isinstance(error, kind))
            return problem_response(request, status[kind], str(error))
        case Unavailable():
            log.warning("%s %s: %s", request.method, request.url.path, error)
            said = str(error) if _is_operator(request) else error.plain
            return problem_response(request, 503, said, headers={"Retry-After": "1"})
        case NoRoom():
            log.error("%s %s: %s", request.method, request.url.path, error)
            return problem_response(request, 507, str(error))
    # Its message is meant for users: what is missing or broken here, and what to do.
    log.error("%s %s: %s", request.method, request.url.path, error, exc_info=error)
    return problem_response(request, 500, str(error))


def _is_operator(request: Request) -> bool:
    """Whether all who come own the machine: no key is asked for."""
    access = getattr(request.app.state, "access", None)
    return bool(getattr(access, "open", False))


def _invalid_parameters(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    errors = [
        (".".join(str(part) for part in item["loc"]), describe(item)) for item in error.errors()
    ]
    detail = "; ".join(f"{field}: {message}" for field, message in errors)
    return problem_response(request, 422, detail, errors=errors)


def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    detail = str(error.detail)
    if error.status_code == 404:
        detail = f"there is nothing at {request.url.path}; /api/v1/openapi.json lists what there is"
    elif error.status_code == 405:
        known = _methods(request) or [(error.headers or {}).get("Allow", "GET")]
        allowed = ", ".join(known)
        detail = f"{request.method} is not possible here; use {allowed}"
        return problem_response(request, 405, detail, headers={"Allow": allowed})
    return problem_response(request, error.status_code, detail, headers=error.headers)


def _methods(request: Request) -> list[str]:
    """The methods of all operations with the path of a request; the router knows of one alone."""
    return sorted(
        method.upper()
        for template, operations in request.app.openapi()["paths"].items()
        if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), request.url.path)
        for method in operations
    )


def _ended_early(request: Request, error: Exception) -> JSONResponse:
    return problem_response(request, 400, "the request ended before its body was complete")


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """Hide what happened from the client, and log it under a number that both can quote."""
    incident = secrets.token_hex(6)
    log.error(
        "incident %s: %s %s failed",
        incident,
        request.method,
        request.url.path,
        exc_info=error,
    )
    return problem_response(
        request, 500, f"the server failed; its log says why under incident {incident}"
    )

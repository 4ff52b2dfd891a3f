"""What monitoring asks: readiness and metrics."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from service.auth.access import OPEN_TO_ALL, needs
from service.dependencies import SettingsDependency
from service.openapi import answers
from service.operations.checks import Finding, readiness
from service.operations.metrics import exposition
from storage.storage import Storage

__all__ = ["router"]

router = APIRouter()

_KNOWN_SECONDS = 1.0
_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_READY = {"ready": True, "checks": {"database": "ok", "artifacts": "ok", "broker": "ok"}}

log = logging.getLogger("hamtune.service")


class _Lately:
    """What was found of a storage a moment ago: anybody may ask, and to look takes seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[weakref.ref[Storage], float, list[Finding]] | None = None

    def get(self, storage: Storage, look: Callable[[], list[Finding]]) -> list[Finding]:
        """What is known, or is looked for now; who comes meanwhile is told what was known."""
        known = self._known
        is_ours = known is not None and known[0]() is storage
        if not self._lock.acquire(blocking=not is_ours):
            assert known is not None
            return known[2]
        try:
            known = self._known
            is_ours = known is not None and known[0]() is storage
            if known is not None and is_ours and time.monotonic() - known[1] < _KNOWN_SECONDS:
                return known[2]
            found = look()
            self._known = (weakref.ref(storage), time.monotonic(), found)
            return found
        finally:
            self._lock.release()


_LATELY = _Lately()


class Readiness(BaseModel):
    """Whether requests are worth sending."""

    ready: bool
    checks: dict[str, str] = Field(description="`ok` or `failed` of each; the log tells why.")


@router.get(
    "/readyz",
    tags=["service"],
    dependencies=[OPEN_TO_ALL],
    operation_id="ready",
    summary="Check what the service stands on",
    response_model=Readiness,
    responses=answers(_READY, description="Database, artifacts and broker answer."),
)
def ready(request: Request, response: Response, settings: SettingsDependency) -> Readiness:
    """Answers 200 while database, artifact store and broker can be used, else 503."""
    storage = request.app.state.runtime.storage
    findings = _LATELY.get(storage, lambda: readiness(storage, settings))
    failed = [finding for finding in findings if finding.status == "failed"]
    for finding in failed:
        log.warning("not ready: %s: %s", finding.name, finding.text)
    if failed:
        response.status_code = 503
    return Readiness(
        ready=not failed, checks={finding.name: finding.status for finding in findings}
    )


@router.get(
    "/metrics",
    tags=["metrics"],
    operation_id="metrics",
    summary="Read metrics",
    response_class=Response,
    responses=answers(
        'hamtune_jobs{state="running"} 2.0\n', description="Metrics.", media="text/plain"
    ),
    dependencies=[needs("metrics", "read")],
)
def metrics(request: Request) -> Response:
    """Metrics of the service, of all projects together, in the text format of Prometheus.

    Where keys are asked for, this needs one with the scope `metrics:read`, which only the operator
    of the service makes: an administrator is one of a project.
    """
    return Response(exposition(request.app.state.runtime.storage), media_type=_TYPE)

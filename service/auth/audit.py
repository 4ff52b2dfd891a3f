"""Writes down what was done, and what was refused to those who are known."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.types import Message, Scope
from typing_extensions import override

from searchspace.errors import HamtuneError
from service.auth.principal import Principal
from service.middleware import AnswerMiddleware

__all__ = ["Audit", "audited_as"]

_SAFE = ("GET", "HEAD", "OPTIONS")

log = logging.getLogger("hamtune.audit")


def audited_as(request: Request, action: str) -> None:
    """Have the audit log call what a request does by another name than its operation's.

    For operations that do things of different weight, depending on how they are asked.
    """
    request.state.audited_as = action


class Audit(AnswerMiddleware):
    """Appends to the audit log, before the answer goes out, what each request came to.

    Reads are left out unless they were refused. What nobody known asked for is logged only, or
    anybody could fill the database.
    """

    @override
    async def begins(self, scope: Scope, answer: Message) -> None:
        request, status = Request(scope), int(answer["status"])
        address = request.client.host if request.client is not None else "unknown"
        principal = getattr(request.state, "principal", None)
        if status in (401, 429):
            log.warning("%s %s from %s: %d", request.method, request.url.path, address, status)
        if not isinstance(principal, Principal):
            return
        if request.method in _SAFE and status not in (403, 429):
            return
        route = request.scope.get("route")
        action = getattr(request.state, "audited_as", None)
        if action is None and isinstance(route, APIRoute):
            action = route.operation_id
        entry: dict[str, Any] = {
            "actor": principal.name,
            "address": address,
            "action": action or request.method,
            # No text column of PostgreSQL holds this character, which a quoted path may stand for.
            "target": request.url.path.replace("\0", "%00"),
            "status": status,
        }
        log.info("%(actor)s from %(address)s: %(action)s %(target)s: %(status)s", entry)
        storage = request.app.state.runtime.storage.of_project(principal.project)
        try:
            await run_in_threadpool(storage.audit.add, **entry)
        except HamtuneError as error:
            log.error("the audit log cannot be written: %s", error)

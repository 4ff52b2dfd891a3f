"""Counts requests, and the seconds until their answers begin."""

from __future__ import annotations

import time

from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from service.middleware import AnswerMiddleware
from storage.metrics import METRICS
from storage.spans import span

__all__ = ["Measured"]

_BEGAN = "hamtune.began"
"""Of a scope: when its request arrived, by the clock of `time.perf_counter`."""
_METHODS = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")


class Measured(AnswerMiddleware):
    """Passes requests on and measures them."""

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        scope[_BEGAN] = time.perf_counter()
        with span("request", method=_method(scope), path=scope["path"]):
            await super().__call__(scope, receive, send)

    @override
    async def begins(self, scope: Scope, answer: Message) -> None:
        METRICS.count("hamtune_requests", method=_method(scope), status=str(answer["status"]))
        METRICS.observe("hamtune_request_seconds", time.perf_counter() - scope[_BEGAN])


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "other"

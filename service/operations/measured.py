"""Counts requests, and the seconds until their answers begin."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storage.metrics import METRICS
from storage.spans import span

__all__ = ["Measured"]

_METHODS = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")


class Measured:
    """Passes requests on and measures them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        method = scope["method"] if scope["method"] in _METHODS else "other"

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                METRICS.count("hamtune_requests", method=method, status=str(message["status"]))
                METRICS.observe("hamtune_request_seconds", time.perf_counter() - began)
            await send(message)

        with span("request", method=method, path=scope["path"]):
            await self._app(scope, receive, sent)

"""The service inside this process: an httpx transport that calls the FastAPI app directly."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI

__all__ = ["InProcess"]

T = TypeVar("T")


class InProcess(httpx.BaseTransport):
    """Sends requests to an ASGI application that lives in a thread of its own.

    The application's lifespan starts with the transport and ends with `close`. Responses are
    read whole, so endless ones (event streams) are not for this transport.
    """

    def __init__(self, app: FastAPI) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="service", daemon=True)
        self._thread.start()
        self._app = app
        self._transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        self._lifespan = AsyncExitStack()
        try:
            self._call(self._lifespan.enter_async_context(app.router.lifespan_context(app)))
        except BaseException:
            self._stop()
            raise

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        return self._call(self._answer(request))

    def close(self) -> None:
        """End the application."""
        try:
            self._call(self._lifespan.aclose())
        finally:
            self._stop()

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        response = await self._transport.handle_async_request(request)
        content = await response.aread()
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            content=content,
            extensions=response.extensions,
        )

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise httpx.ReadError("the service in this process stopped") from None

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

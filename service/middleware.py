"""What the parts that see every request and every answer have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["AnswerMiddleware"]


class AnswerMiddleware(ABC):
    """Passes requests on, and sees each answer when it begins.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    @abstractmethod
    async def begins(self, scope: Scope, answer: Message) -> None:
        """See the beginning of an answer before it goes out, and change its headers.

        Args:
            scope: Of the request.
            answer: ASGI's `http.response.start`.
        """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self.begins(scope, message)
            await send(message)

        await self._app(scope, receive, sent)

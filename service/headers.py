"""Headers that tell browsers to be careful (OWASP Secure Headers). None allows other sites in."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Scope
from typing_extensions import override

from service.middleware import AnswerMiddleware

__all__ = ["SECURITY_HEADERS", "SecurityHeaders"]

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_PRIVATE = "/api/"


class SecurityHeaders(AnswerMiddleware):
    """Adds the headers to every answer that does not set them itself."""

    @override
    async def begins(self, scope: Scope, answer: Message) -> None:
        headers = MutableHeaders(scope=answer)
        for name, value in SECURITY_HEADERS.items():
            headers.setdefault(name, value)
        if scope["path"].startswith(_PRIVATE):
            headers.setdefault("Cache-Control", "no-store")

"""Keeps web pages of others away from a service that asks for no key."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.problems import problem_response

__all__ = ["SameOrigin"]

_SAFE = ("GET", "HEAD", "OPTIONS")
_PROBES = ("/healthz", "/readyz")  # containers are asked by whatever address they have


class SameOrigin:
    """Refuses what a browser sends on behalf of another site's page.

    A service on loopback needs no key, but every page that its user visits can make the browser
    send requests to it. Browsers name the page's origin in such requests; and a name that was
    re-bound to the loopback address shows in the Host header.

    Args:
        app: The application behind.
        hosts: Host names under which the service may be addressed; None for any.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None = None) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refusal = self._refusal(request)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            response = problem_response(request, 403, refusal)
            await response(scope, receive, send)

    def _refusal(self, request: Request) -> str | None:
        host = request.headers.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:  # such as a bracket that is not closed
            return "the Host header holds no host name; send the name or address of the service"
        is_probe = request.method in _SAFE and request.scope["path"] in _PROBES
        if self._hosts is not None and name not in self._hosts and not is_probe:
            return f"this service does not answer to the host name {name!r}"
        origin = request.headers.get("origin")
        if request.method not in _SAFE and origin and _host_of(origin) != host:
            return "requests from pages of other sites are not accepted"
        return None


def _host_of(origin: str) -> str | None:
    """Host and port of an origin; None where it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None

"""What each operation of the service needs."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from service.auth.access import permission_of
from service.auth.principal import Permission

__all__ = ["permissions"]


def permissions(app: FastAPI) -> dict[tuple[str, str], Permission | None]:
    """What each operation needs, None for nothing, by path and method.

    Raises:
        RuntimeError: A route does not say so, or says it twice.
    """
    return {
        (route.path_format or "", method): permission_of(route.original_route)
        for route in iter_route_contexts(app.routes)
        if route.path != app.openapi_url  # which FastAPI itself adds
        for method in sorted(route.methods or ())
    }

"""The REST service as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from service import problems
from service.auth.access import OPEN_TO_ALL, Access, admitted
from service.auth.audit import Audit
from service.auth.routes import permissions
from service.events.feed import EventFeed
from service.headers import SecurityHeaders
from service.openapi import answers, describe
from service.operations.measured import Measured
from service.origin import SameOrigin
from service.parameters import only_known_parameters
from service.reference import reference_page
from service.runtime import Runtime
from service.subscriptions.limits import SendingLimits
from service.version import VERSION

__all__ = ["attach", "create_app"]

PREFIX = "/api/v1"
PARTS = (
    "applications", "machines", "jobs", "results", "scripts", "trials", "tables", "drawings",
    "importance", "statistics", "fronts", "curves", "events", "exports", "measurements", "agents",
    "catalogue", "schemas", "auth", "projects", "subscriptions", "trash",
)  # fmt: skip
"""What is served under the prefix, each by `service.PART.endpoints`, in the order of the document.

A path goes to the first part that has it."""
DESCRIPTION = """\
Tunes MPI applications and the networks they run on, in simulation.

A *job* names an *application* (a built-in program or an uploaded trace), a *machine*, a search
space and a budget. Its *trials* are configurations evaluated in SimGrid; the best one is exported.

Times are seconds; points in time are seconds since the epoch (UTC). Every error is
`application/problem+json` (RFC 9457). Listings are pages: pass a page's `cursor` to get the next.
"""
TAGS = [
    {"name": "jobs", "description": "Tuning jobs and their life."},
    {"name": "trials", "description": "The configurations that a job tried."},
    {"name": "events", "description": "What happens in a job, as it happens."},
    {"name": "subscriptions", "description": "Who is told of jobs by webhook or e-mail."},
    {"name": "exports", "description": "The best configuration as files."},
    {"name": "applications", "description": "Traces that configurations replay."},
    {"name": "machines", "description": "Machine descriptions that jobs refer to."},
    {"name": "agents", "description": "Runs for agents on clusters, and what they came to."},
    {"name": "keys", "description": "Keys to a project, for its administrators."},
    {"name": "projects", "description": "What each project may use, and has used."},
    {"name": "audit", "description": "What was done in a project."},
    {"name": "session", "description": "Who one is to the service."},
    {"name": "metrics", "description": "What monitoring reads."},
    {"name": "service", "description": "The service itself."},
]


class Health(BaseModel):
    """Whether the service can do its work."""

    status: str
    version: str
    instance: str = Field(
        description="Of the process that answers: `server.json` of its data directory has the same."
    )


def create_app(
    runtime: Runtime,
    *,
    hosts: Sequence[str] | None = None,
    operator: bool = False,
    parts: Sequence[str] = PARTS,
) -> FastAPI:
    """The application over a runtime.

    Args:
        runtime: If it is not started, the application's lifespan starts and stops it.
        hosts: Host names under which it may be addressed; None for any.
        operator: It is called from this process alone, whose user needs no key.
        parts: What it serves beside the page and the service's own state; what it does not serve is
            not loaded, which takes a tenth of a second.

    Raises:
        RuntimeError: A route does not say who may ask.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        runtime: Runtime = app.state.runtime
        if runtime.started:
            yield
            return
        await run_in_threadpool(runtime.start)
        try:
            yield
        finally:
            app.state.feed.close()
            await run_in_threadpool(runtime.stop)

    app = _Described(
        title="Hamtune",
        version=VERSION,
        description=DESCRIPTION,
        openapi_url=f"{PREFIX}/openapi.json",
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    attach(app, runtime, operator=operator)
    problems.install(app)
    app.add_middleware(Audit)
    app.add_middleware(SameOrigin, hosts=hosts)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Measured)
    # Who asks comes before what they ask: `needs` of a route comes after these.
    api = APIRouter(prefix=PREFIX, dependencies=[Depends(admitted), Depends(only_known_parameters)])
    for part in parts:
        api.include_router(_router(f"service.{part}.endpoints"))
    app.include_router(api)
    app.include_router(_router("service.operations.endpoints"))
    app.include_router(_router("service.page.site"))
    _add_own_routes(app)
    permissions(app)  # refuses a route that does not say who may ask
    return app


def attach(app: FastAPI, runtime: Runtime, *, operator: bool = False) -> None:
    """Let an application serve a runtime, in place of that which it has served.

    Args:
        app: Of `create_app`.
        runtime: What it serves from now on.
        operator: See `create_app`.
    """
    app.state.runtime = runtime
    app.state.feed = EventFeed(lambda: runtime.storage)
    app.state.test_limits = SendingLimits()
    app.state.access = Access(runtime.settings.auth, operator=operator)


def _router(module: str) -> APIRouter:
    router = import_module(module).router
    assert isinstance(router, APIRouter)
    return router


class _Described(FastAPI):
    """FastAPI whose description holds what `service.openapi` adds."""

    def openapi(self) -> dict[str, Any]:
        return describe(self)


def _add_own_routes(app: FastAPI) -> None:
    @app.get(
        "/healthz",
        dependencies=[OPEN_TO_ALL],
        tags=["service"],
        operation_id="health",
        summary="Check the service",
        response_model=Health,
        responses=answers(
            {"status": "ok", "version": VERSION, "instance": "3f0c9a52d1b84e6f8a7d5c2b90e1f764"},
            description="The service works.",
        ),
    )
    def health() -> Health:
        """Answers 200 when the service runs and its database can be read."""
        runtime: Runtime = app.state.runtime
        runtime.storage.events.last_id()
        return Health(status="ok", version=VERSION, instance=runtime.instance)

    @app.get(f"{PREFIX}/docs", dependencies=[OPEN_TO_ALL], include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(reference_page(app.openapi()))

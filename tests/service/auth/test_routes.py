"""Each route says who may ask, or there is no service."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.responses import PlainTextResponse

from service.app import create_app
from service.auth.access import OPEN_TO_ALL, needs
from service.auth.principal import SCOPES, Permission
from service.auth.routes import permissions
from service.runtime import Runtime
from service.settings import Settings
from tests.service.auth.conftest import Guarded


def trash() -> None:
    """An endpoint."""


def test_what_is_said_is_what_is_needed() -> None:
    inner = APIRouter(prefix="/jobs")
    inner.get("/trash", dependencies=[needs("jobs", "read")])(trash)
    inner.delete("/trash", dependencies=[needs("jobs", "write")])(trash)
    whole = APIRouter(prefix="/v1")
    whole.include_router(inner)
    app = FastAPI(docs_url=None, redoc_url=None)
    app.include_router(whole)
    of_router = APIRouter(prefix="/audit", dependencies=[needs("audit", "admin")])
    of_router.get("/old")(trash)
    app.include_router(of_router)
    app.get("/alive", dependencies=[OPEN_TO_ALL])(trash)
    assert permissions(app) == {
        ("/v1/jobs/trash", "GET"): Permission("jobs", "read"),
        ("/v1/jobs/trash", "DELETE"): Permission("jobs", "write"),
        ("/audit/old", "GET"): Permission("audit", "admin"),
        ("/alive", "GET"): None,
    }


def silent(router: APIRouter) -> None:
    router.post("/trash", tags=["jobs"])(trash)


def twice(router: APIRouter) -> None:
    router.post("/trash", dependencies=[needs("jobs", "write"), needs("jobs", "read")])(trash)


def open_and_closed(router: APIRouter) -> None:
    router.post("/trash", dependencies=[OPEN_TO_ALL, needs("jobs", "write")])(trash)


def past_the_dependencies(router: APIRouter) -> None:
    async def trash(request: object) -> PlainTextResponse:
        return PlainTextResponse("taken out")

    router.add_route("/trash", trash, methods=["POST"])


@pytest.mark.parametrize(
    ("add", "said"),
    [
        (silent, "nowhere"),
        (twice, "twice"),
        (open_and_closed, "twice"),
        (past_the_dependencies, "nowhere"),
    ],
)
def test_a_route_that_does_not_say_it_once_is_refused(
    add: Callable[[APIRouter], None], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("service.trash.endpoints")
    router = APIRouter(prefix="/jobs")
    add(router)
    monkeypatch.setattr(module, "router", router, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    told = rf"the route POST \S*/trash says {said} who may ask; give it dependencies=\[needs\("
    with pytest.raises(RuntimeError, match=told):
        create_app(Runtime(Settings.under(tmp_path)), parts=["jobs", "trash"])


def test_the_description_of_the_service_says_what_each_operation_needs(guarded: Guarded) -> None:
    app = guarded.client.app
    assert isinstance(app, FastAPI)
    needed = permissions(app)
    for path, item in app.openapi()["paths"].items():
        for method, operation in item.items():
            permission = needed[path, method.upper()]
            assert operation.get("x-permission") == (permission and permission.scope), path
            assert ("security" in operation) == (permission is not None), path
    assert app.openapi()["paths"]["/api/v1/jobs"]["post"]["x-permission"] == "jobs:write"
    assert "Needs <code>jobs:write</code>" in guarded.client.get("/api/v1/docs").text
    assert {permission.scope for permission in needed.values() if permission} >= set(SCOPES)

"""Whatever route there is or will be: none does anything for those who may not."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route

from searchspace.configuration import Configuration
from service.auth import tokens
from storage.proposal import Proposal
from storage.records import Outcome
from tests.service.auth.conftest import Guarded
from tests.service.conftest import SPEC

OPEN = {"/healthz", "/readyz", "/api/v1/openapi.json", "/api/v1/docs", "/", "/assets/{name}"}
"""What needs no key: it shows nothing of anybody. The page asks for a key itself."""
OWN_LISTINGS = {
    "/jobs", "/applications", "/machines", "/keys", "/audit", "/session", "/subscriptions",
}  # fmt: skip
"""Without an id in their address: they show the caller's own."""


def routes(app: FastAPI) -> Iterator[tuple[str, str, Route]]:
    """Method, path and route of all that needs a key, from the application itself."""

    def all_of(routes: Sequence[BaseRoute], prefix: str) -> Iterator[tuple[str, Route]]:
        for route in routes:
            if isinstance(route, Route):
                yield prefix + route.path_format, route
            else:  # a router, as FastAPI includes them
                inner: Any = route
                yield from all_of(
                    inner.original_router.routes, prefix + inner.include_context.prefix
                )

    found = list(all_of(app.routes, ""))
    assert set(app.openapi()["paths"]) <= {path for path, _ in found}
    for path, route in found:
        for method in sorted((route.methods or set()) - {"HEAD", "OPTIONS"}):
            if path not in OPEN:
                yield method, path, route


def their_things(storage: Any) -> dict[str, str]:
    """One of each thing, in another project: what stands in addresses."""
    storage.projects.add("theirs")
    share = storage.of_project("theirs")
    application = share.applications.add_source(
        name="solver", key="source:1", recipe={"source_sha256": "1" * 64}, ranks=2
    )
    machine = share.machines.add(name="m", description={"nodes": 4})
    job = share.jobs.create(name="j", spec={}, seed=1, application_id=application.id)
    key = share.keys.add(
        name="k", role="viewer", scopes=(), sha256="0" * 64, expires_at=None, created_by="t"
    )
    subscription = share.subscriptions.add(
        kind="webhook",
        target="https://example.org/hook",
        secret="whsec_AAAA",
        events=["completed"],
        pause_seconds=60.0,
        owner="t",
        job_id=job.id,
    )
    leased = storage.leases.acquire("me", 60.0, job.id)
    configuration = Configuration({"topology": "random", "topology_seed": 1})
    trial = storage.trials.propose(
        job.id,
        leased.lease_token,
        Proposal.of(
            configuration,
            number=1,
            kind="search",
        ),
    )
    storage.trials.settle(trial.id, leased.lease_token, Outcome(status="completed", value=1.0))
    return {
        "job_id": job.id,
        "application_id": application.id,
        "machine_id": machine.id,
        "key_id": key.id,
        "subscription_id": subscription.id,
        "number": "1",
        "log": "build",
        "format_name": "json",
    }


def test_nobody_passes_without_a_valid_key(guarded: Guarded) -> None:
    storage, client = guarded.storage, guarded.client
    things = their_things(storage)
    good = guarded.key("theirs")["Authorization"].removeprefix("Bearer ")
    key_id, secret = tokens.split(good) or ("", "")
    revoked = guarded.key("theirs")
    storage.keys.revoke((tokens.split(revoked["Authorization"][7:]) or [""])[0])
    expired = guarded.key("theirs", expires_in=0.001)
    time.sleep(0.01)
    wrong: dict[str, dict[str, str]] = {
        "nothing": {},
        "no bearer": {"Authorization": f"Basic {good}"},
        "no key": {"Authorization": "Bearer ht_"},
        "another secret": {"Authorization": f"Bearer {tokens.compose(key_id, 'A' * 43)}"},
        "another id": {"Authorization": f"Bearer {tokens.compose('0' * 16, secret)}"},
        "revoked": revoked,
        "expired": expired,
    }
    guarded.client.app.state.access._failures._burst = 1e9  # type: ignore[attr-defined]
    before = _all_of(storage, "theirs")
    asked = 0
    for method, path, _ in routes(client.app):  # type: ignore[arg-type]
        path = path.format_map(_Things(things))
        for name, headers in wrong.items():
            answer = client.request(method, path, headers=headers)
            assert answer.status_code == 401, f"{method} {path} with {name}: {answer.text}"
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.headers["content-type"] == "application/problem+json"
            assert secret not in answer.text
            asked += 1
    assert asked > 150
    assert _all_of(storage, "theirs") == before


def test_another_projects_key_finds_nothing(guarded: Guarded) -> None:
    things = their_things(guarded.storage)
    headers = guarded.key("ours")
    before = _all_of(guarded.storage, "theirs")
    asked = set()
    for method, path, _ in routes(guarded.client.app):  # type: ignore[arg-type]
        if "{" not in path:
            continue
        path = path.format_map(_Things(things))
        answer = guarded.client.request(method, path, headers=headers)
        assert answer.status_code == 404, f"{method} {path}: {answer.status_code} {answer.text}"
        asked.add(path)
    assert len(asked) > 10
    assert _all_of(guarded.storage, "theirs") == before


def test_listings_show_ones_own(guarded: Guarded) -> None:
    their_things(guarded.storage)
    theirs = guarded.key("theirs")
    ours = guarded.key("ours")
    listings = {
        path.removeprefix("/api/v1")
        for method, path, _ in routes(guarded.client.app)  # type: ignore[arg-type]
        if method == "GET" and "{" not in path
    }
    assert listings >= OWN_LISTINGS
    for path in sorted(OWN_LISTINGS - {"/session"}):
        shown = guarded.client.get(f"/api/v1{path}", headers=ours).json()["items"]
        assert len(shown) == (1 if path == "/keys" else 0), path
    for path in ("/jobs", "/applications", "/machines"):
        assert len(guarded.client.get(f"/api/v1{path}", headers=theirs).json()["items"]) == 1


def test_a_job_cannot_name_what_others_have(guarded: Guarded) -> None:
    things = their_things(guarded.storage)
    headers = guarded.key("ours")
    for part, field in (("application", "application_id"), ("machine", "machine_id")):
        spec = {**SPEC, part: {"id": things[field]}}
        answer = guarded.client.post("/api/v1/jobs", json=spec, headers=headers)
        assert answer.status_code == 422
        assert f"there is no {part}" in answer.json()["detail"]
    recipe = {"source": "1" * 64, "build": "make", "run": "bin/solver", "ranks": "2"}
    answer = guarded.client.post("/api/v1/applications", headers=headers, files=_form(recipe))
    assert answer.status_code == 422
    assert "there is no source tree" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("role", "scopes", "allowed"),
    [
        ("viewer", [], {"read"}),
        ("submitter", [], {"read", "write"}),
        ("admin", [], {"read", "write", "admin"}),
        ("admin", ["jobs:read"], {"jobs:read"}),
        ("submitter", ["machines:write"], {"machines:read", "machines:write"}),
        ("viewer", ["metrics:read"], {"metrics:read"}),
    ],
)
def test_roles_and_scopes_limit_what_a_key_may(
    guarded: Guarded, role: str, scopes: list[str], allowed: set[str]
) -> None:
    headers = guarded.key("ours", role, scopes=scopes)
    own = ("trials", "events", "exports", "figures", "subscriptions")
    nouns = dict.fromkeys(own, "jobs")
    for method, path, route in routes(guarded.client.app):  # type: ignore[arg-type]
        assert isinstance(route, APIRoute)
        tag = str(route.tags[0])
        noun = nouns.get(tag, tag)
        reads = method == "GET" or route.operation_id == "export_job_for_hosts"
        level = "admin" if noun in ("keys", "audit") else "read" if reads else "write"
        path = path.format_map(_Things({}))
        answer = guarded.client.request(method, path, headers=headers)
        of_all = noun in ("service", "session") and level == "read"
        may = of_all or level in allowed or f"{noun}:{level}" in allowed
        if noun == "metrics":
            may = "metrics:read" in scopes
        assert (answer.status_code != 403) == may, f"{method} {path}: {answer.text}"


def _form(fields: dict[str, str]) -> list[tuple[str, tuple[None, str]]]:
    return [(name, (None, value)) for name, value in fields.items()]


def _all_of(storage: Any, project: str) -> Any:
    share = storage.of_project(project)
    return (
        share.jobs.page().items,
        share.machines.page().items,
        share.applications.page().items,
        share.subscriptions.page().items,
        [replace(key, used_at=None) for key in share.keys.page().items],
    )


class _Things(dict[str, str]):
    """What stands in addresses; of what is not listed, something that could be."""

    def __missing__(self, name: str) -> str:
        return "1" if name in ("number", "place") else "build" if name == "log" else "0" * 16

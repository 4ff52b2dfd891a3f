"""What agents tell is refused where it could not be kept or shown: over both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from service.agents.schemas import OUTCOME_EXAMPLE, VALIDATION_EXAMPLE, WISH_EXAMPLE
from service.app import create_app
from service.auth.principal import LOCAL
from service.auth.service import create
from service.runtime import Runtime
from service.settings import Settings
from storage.proposal import Proposal
from storage.records import Outcome
from tests.service.conftest import SPEC

WORK = "/api/v1/agents/work"
NUL = "a\0b"
FAILED = {"kind": "crash", "message": "killed"}


@pytest.fixture(params=["sqlite", "postgresql"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a service over that kind of database."""
    environment = {"HAMTUNE_DATA": str(tmp_path / "data")}
    if request.param == "postgresql":
        environment["HAMTUNE_DATABASE_URL"] = request.getfixturevalue("create_database")()
    with Runtime(Settings.from_environment(environment), run=False) as runtime:
        yield TestClient(create_app(runtime), raise_server_exceptions=False)


@pytest.fixture
def measured(client: TestClient) -> str:
    """Where it is told what was measured of a job."""
    return f"/api/v1/jobs/{client.post('/api/v1/jobs', json=SPEC).json()['id']}/measured"


def told(**changes: Any) -> dict[str, Any]:
    """A validation of the defaults, whose only run is changed so."""
    outcome = {**OUTCOME_EXAMPLE, **changes}
    return {**VALIDATION_EXAMPLE, "trial": None, "outcomes": [outcome]}


def test_what_is_measured_is_kept(client: TestClient, measured: str) -> None:
    assert client.post(measured, json=told()).status_code == 201
    failed = told(seconds=None, reason=FAILED)
    assert client.post(measured, json=failed).status_code == 201
    runs = [one["runs"][0] for one in client.get(measured).json()["items"]]
    assert [(one["seconds"], one["reason"]) for one in runs] == [(1.31, None), (None, FAILED)]


def test_whatever_a_program_says_is_kept(client: TestClient, measured: str) -> None:
    """Its words must not cost the outcome of a run."""
    failed = told(seconds=None, doubts=[NUL], reason=FAILED | {"message": NUL}, origin={"mpi": NUL})
    assert client.post(measured, json=failed).status_code == 201
    ((run,),) = (one["runs"] for one in client.get(measured).json()["items"])
    assert (run["doubts"], run["reason"]["message"], run["origin"]) == ([NUL], NUL, {"mpi": NUL})


@pytest.mark.parametrize(
    ("field", "document"),
    [
        ("label", told() | {"label": NUL}),
        ("cluster", told() | {"cluster": NUL}),
        ("trial", told() | {"trial": 2**31}),
        ("trial", told() | {"trial": 10**30}),
    ],
)
def test_what_no_table_holds_is_refused(
    client: TestClient, measured: str, field: str, document: dict[str, Any]
) -> None:
    refused = client.post(measured, json=document)
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["field"] == field
    assert client.get(measured).json()["items"] == []


@pytest.mark.parametrize("field", ["agent", "cluster", "testbed"])
def test_names_that_no_table_holds_are_refused(client: TestClient, field: str) -> None:
    refused = client.post(WORK, json={**WISH_EXAMPLE, field: NUL})
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["field"] == field


def test_an_origin_is_either_shown_or_refused(client: TestClient, measured: str) -> None:
    """What is nested deeper than an answer can be would hide all that was measured of the job."""
    origin: dict[str, Any] = {}
    for _ in range(300):
        origin = {"of": origin}
    assert client.post(measured, json=told(origin=origin)).status_code == 400
    assert client.get(measured).status_code == 200
    origin = {}
    for _ in range(60):
        origin = {"of": origin}
    assert client.post(measured, json=told(origin=origin)).status_code == 201
    (one,) = client.get(measured).json()["items"]
    assert one["runs"][0]["origin"] == origin


def test_absurd_times_are_refused(client: TestClient, measured: str) -> None:
    assert client.post(measured, json=told(seconds=1e300)).status_code == 422
    absurd = {**told(), "simulated": 1e300}
    assert client.post(measured, json=absurd).status_code == 422


def test_what_is_done_to_a_path_with_a_nul_is_written_down(client: TestClient) -> None:
    """No text column of PostgreSQL holds it."""
    app = client.app
    assert isinstance(app, FastAPI)
    storage = app.state.runtime.storage
    app.state.access.open = False
    _, key = create(storage, LOCAL, {"name": "n", "role": "admin", "project": "default"})
    headers = {"Authorization": f"Bearer {key}"}
    assert client.delete("/api/v1/jobs/a%00b", headers=headers).status_code in (404, 422)
    assert storage.audit.page().items[0].target == "/api/v1/jobs/a%00b"


def test_why_a_trial_failed_is_told_whatever_it_printed(client: TestClient) -> None:
    app = client.app
    assert isinstance(app, FastAPI)
    storage = app.state.runtime.storage
    job = client.post("/api/v1/jobs", json=SPEC).json()["id"]
    leased = storage.leases.acquire("test", 60.0, job)
    for state in ("preparing", "running"):
        storage.jobs.transition(job, state, token=leased.lease_token)
    proposal = Proposal(number=1, kind="search", configuration={}, configuration_sha256="x")
    trial = storage.trials.propose(job, leased.lease_token, proposal)
    failed = Outcome(status="failed", reason={"kind": "crash", "message": "segv\0 in foo"})
    storage.trials.settle(trial.id, leased.lease_token, failed)
    assert client.get("/api/v1/jobs").status_code == 200

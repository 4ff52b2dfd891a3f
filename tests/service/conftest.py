"""A service over a real storage in which nothing runs: tests put trials in by themselves."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from benchmarks.machines import designed
from searchspace.configuration import Configuration
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from service.app import attach, create_app
from service.runtime import Runtime
from service.settings import Settings
from storage.proposal import Proposal
from storage.records import Outcome, OutlookPoint
from storage.storage import Storage

SPEC: dict[str, Any] = {
    "name": "cg-16",
    "application": {"builtin": "cg", "class": "S", "ranks": 16},
    "machine": designed(16, 4),
    "search": {"topology": ["random", "torus-2d"], "ordering": ["original", "hamorder"]},
    "budget": {"trials": 20},
    "seed": 1,
}


@pytest.fixture
def spec() -> dict[str, Any]:
    """A job file that is accepted."""
    return copy.deepcopy(SPEC)


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    """Storage in an empty directory; uploads up to 64 KiB."""
    settings = replace(Settings.under(tmp_path / "data"), upload_limit=64 * 1024)
    with Runtime(settings, run=False) as started:
        yield started


@pytest.fixture
def storage(runtime: Runtime) -> Storage:
    """The storage behind the client."""
    return runtime.storage


@cache
def _app() -> FastAPI:
    """Of all clients, one after the other: to make its routes takes a tenth of a second."""
    return create_app(Runtime(Settings.under(Path("unused")), run=False))


@pytest.fixture
def client(runtime: Runtime) -> TestClient:
    """A client of the service; failures of the server are answers, as over a network."""
    app = _app()
    attach(app, runtime)
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def create_job(client: TestClient) -> Callable[..., str]:
    """Creates a job with the given changes to its file; answers its id."""

    def create(**changes: Any) -> str:
        response = client.post("/api/v1/jobs", json={**SPEC, **changes})
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    return create


@pytest.fixture
def add_trials(storage: Storage) -> Callable[..., None]:
    """Gives a job trials with the outcomes told, as a coordinator would."""

    def add(
        job_id: str,
        *outcomes: Outcome | None,
        baselines: tuple[str, ...] = (),
        truncated: bool = False,
    ) -> None:
        job = storage.leases.acquire("test", 600.0, job_id)
        assert job is not None
        if job.state == "queued":
            storage.jobs.transition(job_id, "running", token=job.lease_token)
        for number, outcome in enumerate(outcomes, start=1):
            label = baselines[number - 1] if number <= len(baselines) else None
            # The space of the standard job has the torus, but not the mesh.
            configuration = Configuration({"topology": "random", "topology_seed": number})
            trial = storage.trials.propose(
                job_id,
                job.lease_token,
                Proposal.of(
                    configuration,
                    number=number,
                    kind="search" if label is None else "baseline",
                    label=label,
                    inside=label != "mesh-2d" and not truncated,
                    technique=None if label else "PureRandom",
                ),
            )
            if outcome is not None:
                storage.trials.settle(trial.id, job.lease_token, outcome)
        storage.leases.release(job_id, job.lease_token)

    return add


def expecting(storage: Storage, job_id: str) -> str:
    """Have a job run, whose search has had two models."""
    leased = storage.leases.acquire("test", 600.0, job_id)
    assert leased is not None
    storage.jobs.transition(job_id, "running", token=leased.lease_token)
    proposals = [
        Proposal(number=n, kind="search", configuration={}, configuration_sha256=f"{n:064x}")
        for n in (1, 2)
    ]
    outlooks = [OutlookPoint(1, 0.8, 0.05), OutlookPoint(2, 0.1, 0.002)]
    storage.trials.propose_several(job_id, leased.lease_token, proposals, outlooks)
    return job_id


def write_pair(path: Path) -> None:
    """Write a trace of two ranks that compute and meet."""
    operations = (
        encode("compute", flops=1e6)
        + encode("allreduce", comm=0, count=8, size=8, flags=0)
        + encode("finalize")
    )
    write_trace(path, TraceHeader(ranks=2, program="pair"), [operations, operations])


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace of two ranks that compute and meet."""
    path = tmp_path / "pair.ht"
    write_pair(path)
    return path


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory for temporary files; nothing may be left in it."""
    directory = tmp_path / "scratch"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert list(directory.iterdir()) == []

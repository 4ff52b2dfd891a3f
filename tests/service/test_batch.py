"""The trials in flight of a job are decided when it is created."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fastapi.testclient import TestClient

from service.runtime import Runtime
from storage.storage import Storage


def test_auto_is_what_the_workers_of_that_moment_evaluate_at_once(
    create_job: Callable[..., str], client: TestClient, storage: Storage
) -> None:
    for name, slots in (("w1", 3), ("w2", 4)):
        storage.processes.register(name, "worker", version="1", contract=1, concurrency=slots)
    job_id = create_job(batch="auto")
    storage.processes.forget("w2")
    assert storage.jobs.get(job_id).spec["batch"] == 7
    clone = client.post(f"/api/v1/jobs/{job_id}/clone", json={"batch": "auto"}).json()
    assert clone["spec"]["batch"] == 3


def test_without_workers_of_its_own_it_is_what_the_service_evaluates_at_once(
    create_job: Callable[..., str], runtime: Runtime, storage: Storage
) -> None:
    runtime.settings = replace(runtime.settings, concurrency=5)
    assert storage.jobs.get(create_job(batch="auto")).spec["batch"] == 5


def test_a_repeated_request_finds_its_job_though_workers_came_and_went(
    client: TestClient, storage: Storage, spec: dict[str, Any]
) -> None:
    body, headers = {**spec, "batch": "auto"}, {"Idempotency-Key": "k"}
    storage.processes.register("w", "worker", version="1", contract=1, concurrency=3)
    first = client.post("/api/v1/jobs", json=body, headers=headers)
    storage.processes.forget("w")
    again = client.post("/api/v1/jobs", json=body, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["spec"]["batch"] == 3
    other = client.post("/api/v1/jobs", json={**body, "seed": 2}, headers=headers)
    assert other.status_code == 409

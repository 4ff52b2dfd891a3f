"""What projects may use, over the REST interface."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from service.app import create_app
from service.auth.principal import LOCAL
from service.problems import ProblemError
from service.projects.endpoints import change_project
from service.runtime import Runtime
from service.settings import Settings
from storage.proposal import Proposal
from storage.records import Outcome, TrialKind
from tests.service.auth.conftest import Guarded
from tests.service.conftest import SPEC


def operator(guarded: Guarded) -> TestClient:
    """The service as its operator calls it, beside its database."""
    application: Any = guarded.client.app
    runtime: Runtime = application.state.runtime
    return TestClient(create_app(runtime, operator=True))


def test_an_operator_sets_what_a_project_may_use(guarded: Guarded) -> None:
    headers = guarded.key("ours")
    client = operator(guarded)

    changed = client.patch(
        "/api/v1/projects/ours", json={"weight": 2, "quotas": {"jobs": 1, "cpu_seconds": 10}}
    ).json()
    again = client.patch("/api/v1/projects/ours", json={"quotas": {"cpu_seconds": None}}).json()

    assert changed["weight"] == 2.0
    assert changed["quotas"] == {
        "jobs": 1, "trials": None, "cpu_seconds": 10.0, "storage_bytes": None,
    }  # fmt: skip
    assert (again["weight"], again["quotas"]["jobs"]) == (2.0, 1)
    assert again["quotas"]["cpu_seconds"] is None
    assert guarded.client.get("/api/v1/projects/ours", headers=headers).json() == again
    names = [one["name"] for one in client.get("/api/v1/projects").json()["items"]]
    assert names == ["default", "ours"]


def test_a_projects_own_administrator_sees_but_does_not_set(guarded: Guarded) -> None:
    guarded.key("theirs")
    headers = guarded.key("ours", "admin")
    listed = guarded.client.get("/api/v1/projects", headers=headers).json()["items"]
    assert [one["name"] for one in listed] == ["ours"]
    refused = guarded.client.patch("/api/v1/projects/ours", json={"weight": 9}, headers=headers)
    assert refused.status_code == 403
    assert "only the operator" in refused.json()["detail"]
    assert guarded.client.get("/api/v1/projects/theirs", headers=headers).status_code == 404


def test_the_storage_of_all_projects_alone_makes_nobody_an_operator(guarded: Guarded) -> None:
    guarded.key("ours")
    somebody = replace(LOCAL, operator=False, project="ours")
    settings = Settings.under(Path("nowhere"))
    asked = change_project("ours", Request({"type": "http"}), guarded.storage, somebody, settings)
    with pytest.raises(ProblemError, match="only the operator"):
        asyncio.run(asked)


def test_wrong_quotas_are_named(guarded: Guarded) -> None:
    client = operator(guarded)
    for document, field in (
        ({"weight": 0}, "weight"),
        ({"priority": "urgent"}, "priority"),
        ({"quotas": {"jobs": -1}}, "quotas.jobs"),
        ({"quotas": {"memory": 1}}, "quotas.memory"),
    ):
        answer = client.patch("/api/v1/projects/default", json=document)
        assert answer.status_code == 422
        assert [one["field"] for one in answer.json()["errors"]] == [field]


def test_a_quota_refuses_a_job_and_says_which_and_what_to_do(guarded: Guarded) -> None:
    headers = guarded.key("ours")
    client = operator(guarded)
    client.patch("/api/v1/projects/ours", json={"quotas": {"jobs": 1}})

    first = guarded.client.post("/api/v1/jobs", json=SPEC, headers=headers)
    second = guarded.client.post("/api/v1/jobs", json=SPEC, headers=headers)

    assert first.status_code == 201
    assert second.status_code == 403
    assert second.json()["type"] == "urn:problem:hamtune:forbidden"
    assert second.json()["detail"] == (
        "project ours has 1 of the 1 jobs that it may have unfinished: wait until one has ended, "
        "cancel one, or ask the operator of the service for more"
    )


def test_a_job_paused_by_a_quota_says_so_and_is_not_resumed_before_it_is_raised(
    guarded: Guarded,
) -> None:
    headers = guarded.key("ours")
    storage, client = guarded.storage, operator(guarded)
    job = guarded.client.post("/api/v1/jobs", json=SPEC, headers=headers).json()
    assert (job["priority"], job["queue_position"], job["estimated_end"]) == ("normal", 0, None)
    leased = storage.leases.acquire("c", 60.0)
    assert leased is not None
    storage.jobs.transition(job["id"], "running", token=leased.lease_token)
    trial = storage.trials.propose(
        job["id"],
        leased.lease_token,
        Proposal(number=1, kind="search", configuration={}, configuration_sha256="0" * 64),
    )
    done = Outcome(status="failed", cpu_seconds=30.0)
    storage.trials.settle(trial.id, leased.lease_token, done)
    client.patch("/api/v1/projects/ours", json={"quotas": {"cpu_seconds": 20}})
    storage.jobs.transition(
        job["id"], "pausing", paused_because="project ours has used 30 of its 20"
    )
    storage.jobs.transition(job["id"], "paused")

    where = f"/api/v1/jobs/{job['id']}"
    shown = guarded.client.get(where, headers=headers).json()
    assert (shown["state"], shown["paused_because"]) == (
        "paused",
        "project ours has used 30 of its 20",
    )
    refused = guarded.client.post(f"{where}/resume", headers=headers)
    assert refused.status_code == 403
    assert "has used 30 of its 20 CPU seconds" in refused.json()["detail"]
    client.patch("/api/v1/projects/ours", json={"quotas": {"cpu_seconds": 100}})
    resumed = guarded.client.post(f"{where}/resume", headers=headers).json()
    assert (resumed["state"], resumed["paused_because"]) == ("queued", None)


def test_a_project_sees_the_result_of_its_job_and_no_other_does(guarded: Guarded) -> None:
    ours, theirs = guarded.key("ours"), guarded.key("theirs")
    storage = guarded.storage
    job = guarded.client.post("/api/v1/jobs", json=SPEC, headers=ours).json()
    leased = storage.leases.acquire("c", 60.0)
    assert leased is not None
    storage.jobs.transition(job["id"], "running", token=leased.lease_token)
    kinds: tuple[TrialKind, ...] = ("search", "comparison")
    for number, kind in enumerate(kinds, start=1):
        trial = storage.trials.propose(
            job["id"],
            leased.lease_token,
            Proposal(
                number=number,
                kind=kind,
                inside=kind == "search",
                configuration={"topology": "torus-2d"},
                configuration_sha256="0" * 64,
            ),
        )
        done = Outcome(status="completed", value=float(number))
        storage.trials.settle(trial.id, leased.lease_token, done)

    where = f"/api/v1/jobs/{job['id']}/best"
    best = guarded.client.get(where, headers=ours).json()
    assert (best["trial"], [one["fluid"] for one in best["comparisons"]]) == (1, [2.0])
    assert guarded.client.get(where, headers=theirs).status_code == 404


def test_a_project_asks_for_trials_sees_them_run_and_tells_them(guarded: Guarded) -> None:
    ours, theirs = guarded.key("ours"), guarded.key("theirs")
    viewer = guarded.key("ours", "viewer")
    storage, client = guarded.storage, guarded.client
    spec = {**SPEC, "external": "measurements"}
    job = client.post("/api/v1/jobs", json=spec, headers=ours).json()
    leased = storage.leases.acquire("c", 60.0)
    assert leased is not None
    storage.jobs.transition(job["id"], "running", token=leased.lease_token)
    storage.trials.propose(
        job["id"],
        leased.lease_token,
        Proposal(
            number=1,
            kind="search",
            configuration={"topology": "torus-2d"},
            configuration_sha256="0" * 64,
        ),
    )
    where, wish = f"/api/v1/jobs/{job['id']}", {"asker": "n1"}
    assert client.post(f"{where}/ask", json=wish, headers=theirs).status_code == 404
    assert client.post(f"{where}/ask", json=wish, headers=viewer).status_code == 403
    asked = client.post(f"{where}/ask", json=wish, headers=ours).json()["items"]
    assert [one["trial"] for one in asked] == [1]
    (running,) = client.get(f"{where}/trials/running", headers=viewer).json()
    assert (running["trial"], running["worker"]) == (1, "n1")

    tell, told = f"{where}/trials/1/tell", {"attempt": 1, "value": 1.5}
    assert client.post(tell, json=told, headers=theirs).status_code == 404
    assert client.post(tell, json=told, headers=viewer).status_code == 403
    assert client.post(tell, json=told, headers=ours).json()["value"] == 1.5


def test_an_upload_that_does_not_fit_is_refused(guarded: Guarded) -> None:
    headers = guarded.key("ours")
    operator(guarded).patch("/api/v1/projects/ours", json={"quotas": {"storage_bytes": 10}})
    recipe = {"build": "make", "run": "bin/solver", "ranks": "2"}
    answer = guarded.client.post(
        "/api/v1/applications",
        headers=headers,
        data=recipe,
        files={"source": ("s.tar.gz", b"x" * 11)},
    )
    assert answer.status_code == 403
    assert "stores 0 B of the 10 B that it may" in answer.json()["detail"]


def test_a_job_learns_from_no_other_projects_job_nor_hears_of_it(guarded: Guarded) -> None:
    theirs = guarded.client.post("/api/v1/jobs", json=SPEC, headers=guarded.key("theirs")).json()
    ours = guarded.key("ours")
    answers = [
        guarded.client.post(path, json={**SPEC, "learn_from": [named]}, headers=ours)
        for path in ("/api/v1/jobs", "/api/v1/jobs/check")
        for named in (theirs["id"], "1aaaaaaaaaaaaaaa")
    ]
    assert {answer.status_code for answer in answers} == {422}
    told = [answer.json()["errors"] for answer in answers]
    assert {one["field"] for (one,) in told} == {"learn_from[0]"}
    assert len({one["message"].split(" job ")[0] for (one,) in told}) == 1


def test_a_key_lists_jobs_whose_finalists_are_measured(guarded: Guarded) -> None:
    headers = guarded.key("ours")
    search = {"mapping": ["by-order", "cyclic"], "target": "openmpi-4.1"}
    ring = [[host, (host + 1) % 16] for host in range(16)]
    machine = {**SPEC["machine"], "topology": {"edges": ring}}
    finalists = {"measure": 2, "on": "agent"}
    job = {**SPEC, "machine": machine, "search": search, "finalists": finalists}
    created = guarded.client.post("/api/v1/jobs", json=job, headers=headers)
    assert created.status_code == 201, created.text
    listed = guarded.client.get("/api/v1/jobs", headers=headers)
    assert [one["id"] for one in listed.json()["items"]] == [created.json()["id"]]

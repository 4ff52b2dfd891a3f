"""Work of agents is for keys that may ask for it, and of their own project alone."""

from __future__ import annotations

from typing import Any

import pytest

from service.agents.schemas import OUTCOME_EXAMPLE, WISH_EXAMPLE
from storage.measured_records import NewMeasured
from tests.service.auth.conftest import Guarded
from tests.service.conftest import SPEC

WORK = "/api/v1/agents/work"
SETTINGS: dict[str, Any] = {
    "measure": 1, "repetitions": 2, "seconds": 100.0, "wait": 50.0, "application": "is",
    "library": "openmpi", "target": "openmpi-4.1", "testbed": None,
}  # fmt: skip


def waiting_job(guarded: Guarded, project: str = "ours") -> str:
    """A job of a project, one configuration of which is to be measured."""
    storage = guarded.storage
    made = guarded.client.post("/api/v1/jobs", json=SPEC, headers=guarded.key(project)).json()
    job_id = str(made["id"])
    application = storage.applications.add_source(
        name="is", key=job_id, recipe={"source_sha256": "1" * 64}, ranks=4
    )
    leased = storage.leases.acquire("me", 60.0, job_id)
    assert leased is not None
    token = leased.lease_token
    storage.jobs.transition(job_id, "preparing", token=token)
    storage.jobs.set_prepared(job_id, application_id=application.id, space={})
    storage.jobs.transition(job_id, "running", token=token)
    storage.measured_runs.open_measuring(
        job_id, token, SETTINGS, [NewMeasured(label="defaults")], None
    )
    storage.measured_runs.settle_entered(
        job_id, {1: ("open", {"ranks": 4, "hosts": None, "settings": {}})}
    )
    return job_id


@pytest.mark.parametrize(
    ("role", "scopes", "status"),
    [
        ("submitter", ["agents:write"], 200),
        ("submitter", [], 200),
        ("submitter", ["jobs:write"], 403),
        ("admin", ["jobs:read", "machines:write"], 403),
        ("viewer", [], 403),
    ],
)
def test_work_is_for_keys_with_its_scope(
    guarded: Guarded, role: str, scopes: list[str], status: int
) -> None:
    job_id = waiting_job(guarded)
    key = guarded.key(role=role, scopes=scopes)
    answer = guarded.client.post(WORK, json=WISH_EXAMPLE, headers=key)
    assert answer.status_code == status, answer.text
    if status == 200:
        assert (answer.json()["job"], answer.json()["number"]) == (job_id, 1)
    else:
        assert not guarded.storage.measured_runs.configurations(job_id)[0].runs


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer ht_wrong"}, "revoked"])
def test_without_a_key_that_counts_there_is_none(guarded: Guarded, header: Any) -> None:
    job_id = waiting_job(guarded)
    if header == "revoked":
        header = guarded.key(role="submitter")
        (made,) = (
            one
            for one in guarded.client.get("/api/v1/keys", headers=guarded.key()).json()["items"]
            if one["name"] == "submitter"
        )
        guarded.client.delete(f"/api/v1/keys/{made['id']}", headers=guarded.key())
    assert guarded.client.post(WORK, json=WISH_EXAMPLE, headers=header).status_code == 401
    assert not guarded.storage.measured_runs.configurations(job_id)[0].runs


def test_jobs_of_other_projects_are_not_measured_nor_told_of(guarded: Guarded) -> None:
    job_id = waiting_job(guarded)
    ours, theirs = (guarded.key(project, "submitter") for project in ("ours", "theirs"))
    assert guarded.client.post(WORK, json=WISH_EXAMPLE, headers=theirs).status_code == 204
    assert guarded.client.post(WORK, json=WISH_EXAMPLE, headers=ours).status_code == 200
    run = f"/api/v1/agents/runs/{job_id}/1/1"
    outcome = {"seconds": 1.0, "doubts": []}
    assert guarded.client.post(f"{run}/beat", headers=theirs).status_code == 404
    told = guarded.client.post(f"{run}/outcome", json=outcome, headers=theirs)
    assert told.status_code == 404
    told = guarded.client.post(f"{run}/outcome", json=OUTCOME_EXAMPLE, headers=ours)
    assert (told.status_code, told.json()["state"]) == (200, "counted")

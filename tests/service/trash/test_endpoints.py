"""Deleting and restoring over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.runtime import Runtime
from service.settings import Settings
from tests.service.auth.conftest import Guarded
from tests.service.conftest import SPEC
from tests.service.seeded import seed

URL = "/api/v1/jobs"


@pytest.fixture
def ended(client: TestClient, create_job: Callable[..., str]) -> str:
    """A cancelled job with a tag, archived."""
    job_id = create_job(name="ended")
    client.post(f"{URL}/{job_id}/cancel")
    client.patch(f"{URL}/{job_id}", json={"tags": ["spring"], "archived": True})
    return job_id


def test_a_deleted_job_is_listed_and_restored(client: TestClient, ended: str) -> None:
    before = client.get(f"{URL}/{ended}").json()
    answer = client.delete(f"{URL}/{ended}")
    assert answer.status_code == 200
    deletion = answer.json()
    assert deletion["restorable_until"] == deletion["deleted_at"] + 30 * 86400.0
    assert deletion["restore"] == f"hamtune restore {ended}"

    for query in ("", "?archived=include", "?name=ended", "?tag=spring", f"?search={ended}"):
        assert client.get(f"{URL}{query}").json()["items"] == [], query
    for query in ("", "&name=ended", "&tag=spring", f"&search={ended[:5]}", "&state=cancelled"):
        (listed,) = client.get(f"{URL}?deleted=only{query}").json()["items"]
        times = ("deleted_at", "restorable_until")
        assert listed == {**before, **{name: deletion[name] for name in times}}, query
    again = client.delete(f"{URL}/{ended}")
    assert again.status_code == 404
    assert f"was deleted; 'hamtune restore {ended}' brings it back until" in again.json()["detail"]

    assert client.post(f"{URL}/{ended}/restore").json() == before
    assert client.post(f"{URL}/{ended}/restore").json() == before
    assert client.get(f"{URL}?deleted=only").json()["items"] == []


def test_no_route_shows_a_deleted_job(client: TestClient, runtime: Runtime) -> None:
    job_id = seed(runtime.settings.database_url, runtime.storage, SPEC, 20)
    assert client.get(f"{URL}/{job_id}/trials/1").status_code == 200
    client.delete(f"{URL}/{job_id}")
    parts: dict[str, Any] = {"number": 1, "place": 1, "job_id": job_id, "log": "build"}
    left_out = {("delete", "/api/v1/jobs/{job_id}"), ("post", "/api/v1/jobs/{job_id}/restore")}
    asked = 0
    for path, operations in client.get("/api/v1/openapi.json").json()["paths"].items():
        for method, operation in operations.items():
            names = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
            if "job_id" not in names or (method, path) in left_out:
                continue
            known = {
                name: parts.get(name, "simgrid" if "exports" in path else "csv") for name in names
            }
            answer = client.request(method, path.format(**known), json={})
            assert answer.status_code == 404, (method, path)
            assert "was deleted; 'hamtune restore" in answer.json()["detail"], (method, path)
            asked += 1
    assert asked > 30
    assert client.get("/api/v1/curves", params={"job": job_id}).json()["items"] == []
    assert 'hamtune_jobs{state="completed"}' not in client.get("/metrics").text


def test_for_good(client: TestClient, create_job: Callable[..., str], ended: str) -> None:
    other = create_job()
    assert client.delete(f"{URL}/{other}?now=true").status_code == 409
    client.delete(f"{URL}/{ended}")
    answer = client.delete(f"{URL}/{ended}?now=true").json()
    assert answer == {
        "id": ended, "name": "ended", "deleted_at": None, "restorable_until": None, "restore": None,
    }  # fmt: skip
    assert client.get(f"{URL}/{ended}").json()["detail"] == f"there is no job {ended}"
    assert client.post(f"{URL}/{ended}/restore").status_code == 404


def test_a_restored_job_is_resumed(client: TestClient, create_job: Callable[..., str]) -> None:
    job_id = create_job()
    client.post(f"{URL}/{job_id}/pause")
    client.delete(f"{URL}/{job_id}")
    assert client.post(f"{URL}/{job_id}/resume").status_code == 404
    assert client.post(f"{URL}/{job_id}/restore").json()["state"] == "paused"
    assert client.post(f"{URL}/{job_id}/resume").json()["state"] == "queued"


def test_a_job_does_not_learn_from_a_deleted_one(
    client: TestClient, spec: dict[str, Any], ended: str
) -> None:
    client.delete(f"{URL}/{ended}")
    answer = client.post(URL, json={**spec, "learn_from": [ended]})
    assert answer.status_code == 422
    assert "was deleted" in answer.json()["detail"]


@pytest.fixture
def keepless(tmp_path: Path) -> Iterator[TestClient]:
    """A service that keeps no deleted jobs."""
    settings = replace(Settings.under(tmp_path / "keepless"), keep_deleted=0.0)
    with Runtime(settings, run=False) as runtime:
        yield TestClient(create_app(runtime))


def test_a_service_that_keeps_none(
    keepless: TestClient, client: TestClient, spec: dict[str, Any]
) -> None:
    assert client.get("/api/v1/session").json()["keep_deleted_seconds"] == 30 * 86400.0
    assert keepless.get("/api/v1/session").json()["keep_deleted_seconds"] == 0.0
    job_id = keepless.post(URL, json=spec).json()["id"]
    keepless.post(f"{URL}/{job_id}/cancel")
    assert keepless.delete(f"{URL}/{job_id}").json()["restorable_until"] is None
    assert keepless.get(f"{URL}?deleted=only").json()["items"] == []


def test_a_job_that_was_deleted_under_another_setting_keeps_its_time(
    keepless: TestClient, spec: dict[str, Any]
) -> None:
    application: Any = keepless.app
    job_id = keepless.post(URL, json=spec).json()["id"]
    keepless.post(f"{URL}/{job_id}/cancel")
    application.state.runtime.storage.trash.put(job_id, 3600.0)
    assert keepless.delete(f"{URL}/{job_id}").status_code == 404
    assert keepless.post(f"{URL}/{job_id}/restore").json()["id"] == job_id


def test_who_may_delete_may_restore(guarded: Guarded, spec: dict[str, Any]) -> None:
    client = guarded.client
    submitter, viewer = guarded.key(role="submitter"), guarded.key(role="viewer")
    job_id = client.post(URL, json=spec, headers=submitter).json()["id"]
    client.post(f"{URL}/{job_id}/cancel", headers=submitter)
    assert client.delete(f"{URL}/{job_id}", headers=viewer).status_code == 403
    assert client.delete(f"{URL}/{job_id}", headers=submitter).status_code == 200
    assert len(client.get(f"{URL}?deleted=only", headers=viewer).json()["items"]) == 1
    assert client.post(f"{URL}/{job_id}/restore", headers=viewer).status_code == 403
    other = guarded.key(project="theirs", role="admin")
    assert client.get(f"{URL}?deleted=only", headers=other).json()["items"] == []
    answer = client.post(f"{URL}/{job_id}/restore", headers=other)
    assert answer.json()["detail"] == f"there is no job {job_id}"
    assert client.post(f"{URL}/{job_id}/restore", headers=submitter).status_code == 200
    log = client.get("/api/v1/audit", headers=guarded.key()).json()["items"]
    done = [one["action"] for one in log if one["status"] == 200]
    assert done == ["restore_job", "delete_job", "cancel_job"]

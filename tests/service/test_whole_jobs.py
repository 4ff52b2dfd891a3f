"""Whole jobs through REST: capture, simulator, OpenTuner, workers and coordinator are real."""

import json
import time
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.machines import designed
from storage.records import FINAL_TRIAL_STATES
from tests.service.live import started, watch
from tests.valve import Valve

SPEC: dict[str, Any] = {
    "name": "mm-4",
    "application": {"builtin": "mm", "n": 64, "ranks": 4},
    "machine": designed(8, 3),
    "search": {
        "topology": [{"family": "random", "instances": 20}, "mesh-2d"],
        "ordering": ["original", "hamorder"],
        "collectives": {"bcast": "all", "allreduce": ["default"]},
    },
    "budget": {"trials": 12},
    "seed": 1,
}


@pytest.fixture(scope="module")
def valve(tmp_path_factory: pytest.TempPathFactory) -> Valve:
    """Holds the evaluations of jobs that are to be disturbed in their middle."""
    return Valve(tmp_path_factory.mktemp("valve") / "valve")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, valve: Valve) -> Iterator[httpx.Client]:
    """A client of a service with everything in it."""
    data = tmp_path_factory.mktemp("data")
    with (
        started(data, run=True, environment=valve.environment) as server,
        httpx.Client(base_url=f"{server.url}/api/v1", timeout=300.0) as connected,
    ):
        yield connected


def create(client: httpx.Client, **changes: Any) -> str:
    response = client.post("/jobs", json={**SPEC, **changes})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def trials(client: httpx.Client, job_id: str) -> list[dict[str, Any]]:
    return list(client.get(f"/jobs/{job_id}/trials", params={"limit": 500}).json()["items"])


def story(client: httpx.Client, job_id: str) -> list[Any]:
    """What a job tried and what came of it, without what depends on clock and cache."""
    return [
        (trial["number"], trial["label"], trial["configuration"], trial["state"], trial["value"])
        for trial in trials(client, job_id)
    ]


def test_a_job_is_submitted_watched_and_exported(client: httpx.Client) -> None:
    job_id = create(client)
    events = list(watch(client, job_id))

    states = [event["data"]["state"] for event in events if event["kind"] == "job"]
    assert states == ["queued", "preparing", "running", "completed"]
    ids = [event["id"] for event in events]
    assert ids == sorted(set(ids))
    ended = [
        event["data"]["number"]
        for event in events
        if event["kind"] == "trial" and event["data"]["state"] in FINAL_TRIAL_STATES
    ]
    found = trials(client, job_id)
    assert sorted(ended) == [trial["number"] for trial in found]

    job = client.get(f"/jobs/{job_id}").json()
    assert job["state"] == "completed"
    assert job["ended_because"] == "trials"
    assert {"parameter": "collectives.allreduce", "value": None,
            "reason": "the application never calls it"} in job["space"]["excluded"]  # fmt: skip
    assert sum(trial["kind"] == "search" for trial in found) == 12

    best = client.get(f"/jobs/{job_id}/best").json()
    completed = [trial for trial in found if trial["state"] == "completed"]
    assert best["value"] <= min(trial["value"] for trial in completed if trial["kind"] == "search")
    assert best["baselines"] == {
        trial["label"]: trial["value"] for trial in completed if trial["kind"] == "baseline"
    }
    assert best["speedup"] == pytest.approx(min(best["baselines"].values()) / best["value"])
    assert client.get(f"/jobs/{job_id}").json()["progress"]["best"]["trial"] == best["trial"]
    detail = client.get(f"/jobs/{job_id}/trials/{best['trial']}").json()
    assert max(detail["result"]["rank_finish_times"][0]) == pytest.approx(best["value"])

    converged = client.get(f"/jobs/{job_id}/convergence").json()
    assert len(converged["points"]) == len(found)
    assert converged["points"][-1]["best"] == best["value"] == converged["best"]["value"]
    for key in ("wall_seconds", "cpu_seconds"):
        counted = [point[key] for point in converged["points"]]
        assert counted == sorted(counted)
        assert counted[-1] > 0

    exported = client.get(f"/jobs/{job_id}/exports/json")
    with zipfile.ZipFile(BytesIO(exported.content)) as packed:
        (name,) = [name for name in packed.namelist() if name.endswith(".json")]
        assert json.loads(packed.read(name))

    # Any trial can be had again: as files, and from the simulator.
    other = next(trial for trial in completed if trial["number"] != best["trial"])
    exported = client.get(f"/jobs/{job_id}/exports/json", params={"trial": other["number"]})
    with zipfile.ZipFile(BytesIO(exported.content)) as packed:
        document = json.loads(packed.read("result.json"))
    assert (document["trial"], document["value"]) == (other["number"], other["value"])
    assert document["configuration"] == other["configuration"]
    for trial in found[:3]:
        again = client.post(f"/jobs/{job_id}/trials/{trial['number']}/replay").json()
        assert again["verdict"] == ("consistent" if trial["state"] == "censored" else "same")
        if trial["state"] == "completed":
            assert (again["value"], again["difference"]) == (trial["value"], 0.0)
            assert (again["ranks_that_differ"], again["cables_that_differ"]) == (0, 0)


def test_a_job_paused_and_resumed_ends_as_if_it_never_was(
    client: httpx.Client, valve: Valve
) -> None:
    valve.shut(passes=3)
    job_id = create(client, seed=2, budget={"trials": 60})
    seen = 0
    for event in watch(client, job_id):
        seen = event["id"]
        if event["kind"] == "trial" and event["data"]["state"] == "completed":
            break
    response = client.post(f"/jobs/{job_id}/pause")
    assert response.status_code == 200, response.text
    valve.open()
    for event in watch(client, job_id, seen):
        seen = event["id"]
        if event["kind"] == "job" and event["data"]["state"] == "paused":
            break
    asked = trials(client, job_id)
    assert len(asked) < 60
    assert all(trial["state"] in FINAL_TRIAL_STATES for trial in asked)
    assert client.get(f"/jobs/{job_id}").json()["state"] == "paused"

    client.post(f"/jobs/{job_id}/resume")
    assert [event["data"]["state"] for event in watch(client, job_id, seen)][-1] == "completed"
    undisturbed = str(client.post(f"/jobs/{job_id}/clone").json()["id"])
    list(watch(client, undisturbed))
    assert story(client, undisturbed) == story(client, job_id)
    assert client.get(f"/jobs/{undisturbed}").json()["progress"]["evaluations"] == 0


def test_a_cancelled_job_keeps_what_it_found(client: httpx.Client, valve: Valve) -> None:
    valve.shut(passes=3)
    job_id = create(client, seed=3)
    # A trial counts as found when it was told, which is after its end and in the order of asks.
    while client.get(f"/jobs/{job_id}").json()["progress"]["best"] is None:
        time.sleep(0.01)
    assert client.post(f"/jobs/{job_id}/cancel").status_code == 200
    *_, last = watch(client, job_id)
    assert last["data"]["state"] == "cancelled"
    valve.open()
    assert client.get(f"/jobs/{job_id}/best").status_code == 200
    assert all(trial["state"] in FINAL_TRIAL_STATES for trial in trials(client, job_id))
    assert client.post(f"/jobs/{job_id}/resume").status_code == 409
    assert client.delete(f"/jobs/{job_id}").status_code == 200


def test_a_job_over_an_uploaded_trace(client: httpx.Client, trace: Path) -> None:
    application = client.post(
        "/applications",
        content=trace.read_bytes(),
        headers={"Content-Type": "application/octet-stream"},
    ).json()
    search = {"topology": ["torus-2d", "mesh-2d"], "collectives": {"allreduce": "all"}}
    job_id = create(client, application={"id": application["id"]}, search=search)
    list(watch(client, job_id))
    job = client.get(f"/jobs/{job_id}").json()
    assert job["state"] == "completed", job["error"]
    assert client.get(f"/jobs/{job_id}/best").json()["configuration"]["collectives"]

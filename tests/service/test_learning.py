"""A second job that learns from a first, whole and through REST."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.live import started, watch
from tests.service.test_whole_jobs import SPEC

SECOND: dict[str, Any] = {
    **SPEC,
    "name": "second",
    "machine": {**SPEC["machine"], "link_bandwidth": "10Gbps"},
    "seed": 2,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the service keeps all."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def client(data: Path) -> Iterator[httpx.Client]:
    """A client of a service with everything in it."""
    with (
        started(data, run=True) as server,
        httpx.Client(base_url=f"{server.url}/api/v1", timeout=300.0) as connected,
    ):
        yield connected


def finished(client: httpx.Client, document: dict[str, Any]) -> dict[str, Any]:
    made = client.post("/jobs", json=document)
    assert made.status_code == 201, made.text
    list(watch(client, made.json()["id"]))
    job = dict(client.get(f"/jobs/{made.json()['id']}").json())
    assert job["state"] == "completed", job["error"]
    return job


def test_a_job_says_what_it_learns_from_before_and_after(client: httpx.Client, data: Path) -> None:
    first = finished(client, SPEC)
    wish = {**SECOND, "learn_from": [first["id"]]}
    expected = {"job": first["id"], "name": first["name"]}
    assert client.post("/jobs/check", json=wish).json()["learned_from"] == [expected]
    second = finished(client, wish)
    (source,) = second["space"]["learned_from"]
    assert {name: source[name] for name in expected} == expected
    assert 0.0 <= source["weight"] <= 1.0
    inside = first["progress"]["kinds"]["search"]
    assert source["trials"] >= inside
    shown = subprocess.run(
        [sys.executable, "-m", "cli", "show", second["id"], "--data", str(data)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert (
        f"learned from {first['name']} ({first['id']}), {source['trials']} trials, "
        f"counts {source['weight']:.2f} of 1"
    ) in shown
    assert client.delete(f"/jobs/{first['id']}?now=true").status_code == 200
    again = client.get(f"/jobs/{second['id']}").json()
    assert again["space"]["learned_from"] == [source]


def test_jobs_that_cannot_teach_are_refused_by_their_place(client: httpx.Client) -> None:
    refused = client.post("/jobs", json={**SECOND, "learn_from": ["1aaaaaaaaaaaaaaa"]})
    assert refused.status_code == 422
    (mistake,) = refused.json()["errors"]
    assert mistake["field"] == "learn_from[0]"
    assert mistake["message"].endswith("there is no job 1aaaaaaaaaaaaaaa")


def test_nobody_to_learn_from_is_no_mistake(client: httpx.Client) -> None:
    strange = {
        **SPEC,
        "application": {"builtin": "mm", "n": 32, "ranks": 4},
        "machine": {**SPEC["machine"], "link_bandwidth": "7Gbps"},
        "learn_from": "auto",
    }
    assert client.post("/jobs/check", json=strange).json()["learned_from"] == []

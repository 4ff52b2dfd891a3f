"""What more trials would bring, by REST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from storage.records import Outcome
from storage.storage import Storage
from tests.service.conftest import expecting

URL = "/api/v1/jobs"


def test_the_last_model_tells_what_more_trials_would_bring(
    client: TestClient, storage: Storage, create_job: Callable[..., str]
) -> None:
    job_id = expecting(storage, create_job())
    last = {"trial": 2, "probability": 0.1, "gain": 0.002}
    assert client.get(f"{URL}/{job_id}/outlook").json() == {
        "last": last,
        "unknown": None,
        "points": [{"trial": 1, "probability": 0.8, "gain": 0.05}, last],
    }
    assert client.get(f"{URL}/{job_id}").json()["progress"]["outlook"] == last
    assert client.get(URL).json()["items"][0]["progress"]["outlook"] == last


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, "too few trials have a result for a model: it takes 20"),
        ({"techniques": ["PureRandom"]}, "needs the technique Surrogate, whose model tells it"),
        (
            {"search": {"topology": ["random"], "mapping": ["permutation"]}},
            "a model says little of permutations",
        ),
        (
            {"cutoff_factor": 1.0},
            "a model learns next to nothing where cutoff_factor is not above 1",
        ),
    ],
)
def test_without_a_model_it_is_said_why(
    client: TestClient, create_job: Callable[..., str], change: dict[str, Any], why: str
) -> None:
    told = client.get(f"{URL}/{create_job(**change)}/outlook").json()
    assert told == {"last": None, "unknown": why, "points": []}


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (Outcome(status="completed", value=1.0), "no model of this search was stored"),
        (Outcome(status="failed"), "no trial has completed"),
    ],
)
def test_a_search_that_was_long_enough_is_not_told_that_it_was_short(
    client: TestClient,
    create_job: Callable[..., str],
    add_trials: Callable[..., None],
    outcome: Outcome,
    why: str,
) -> None:
    """Such as one of a version that stored no models."""
    job_id = create_job()
    add_trials(job_id, *[outcome] * 20)
    assert client.get(f"{URL}/{job_id}/outlook").json()["unknown"] == why


def test_a_job_that_is_not_there_has_none(client: TestClient) -> None:
    assert client.get(f"{URL}/nothing/outlook").status_code == 404

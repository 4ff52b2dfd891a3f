"""What exports gained, as REST takes and shows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from service.measurements.schemas import REQUEST_EXAMPLE


def test_measurements_are_kept_with_their_job(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    url = f"/api/v1/jobs/{create_job()}/measurements"
    assert client.get(url).json() == {"items": []}

    first = client.post(url, json=REQUEST_EXAMPLE)
    second = client.post(url, json={**REQUEST_EXAMPLE, "simulated_speedup": None})

    assert first.status_code == 201
    assert first.json()["measurement"] == REQUEST_EXAMPLE
    assert client.get(url).json()["items"] == [second.json(), first.json()]


def test_they_go_with_the_job(client: TestClient, create_job: Callable[..., str]) -> None:
    job_id = create_job()
    url = f"/api/v1/jobs/{job_id}/measurements"
    client.post(url, json=REQUEST_EXAMPLE)
    client.post(f"/api/v1/jobs/{job_id}/cancel")

    assert client.delete(f"/api/v1/jobs/{job_id}?now=true").status_code == 200
    assert client.get(url).status_code == 404
    assert client.post(url, json=REQUEST_EXAMPLE).status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [("speedup", 0), ("speedup", None), ("exported_seconds", []), ("confidence", 1), ("more", 1)],
)
def test_what_is_no_measurement_is_refused(
    client: TestClient, create_job: Callable[..., str], field: str, value: object
) -> None:
    url = f"/api/v1/jobs/{create_job()}/measurements"
    refused = client.post(url, json={**REQUEST_EXAMPLE, field: value})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("number", ["nan", "inf", "-Infinity"])
@pytest.mark.parametrize(
    ("field", "one"),
    [
        ("exported_seconds", lambda number: [1.0, number]),
        ("default_seconds", lambda number: [number, 1.0]),
        ("interval", lambda number: [1.0, number]),
        ("simulated_speedup", lambda number: number),
    ],
)
def test_numbers_that_json_does_not_know_are_refused_as_texts_too(
    client: TestClient,
    create_job: Callable[..., str],
    field: str,
    one: Callable[[str], object],
    number: str,
) -> None:
    url = f"/api/v1/jobs/{create_job()}/measurements"
    refused = client.post(url, json={**REQUEST_EXAMPLE, field: one(number)})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"].startswith(field)
    assert client.get(url).json() == {"items": []}

"""What is refused of jobs, and in which words."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from searchspace.errors import InvalidInput
from searchspace.job import load_job

URL = "/api/v1/jobs"


def changed(spec: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The job file with one field replaced (dotted path)."""
    result: dict[str, Any] = json.loads(json.dumps(spec))
    *groups, name = path.split(".")
    place = result
    for group in groups:
        place = place[group]
    place[name] = value
    return result


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", ""),
        ("colour", "red"),
        ("application.class", "Z"),
        ("application.ranks", 15),
        ("application.ranks", 64),
        ("application", {"pattern": "ring", "ranks": 4, "size": 1, "count": 1, "rate": 1}),
        ("application", {"pattern": "linear", "ranks": 4, "size": 1, "count": 1}),
        ("application", {"builtin": "player", "matrix": "w.mtx", "ranks": 4}),
        ("machine.host_speed", "100 parsecs"),
        ("machine.degree", 16),
        ("search.topology", ["moebius"]),
        ("search.topology", []),
        ("search.collectives", {"allreduce": ["magic"]}),
        ("budget", {}),
        ("budget.trials", 0),
        ("seed", -1),
    ],
)
def test_a_wrong_job_file_is_refused_in_the_words_of_the_command_line(
    client: TestClient, spec: dict[str, Any], path: str, value: Any
) -> None:
    document = changed(spec, path, value)
    with pytest.raises(InvalidInput) as caught:
        load_job(document)
    response = client.post(URL, json=document)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["detail"] == str(caught.value)
    if caught.value.field:
        assert problem["errors"] == [{"field": caught.value.field, "message": caught.value.message}]
    assert client.get(URL).json()["items"] == []


def test_paths_of_the_server_are_nobodys_business(
    client: TestClient, spec: dict[str, Any], trace: Path
) -> None:
    response = client.post(URL, json={**spec, "application": {"trace": str(trace)}})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "application.trace"
    assert "upload the trace" in response.json()["detail"]


@pytest.mark.parametrize("noun", ["application", "machine"])
@pytest.mark.parametrize("identifier", ["nothing", "a\x00b", "ü"])
def test_a_reference_to_nothing_is_a_wrong_field(
    client: TestClient, spec: dict[str, Any], noun: str, identifier: str
) -> None:
    response = client.post(URL, json={**spec, noun: {"id": identifier}})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == f"{noun}.id"


def test_an_unknown_technique_is_refused(client: TestClient, spec: dict[str, Any]) -> None:
    response = client.post(URL, json={**spec, "techniques": ["Divination"]})
    assert response.status_code == 422
    assert "allowed: " in response.json()["detail"]


@pytest.mark.parametrize("content", ["{", "[1, 2", '{"name": Infinity}'])
def test_malformed_json_is_refused(client: TestClient, content: str) -> None:
    headers = {"Content-Type": "application/json"}
    response = client.post(URL, content=content, headers=headers)
    assert response.status_code == 400


@pytest.mark.parametrize("document", [False, [], "job", 7])
def test_what_is_no_object_is_refused(client: TestClient, document: Any) -> None:
    assert client.post(URL, json=document).status_code == 422


def test_a_job_file_over_the_limit_is_refused(client: TestClient) -> None:
    response = client.post(
        URL, content=b" " * (2**20 + 1), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 413


def test_another_job_under_the_same_key_is_refused(
    client: TestClient, spec: dict[str, Any]
) -> None:
    headers = {"Idempotency-Key": "abc"}
    assert client.post(URL, json=spec, headers=headers).status_code == 201
    response = client.post(URL, json={**spec, "seed": 2}, headers=headers)
    assert response.status_code == 409


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_key_that_cannot_be_kept_is_refused(
    client: TestClient, spec: dict[str, Any], key: str
) -> None:
    assert client.post(URL, json=spec, headers={"Idempotency-Key": key}).status_code == 422


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "nothing"),
        ("DELETE", "nothing"),
        ("POST", "nothing/pause"),
        ("POST", "nothing/resume"),
        ("POST", "nothing/cancel"),
        ("POST", "nothing/clone"),
        ("GET", "nothing/trials"),
        ("GET", "nothing/trials/1"),
        ("GET", "nothing/best"),
        ("GET", "nothing/convergence"),
        ("GET", "nothing/events"),
        ("GET", "nothing/exports/json"),
    ],
)
def test_an_unknown_job_is_not_found(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, f"{URL}/{path}")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"
    assert "nothing" in response.json()["detail"]


def test_an_id_that_no_database_could_hold_is_refused(client: TestClient) -> None:
    assert client.get(f"{URL}/a%00b").status_code == 422


@pytest.mark.parametrize("query", ["state=asleep", "limit=201", "cursor=%00", "name=%00"])
def test_a_wrong_filter_is_refused(client: TestClient, query: str) -> None:
    assert client.get(f"{URL}?{query}").status_code == 422


def test_unknown_query_parameters_are_refused_with_those_that_there_are(
    client: TestClient,
) -> None:
    response = client.get("/api/v1/jobs?stat=running&limit=5")
    assert response.status_code == 422
    problem = response.json()
    assert problem["errors"] == [
        {
            "field": "query.stat",
            "message": "unknown parameter; allowed: archived, cursor, deleted, limit, name, "
            "search, state, tag",
        }
    ]
    response = client.get("/api/v1/jobs/nosuchjob?verbose=1")
    assert response.json()["detail"] == "query.verbose: unknown parameter; there is none here"


def test_a_method_that_is_not_possible_is_answered_with_all_that_are(client: TestClient) -> None:
    response = client.put("/api/v1/jobs")
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"GET", "POST"}
    assert "use GET, POST" in response.json()["detail"]


def test_every_mistake_of_a_job_file_is_an_error_of_its_own(client: TestClient) -> None:
    problem = client.post("/api/v1/jobs", json={"name": "", "budget": {"trials": 0}}).json()
    fields = {error["field"] for error in problem["errors"]}
    assert fields == {"name", "budget.trials", "application", "machine", "search"}


def test_parameters_that_cannot_be_read_are_told_in_our_words(client: TestClient) -> None:
    problem = client.get("/api/v1/jobs?limit=many").json()
    assert problem["detail"].startswith("query.limit: must be a valid integer")

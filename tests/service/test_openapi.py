import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from searchspace.job import load_job
from service.version import VERSION

ROOT = Path(__file__).parents[2]
METHODS = ("get", "post", "put", "patch", "delete")
EXPECTED = {
    "GET /api/v1/projects",
    "GET /api/v1/projects/{project}",
    "PATCH /api/v1/projects/{project}",
    "POST /api/v1/applications",
    "GET /api/v1/applications",
    "GET /api/v1/applications/{application_id}/logs/{log}",
    "GET /api/v1/jobs/{job_id}/logs/{log}",
    "GET /api/v1/applications/{application_id}/files",
    "GET /api/v1/applications/{application_id}/files/{path}",
    "GET /api/v1/jobs/{job_id}/files",
    "GET /api/v1/jobs/{job_id}/files/{path}",
    "GET /api/v1/applications/{application_id}",
    "POST /api/v1/machines",
    "POST /api/v1/machines/files",
    "GET /api/v1/machines",
    "GET /api/v1/machines/{machine_id}",
    "POST /api/v1/jobs",
    "GET /api/v1/jobs",
    "GET /api/v1/jobs/{job_id}",
    "PATCH /api/v1/jobs/{job_id}",
    "DELETE /api/v1/jobs/{job_id}",
    "POST /api/v1/jobs/{job_id}/restore",
    "POST /api/v1/jobs/{job_id}/pause",
    "POST /api/v1/jobs/{job_id}/resume",
    "POST /api/v1/jobs/{job_id}/cancel",
    "PUT /api/v1/jobs/{job_id}/priority",
    "GET /api/v1/jobs/{job_id}/clone",
    "POST /api/v1/jobs/{job_id}/clone",
    "GET /api/v1/jobs/{job_id}/trials",
    "GET /api/v1/jobs/{job_id}/trials/running",
    "GET /api/v1/jobs/{job_id}/trials/{number}",
    "POST /api/v1/jobs/{job_id}/trials/{number}/replay",
    "GET /api/v1/jobs/{job_id}/best",
    "GET /api/v1/jobs/{job_id}/convergence",
    "GET /api/v1/jobs/{job_id}/outlook",
    "GET /api/v1/jobs/{job_id}/events",
    "GET /api/v1/jobs/{job_id}/exports/{format_name}",
    "POST /api/v1/jobs/{job_id}/exports/{format_name}",
    "POST /api/v1/jobs/{job_id}/measurements",
    "GET /api/v1/jobs/{job_id}/measurements",
    "GET /api/v1/jobs/{job_id}/measured",
    "POST /api/v1/jobs/{job_id}/measured",
    "POST /api/v1/jobs/{job_id}/measured/end",
    "POST /api/v1/jobs/{job_id}/proposals",
    "GET /api/v1/jobs/{job_id}/proposals/{place}",
    "POST /api/v1/jobs/{job_id}/ask",
    "POST /api/v1/jobs/{job_id}/trials/{number}/tell",
    "POST /api/v1/agents/work",
    "POST /api/v1/agents/runs/{job_id}/{place}/{number}/beat",
    "POST /api/v1/agents/runs/{job_id}/{place}/{number}/outcome",
    "GET /api/v1/jobs/{job_id}/table",
    "GET /api/v1/jobs/{job_id}/table/{format_name}",
    "GET /api/v1/jobs/{job_id}/trials/{number}/placement",
    "GET /api/v1/jobs/{job_id}/rows",
    "GET /api/v1/jobs/{job_id}/front",
    "GET /api/v1/jobs/{job_id}/importance",
    "GET /api/v1/jobs/{job_id}/statistics",
    "POST /api/v1/jobs/check",
    "POST /api/v1/jobs/read",
    "GET /api/v1/curves",
    "GET /api/v1/catalogue",
    "GET /healthz",
    "GET /readyz",
    "GET /metrics",
    "GET /api/v1/schema/job.json",
    "GET /api/v1/schema/machine.json",
    "GET /api/v1/session",
    "POST /api/v1/keys",
    "GET /api/v1/keys",
    "GET /api/v1/keys/{key_id}",
    "POST /api/v1/keys/{key_id}/rotate",
    "DELETE /api/v1/keys/{key_id}",
    "GET /api/v1/audit",
    "POST /api/v1/jobs/{job_id}/trials/{number}/release",
    "POST /api/v1/subscriptions",
    "GET /api/v1/subscriptions",
    "GET /api/v1/subscriptions/{subscription_id}",
    "DELETE /api/v1/subscriptions/{subscription_id}",
    "POST /api/v1/subscriptions/{subscription_id}/test",
    "GET /api/v1/subscriptions/{subscription_id}/deliveries",
}


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    return dict(client.get("/api/v1/openapi.json").json())


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", item[method]


def resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        *_, name = schema["$ref"].split("/")
        schema = document["components"]["schemas"][name]
    return schema


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    assert {name for name, _ in operations(document)} == EXPECTED
    for name, operation in operations(document):
        assert operation["summary"], name
        assert len(operation["description"]) > 20, name
        assert operation["tags"], name
        for parameter in operation.get("parameters", []):
            assert parameter.get("description"), f"{name}: {parameter['name']}"


def test_every_operation_shows_what_it_takes_and_gives(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for media, content in operation.get("requestBody", {}).get("content", {}).items():
            assert content.get("example") or content.get("examples"), f"{name}: {media}"
        for status, response in operation["responses"].items():
            if status == "204":
                continue
            assert response["content"], f"{name}: {status}"
            for media, content in response["content"].items():
                assert "example" in content, f"{name}: {status} {media}"


def test_every_operation_tells_its_errors(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        errors = {status for status in operation["responses"] if status >= "400"}
        assert {"500", "503"} <= errors, name
        if "{job_id}" in name:
            assert {"404", "422"} <= errors, name
        if "requestBody" in operation:
            assert {"400", "413", "415", "422"} <= errors, name
            sent = set(operation["requestBody"]["content"])
            assert ("507" in errors) == ("multipart/form-data" in sent), name
        for status in errors:
            assert list(operation["responses"][status]["content"]) == ["application/problem+json"]


def test_operation_ids_are_unique_names(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z_]+", identifier) for identifier in ids)


def test_response_examples_have_the_fields_of_their_schemas(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            for content in response.get("content", {}).values():
                schema = resolved(document, content.get("schema", {}))
                if schema.get("properties") and isinstance(content["example"], dict):
                    example = content["example"]
                    assert set(example) <= set(schema["properties"]), f"{name}: {status}"
                    assert set(example) >= set(schema.get("required", [])), f"{name}: {status}"


def test_references_lead_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)):
        assert name in schemas
    assert not re.search(r'"\$ref": "#/\$defs/', json.dumps(document))
    assert "HTTPValidationError" not in schemas


def test_the_example_of_a_job_file_is_one(document: dict[str, Any]) -> None:
    body = document["paths"]["/api/v1/jobs"]["post"]["requestBody"]
    assert set(body["content"]) == {"application/json", "application/yaml"}
    for example in body["content"]["application/json"]["examples"].values():
        load_job(example["value"])


def test_the_reference_page_needs_nothing_from_elsewhere(
    client: TestClient, document: dict[str, Any]
) -> None:
    response = client.get("/api/v1/docs")
    assert response.headers["content-type"].startswith("text/html")
    assert not re.search("(src|href)=['\"]?(https?:)?//", response.text)
    assert "<script" not in response.text
    for name, operation in operations(document):
        assert name.partition(" ")[2] in response.text
        assert f"id='{operation['operationId']}'" in response.text


def test_health_names_the_version_of_the_project(client: TestClient) -> None:
    health = client.get("/healthz").json()
    assert (health["status"], health["version"]) == ("ok", VERSION)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION

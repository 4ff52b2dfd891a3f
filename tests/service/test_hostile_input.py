"""Whatever a client sends, the service answers with a result or a problem, and never fails."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.app import create_app
from service.runtime import Runtime
from service.settings import Settings
from tests.service.conftest import SPEC, write_pair

FIELDS = [
    ("name",),
    ("application",),
    ("application", "builtin"),
    ("application", "class"),
    ("application", "ranks"),
    ("application", "id"),
    ("machine",),
    ("machine", "nodes"),
    ("machine", "degree"),
    ("machine", "host_speed"),
    ("machine", "model"),
    ("machine", "topology"),
    ("machine", "id"),
    ("search",),
    ("search", "topology"),
    ("search", "ordering"),
    ("search", "mpi"),
    ("search", "collectives"),
    ("search", "collectives", "bcast"),
    ("budget",),
    ("budget", "trials"),
    ("budget", "wall_seconds"),
    ("seed",),
    ("batch",),
    ("cutoff_factor",),
    ("techniques",),
    ("limits",),
]

words = st.sampled_from(
    ["", "all", "given", "random", "mpich", "cg", "1e999", "-1s", "nan", "0", "9" * 40, "a\0b", "é"]
) | st.text(max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    where = replace(Settings.under(tmp_path_factory.mktemp("data")), upload_limit=64 * 1024)
    with Runtime(where, run=False) as runtime:
        yield TestClient(create_app(runtime), raise_server_exceptions=False)


def set_field(document: Any, path: tuple[str, ...], value: Any) -> None:
    *groups, name = path
    for group in groups:
        document = document.setdefault(group, {}) if isinstance(document, dict) else {}
    if isinstance(document, dict):
        document[name] = value


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.sampled_from(FIELDS), values), min_size=1, max_size=3))
def test_job_files(client: TestClient, changes: list[tuple[tuple[str, ...], Any]]) -> None:
    document = json.loads(json.dumps(SPEC))
    for path, value in changes:
        set_field(document, path, value)
    response = client.post("/api/v1/jobs", json=document)
    assert response.status_code in (201, 422), response.text
    if response.status_code == 422:
        assert response.json()["detail"]
        assert "\n" not in response.json()["detail"]


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=200), kind=st.sampled_from(["json", "yaml"]))
def test_bodies(client: TestClient, content: bytes, kind: str) -> None:
    headers = {"Content-Type": f"application/{kind}"}
    for noun in ("jobs", "machines"):
        response = client.post(f"/api/v1/{noun}", content=content, headers=headers)
        assert response.status_code in (400, 422), response.text


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.characters(codec="ascii"), max_size=80))
def test_yaml(client: TestClient, text: str) -> None:
    response = client.post(
        "/api/v1/jobs",
        content=f"name: x\nsearch: {text}",
        headers={"Content-Type": "application/yaml"},
    )
    assert response.status_code in (400, 422), response.text


@pytest.mark.parametrize("operation", ["jobs/read", "jobs/check", "jobs"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name: "\\ud800"', "half a character"),
        ('"\\ud800": 1', "half a character"),
        ("seed: .inf", "not finite"),
        ("seed: .nan", "not finite"),
        ("seed: " + "1" * 300_000, "too many digits"),
        ("seed: 0x" + "f" * 300_000, "too many digits"),
        ("seed: 1" + ":59" * 100_000, "too many digits"),
        ("seed: 1" + ":59" * 100_000 + ".5", "too many digits"),
    ],
    ids=["half", "half in a key", "infinity", "nan", "decimal", "hexadecimal", "base 60", "mixed"],
)
def test_yaml_that_json_cannot_say(
    client: TestClient, operation: str, text: str, message: str
) -> None:
    """None of them fails the server, takes its time, or becomes something else on the way."""
    response = client.post(
        f"/api/v1/{operation}", content=text, headers={"Content-Type": "application/yaml"}
    )
    assert response.status_code == 400, response.text
    assert message in response.json()["detail"]


def test_what_looks_like_a_date_is_text(client: TestClient) -> None:
    response = client.post(
        "/api/v1/jobs/read",
        content="name: 2026-11-24",
        headers={"Content-Type": "application/yaml"},
    )
    assert response.json()["document"] == {"name": "2026-11-24"}


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damaged_traces(
    client: TestClient, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("trace") / "pair.ht"
    write_pair(path)
    good = path.read_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    damage = data.draw(st.binary(min_size=1, max_size=4))
    content = good[:at] + damage + good[at + len(damage) :]
    response = client.post(
        "/api/v1/applications",
        content=content,
        headers={"Content-Type": "application/octet-stream"},
    )
    assert response.status_code in (200, 201, 422), response.text


@settings(max_examples=100, deadline=None)
@given(
    path=st.sampled_from(["jobs/{}", "jobs/{}/trials", "applications/{}", "machines/{}",
                          "jobs/{}/exports/{}", "jobs/{}/trials/{}", "jobs/{}/events"]),
    part=st.text(st.characters(codec="utf-8", exclude_characters="/?#."), min_size=1, max_size=20),
    query=st.dictionaries(st.sampled_from(["after", "limit", "state", "cursor", "name"]), words),
)  # fmt: skip
def test_addresses(client: TestClient, path: str, part: str, query: dict[str, str]) -> None:
    response = client.get("/api/v1/" + path.replace("{}", quote(part, safe="")), params=query)
    assert response.status_code in (404, 422), response.text
    assert response.headers["content-type"] == "application/problem+json"

import logging
from collections.abc import Callable

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient

from searchspace.disk_room import NoRoom
from searchspace.errors import HamtuneError, InvalidInput
from service import problems
from service.bodies import parse_json, parse_yaml, read_text
from service.origin import SameOrigin
from service.problems import ProblemError
from storage.errors import Conflict, NotFound, Unavailable

ERRORS: dict[str, Exception] = {
    "invalid": InvalidInput("use 1 or more", field="budget.trials"),
    "missing": NotFound("there is no job x"),
    "conflict": Conflict("job x is completed"),
    "away": Unavailable("the database cannot be used now", "connection refused at db.internal"),
    "own": ProblemError(413, "too much", headers={"Retry-After": "1"}),
    "full": NoRoom("the tree takes 1 MiB", before=True),
    "ours": HamtuneError("the simulator is not built; run setup.sh"),
    "bug": ZeroDivisionError("secret"),
}


@pytest.fixture
def client() -> TestClient:
    app = FastAPI(redirect_slashes=False)
    problems.install(app)
    app.add_middleware(SameOrigin, hosts=["localhost"])

    @app.get("/fail/{kind}")
    def fail(kind: str) -> None:
        raise ERRORS[kind]

    @app.get("/readyz")
    def ready() -> str:
        return "ready"

    @app.get("/count")
    def count(limit: int) -> int:
        return limit

    @app.post("/text")
    async def text(request: Request) -> object:
        content, form = await read_text(request, 100)
        return parse_json(content) if form == "json" else content

    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("path", "status", "kind", "detail"),
    [
        ("/fail/invalid", 422, "invalid", "budget.trials: use 1 or more"),
        ("/fail/missing", 404, "not-found", "there is no job x"),
        ("/fail/conflict", 409, "conflict", "job x is completed"),
        ("/fail/away", 503, "unavailable", "the database cannot be used now"),
        ("/fail/full", 507, "no-room", "the tree takes 1 MiB; make room there"),
        ("/fail/own", 413, "too-large", "too much"),
        ("/count?limit=many", 422, "invalid", "query.limit: "),
        ("/nowhere", 404, "not-found", "there is nothing at /nowhere"),
        ("/count/", 404, "not-found", "there is nothing at /count/"),
        ("/text", 405, "method-not-allowed", "GET is not possible here; use POST"),
    ],
)
def test_every_error_is_a_problem(
    client: TestClient, path: str, status: int, kind: str, detail: str
) -> None:
    response = client.get(path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["type"] == f"urn:problem:hamtune:{kind}"
    assert problem["detail"].startswith(detail)
    assert problem["instance"] == path.partition("?")[0]
    assert problem["title"]


def test_the_field_at_fault_is_named(client: TestClient) -> None:
    assert client.get("/fail/invalid").json()["errors"] == [
        {"field": "budget.trials", "message": "use 1 or more"}
    ]
    assert client.get("/count").json()["errors"][0]["field"] == "query.limit"
    assert "errors" not in client.get("/fail/missing").json()


def test_a_mistake_of_the_server_is_logged_and_hidden(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "hamtune.service"):
        response = client.get("/fail/bug")
    assert response.status_code == 500
    assert "secret" not in response.text
    incident = response.json()["detail"].rpartition(" ")[2]
    record = next(record for record in caplog.records if incident in record.getMessage())
    assert record.exc_info is not None
    assert "secret" in str(record.exc_info[1])


def test_what_the_server_lacks_is_logged_and_said(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "hamtune.service"):
        response = client.get("/fail/ours")
    assert response.status_code == 500
    assert response.json()["detail"] == "the simulator is not built; run setup.sh"
    assert "setup.sh" in caplog.text


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"{", "not JSON: Expecting property name"),
        (b"", "not JSON: Expecting value at line 1 column 1"),
        (b'{"a": NaN}', "not JSON: NaN is not a number"),
        (b'{"a": 1, "a": 2}', "not acceptable JSON: the key 'a' is there twice"),
        (b"[1e999]", "not acceptable JSON: 1e999 is beyond all numbers"),
        (b'["\\ud800"]', "not acceptable JSON: a surrogate without its other half"),
        (b"\xff", "the body is not UTF-8 text (byte 0 cannot be read)"),
    ],
)
def test_a_body_that_is_not_json_is_refused(
    client: TestClient, content: bytes, detail: str
) -> None:
    response = client.post("/text", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["detail"].startswith(detail)


@pytest.mark.parametrize(
    ("text", "reason"), [("[" * 200_000, "nested too deeply"), ("9" * 5000, "too many digits")]
)
def test_values_beyond_measure_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ProblemError, match=reason):
        parse_json(text)


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")], ids=["list", "group"])
@pytest.mark.parametrize("inner", ["[]", "[1]"])
def test_values_that_no_answer_could_hold_are_refused(
    parse: Callable[[str], object], opened: str, closed: str, inner: str
) -> None:
    assert parse(opened * 63 + inner + closed * 63)
    with pytest.raises(ProblemError, match="nested too deeply; use at most 64 levels"):
        parse(opened * 64 + inner + closed * 64)


def test_escapes_spell_characters() -> None:
    assert parse_json('"\\ud83d\\ude00 \\u00e9"') == "\N{GRINNING FACE} é"


@pytest.mark.parametrize("given", ["text/plain", "application/xml", None])
def test_other_content_types_are_refused(client: TestClient, given: str | None) -> None:
    response = client.post(
        "/text", content=b"{}", headers={} if given is None else {"Content-Type": given}
    )
    assert response.status_code == 415
    assert "application/yaml" in response.headers["accept"]


@pytest.mark.parametrize(
    "declared", [None, "150", "3", "-1", "9" * 30], ids=["chunked", "true", "low", "bad", "huge"]
)
def test_a_large_body_is_refused_whatever_length_it_declares(
    client: TestClient, declared: str | None
) -> None:
    headers = {"Content-Type": "application/json"}
    if declared is not None:
        headers["Content-Length"] = declared
    response = client.post("/text", content=iter([b" " * 50] * 3), headers=headers)
    assert response.status_code == 413
    assert response.json()["detail"] == "the body is larger than the 100 B accepted here"


def test_a_body_of_just_the_limit_is_read(client: TestClient) -> None:
    response = client.post(
        "/text", content=b"[" + b" " * 98 + b"]", headers={"Content-Type": "application/json"}
    )
    assert response.json() == []


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "", "["]
)
def test_a_host_name_rebound_to_loopback_is_refused(client: TestClient, host: str) -> None:
    response = client.get("/count?limit=1", headers={"Host": host})
    assert response.status_code == 403
    assert response.headers["content-type"] == "application/problem+json"


def test_probes_are_answered_under_any_name(client: TestClient) -> None:
    """Those of containers ask by address."""
    assert client.get("/readyz", headers={"Host": "10.1.2.3:8080"}).status_code == 200
    assert client.get("/count/readyz", headers={"Host": "10.1.2.3:8080"}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:81", "http://["]
)
def test_a_page_of_another_site_cannot_change_anything(client: TestClient, origin: str) -> None:
    headers = {"Origin": origin, "Content-Type": "application/json"}
    assert client.post("/text", content=b"1", headers=headers).status_code == 403
    assert client.get("/count?limit=1", headers=headers).status_code == 200


def test_the_services_own_page_may_change_things(client: TestClient) -> None:
    headers = {"Origin": "http://localhost", "Content-Type": "application/json"}
    assert client.post("/text", content=b"1", headers=headers).json() == 1

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from searchspace.formats.operations import encode
from searchspace.formats.trace import RankBlock, TraceHeader, write_trace
from searchspace.jobspec import check_application
from searchspace.truncation import truncate
from service.app import create_app
from service.runtime import Runtime
from storage.models import ApplicationRow
from storage.storage import Storage
from tests.service.uploads import RAW, URL, archive_with_bad_paths, bomb, stored_files
from workers.applications import add_trace, stored_application


def program_with_a_path(trace: bytes) -> bytes:
    return trace.replace(b'"program":"pair"', b'"program":"../p"')


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"HAMTRACE",
        b"#!/bin/sh\nrm -rf /\n",
        archive_with_bad_paths(),
        bomb(),
    ],
    ids=["empty", "only the magic", "foreign", "zip with bad paths", "bomb"],
)
def test_what_is_no_trace_is_refused_and_leaves_nothing(
    client: TestClient, runtime: Runtime, scratch: Path, content: bytes
) -> None:
    response = client.post(URL, content=content, headers=RAW)
    assert response.status_code == 422, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["errors"][0]["field"] == "trace"
    assert stored_files(runtime) == []
    assert client.get(URL).json()["items"] == []


@pytest.mark.parametrize("end", [10, 20, 100, -1])
def test_a_truncated_trace_is_refused(
    client: TestClient, runtime: Runtime, scratch: Path, trace: Path, end: int
) -> None:
    response = client.post(URL, content=trace.read_bytes()[:end], headers=RAW)
    assert response.status_code == 422
    assert stored_files(runtime) == []


def test_a_trace_of_some_iterations_says_that_it_is_one(client: TestClient, tmp_path: Path) -> None:
    whole, short = tmp_path / "whole.ht", tmp_path / "short.ht"
    operations = encode("allreduce", count=1, size=8) * 40 + encode("finalize")
    write_trace(whole, TraceHeader(ranks=2, program="loop"), [operations] * 2)
    truncate(whole, short)

    told = {}
    for path in (whole, short):
        uploaded = client.post(URL, content=path.read_bytes(), headers=RAW).json()
        told[path] = client.get(f"{URL}/{uploaded['id']}").json()["summary"]["truncated"]

    assert told == {whole: False, short: True}


def forget_truncated(storage: Storage, application_id: str) -> None:
    """Leave an application as versions stored it that did not note whether it is truncated."""
    with storage._database.writing() as session:
        row = session.get_one(ApplicationRow, application_id)
        row.summary = {k: v for k, v in row.summary.items() if k != "truncated"}


def test_an_application_of_an_earlier_version_says_whether_it_is_truncated(
    client: TestClient, storage: Storage, tmp_path: Path
) -> None:
    whole, short = tmp_path / "whole.ht", tmp_path / "short.ht"
    operations = encode("allreduce", count=1, size=8) * 40 + encode("finalize")
    write_trace(whole, TraceHeader(ranks=2, program="loop"), [operations] * 2)
    truncate(whole, short)
    ids = [add_trace(storage, path).id for path in (whole, short)]
    parts = [{"name": name, "application": {"id": name}} for name in ids]
    both = {"applications": parts}
    ids.append(stored_application(storage, check_application(both)).id)

    for ask in (
        lambda: [client.get(f"{URL}/{one}").json() for one in ids],
        lambda: client.get(URL).json()["items"][::-1],
    ):
        for one in ids:
            forget_truncated(storage, one)
        assert [answer["summary"]["truncated"] for answer in ask()] == [False, True, True]
        kept = [storage.applications.get(one).summary["truncated"] for one in ids]
        assert kept == [False, True, True]
    forget_truncated(storage, ids[1])
    again = client.post(URL, content=short.read_bytes(), headers=RAW)
    assert (again.status_code, again.json()["summary"]["truncated"]) == (200, True)


def test_what_cannot_be_known_of_an_application_is_left_out(
    client: TestClient, runtime: Runtime, storage: Storage, trace: Path
) -> None:
    added = add_trace(storage, trace)
    forget_truncated(storage, added.id)
    for path in stored_files(runtime):
        path.unlink()

    for answer in (client.get(f"{URL}/{added.id}").json(), client.get(URL).json()["items"][0]):
        assert "truncated" not in answer["summary"]
        assert answer["summary"]["calls"] == {"allreduce": 2}


def test_damaged_and_hostile_traces_are_refused(
    client: TestClient, runtime: Runtime, scratch: Path, trace: Path
) -> None:
    good = trace.read_bytes()
    for content in (good + b"\0", good[:-3] + b"\0\0\0", program_with_a_path(good)):
        assert content != good
        assert client.post(URL, content=content, headers=RAW).status_code == 422
    assert stored_files(runtime) == []


@pytest.mark.parametrize(
    ("operations", "where", "reason"),
    [
        (encode("barrier"), "calls 1 of the trace", "finalize"),
        (encode("send", peer=5, count=1, size=8) + encode("finalize"), "rank 1, send", "5"),
        (encode("wait", slot=3) + encode("finalize"), "rank 1 of the trace", "slot"),
        (encode("barrier", comm=7) + encode("finalize"), "rank 1 of the trace", "communicator"),
    ],
    ids=["no finalize", "no such peer", "no request", "no communicator"],
)
def test_a_trace_that_cannot_be_replayed_is_refused_with_its_reason(
    client: TestClient, tmp_path: Path, trace: Path, operations: bytes, where: str, reason: str
) -> None:
    wrong = tmp_path / "wrong.ht"
    blocks = [
        RankBlock(encode("finalize"), 1),
        RankBlock(operations, 2 if reason != "finalize" else 1),
    ]
    write_trace(wrong, TraceHeader(ranks=2, program="wrong"), blocks)
    response = client.post(URL, content=wrong.read_bytes(), headers=RAW)
    assert response.status_code == 422
    assert where in response.json()["detail"]
    assert reason in response.json()["detail"]
    assert client.post(URL, content=trace.read_bytes(), headers=RAW).status_code == 201


@pytest.mark.parametrize(
    "declared", [None, "70000", "10"], ids=["chunked", "declared", "declared too small"]
)
def test_a_large_upload_is_refused_whatever_length_it_declares(
    client: TestClient, runtime: Runtime, scratch: Path, declared: str | None
) -> None:
    headers = RAW if declared is None else {**RAW, "Content-Length": declared}
    response = client.post(URL, content=iter([b"x" * 7000] * 10), headers=headers)
    assert response.status_code == 413
    assert response.json()["detail"] == "the body is larger than the 64 KiB accepted here"
    assert stored_files(runtime) == []


def test_a_large_form_is_refused(client: TestClient, runtime: Runtime, scratch: Path) -> None:
    for size in (64 * 1024 + 1, 200_000):
        response = client.post(URL, files={"trace": ("t.ht", b"x" * size)})
        assert response.status_code == 413
    assert stored_files(runtime) == []


@pytest.mark.parametrize("form", [False, True], ids=["raw", "form"])
def test_an_upload_that_the_disk_has_no_room_for_is_refused_as_that(
    client: TestClient,
    runtime: Runtime,
    trace: Path,
    form: bool,
    scratch: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def send() -> Response:
        if form:
            answer: Response = client.post(URL, files={"trace": trace.read_bytes()})
        else:
            answer = client.post(URL, content=trace.read_bytes(), headers=RAW)
        return answer

    full = Path("/dev/full")
    with monkeypatch.context() as arriving:
        arriving.setattr(tempfile, "TemporaryFile", lambda: full.open("r+b", buffering=0))
        refused = [send()]
    with monkeypatch.context() as stored:
        stored.setattr(os, "fsync", lambda _file: full.write_bytes(b"x"))
        refused.append(send())
    for response in refused:
        assert response.status_code == 507
        assert response.json()["detail"].startswith("the disk of this host came to be full while")
    assert stored_files(runtime) == []
    assert send().status_code == 201


@pytest.mark.parametrize("given", ["application/json", "text/plain", None])
def test_other_content_types_are_refused(client: TestClient, given: str | None) -> None:
    headers = {} if given is None else {"Content-Type": given}
    response = client.post(URL, content=b"{}", headers=headers)
    assert response.status_code == 415
    assert response.headers["accept"] == "application/octet-stream, multipart/form-data"


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"files": {"file": ("t.ht", b"x")}}, "file"),
        ({"files": {"name": ("t.ht", b"x")}}, "trace"),
        ({"data": {"trace": "text"}, "files": {"name": ("t.ht", b"x")}}, "trace"),
    ],
)
def test_a_form_without_the_trace_names_the_field(
    client: TestClient, scratch: Path, form: dict[str, Any], field: str
) -> None:
    response = client.post(URL, **form)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=x"])
def test_a_broken_form_is_refused(client: TestClient, scratch: Path, content_type: str) -> None:
    response = client.post(
        URL,
        content=b'--x\r\nContent-Disposition: form-data; name="trace"; filename="t"\r\n\r\nab',
        headers={"Content-Type": content_type},
    )
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == "application/problem+json"


def test_a_name_that_cannot_be_shown_is_refused(client: TestClient, trace: Path) -> None:
    for name in ("a\x00b", "x" * 201, "  "):
        response = client.post(URL, params={"name": name}, content=trace.read_bytes(), headers=RAW)
        assert response.status_code == 422
        assert response.json()["errors"][0]["field"] == "name"


def test_an_unknown_application_is_not_found(client: TestClient) -> None:
    response = client.get(f"{URL}/nothing")
    assert response.status_code == 404
    assert response.json()["detail"] == "there is no application nothing"


def test_a_trace_is_stored_under_its_hash(
    client: TestClient, runtime: Runtime, scratch: Path, trace: Path
) -> None:
    response = client.post(URL, content=trace.read_bytes(), headers=RAW)
    assert response.status_code == 201
    application = response.json()
    assert application["name"] == "pair"
    assert application["kind"] == "trace"
    assert application["ranks"] == 2
    assert application["summary"]
    stored = runtime.storage.artifacts.path(application["trace_sha256"])
    assert stored.read_bytes() == trace.read_bytes()
    assert client.get(response.headers["location"]).json() == application


def test_a_form_does_the_same_and_may_name_it(
    client: TestClient, scratch: Path, trace: Path
) -> None:
    response = client.post(
        URL, files={"trace": ("t.ht", trace.read_bytes())}, data={"name": "my pair"}
    )
    assert response.status_code == 201, response.text
    assert response.json()["name"] == "my pair"


def test_the_same_trace_is_stored_once(client: TestClient, trace: Path) -> None:
    first = client.post(URL, content=trace.read_bytes(), headers=RAW)
    again = client.post(URL, params={"name": "again"}, content=trace.read_bytes(), headers=RAW)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert again.headers["location"] == first.headers["location"]


def test_applications_are_listed_by_pages(client: TestClient, runtime: Runtime) -> None:
    for number in range(5):
        runtime.storage.applications.add(
            name=f"app{number}",
            kind="builtin",
            key=f"key{number}",
            trace_sha256="0" * 64,
            ranks=2,
            summary={},
        )
    names, cursor = [], None
    for _ in range(3):
        page = client.get(URL, params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        names += [item["name"] for item in page["items"]]
        cursor = page["cursor"]
    assert cursor is None
    assert names == ["app4", "app3", "app2", "app1", "app0"]
    for query in ({"limit": 0}, {"limit": "all"}, {"cursor": "x y"}, {"cursor": "short"}):
        assert client.get(URL, params=query).status_code == 422


def test_nothing_is_left_when_the_client_goes_away(
    runtime: Runtime, scratch: Path, trace: Path
) -> None:
    def breaking() -> Iterator[bytes]:
        yield trace.read_bytes()[:50]
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        TestClient(create_app(runtime)).post(URL, content=breaking(), headers=RAW)
    assert stored_files(runtime) == []

"""Which service runs over a data directory, by the file that it leaves there."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from cli.announced import announce, is_local, live_server
from cli.client import connect
from service.settings import Settings
from tests.cli.answering import answering

NOBODY = 2**22 + 1
"""The number of no process: there are none so high."""
HEALTH = {"status": "ok", "version": "0.1.0"}


def leave(data: Path, **said: Any) -> None:
    """Leave a file of these fields in a data directory, as a killed service does."""
    data.mkdir(exist_ok=True)
    (data / "server.json").write_text(json.dumps({"pid": os.getpid(), **said}))


def test_a_service_that_names_the_instance_of_the_file_is_found(tmp_path: Path) -> None:
    with answering(json.dumps({**HEALTH, "instance": "a1"}).encode()) as service:
        announce(tmp_path, service.url, "a1")
        assert live_server(tmp_path) == service.url
        announce(tmp_path, service.url, "b2")
        assert live_server(tmp_path) is None
    assert [path.name for path in tmp_path.iterdir()] == ["server.json"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"instance": "a1"}, HEALTH),
        ({}, {**HEALTH, "instance": "a1"}),
        ({"instance": "a1"}, {"instance": "a1"}),
        ({}, {"status": "ok"}),
        ({}, ["version"]),
        ({}, None),
    ],
)
def test_what_else_answers_at_its_port_is_not_taken_for_it(
    tmp_path: Path, said: dict[str, Any], answer: Any
) -> None:
    with answering(b"hello" if answer is None else json.dumps(answer).encode()) as other:
        leave(tmp_path, url=other.url, **said)
        assert live_server(tmp_path) is None
        assert other.asked


def test_an_earlier_version_is_found_where_its_process_lives(tmp_path: Path) -> None:
    with answering(json.dumps(HEALTH).encode()) as service:
        leave(tmp_path, url=service.url)
        assert live_server(tmp_path) == service.url
        leave(tmp_path, url=service.url, pid=NOBODY)
        assert live_server(tmp_path) is None


@pytest.mark.parametrize(
    "said", [{"pid": NOBODY}, {"pid": "1"}, {"host": f"not-{socket.gethostname()}"}]
)
def test_what_cannot_be_ours_is_not_even_asked(tmp_path: Path, said: dict[str, Any]) -> None:
    with answering(json.dumps({**HEALTH, "instance": "a1"}).encode()) as other:
        leave(tmp_path, **{"url": other.url, "host": socket.gethostname(), "instance": "a1"} | said)
        assert live_server(tmp_path) is None
        assert other.asked == []


def test_no_key_goes_to_a_program_that_has_the_port_of_a_killed_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: dict[str, Any]
) -> None:
    monkeypatch.setenv("HAMTUNE_API_KEY", "secret")
    settings = Settings.under(tmp_path / "data")
    with answering(b'{"status": "ok"}') as other:
        leave(settings.data, url=other.url)
        with connect(None, settings) as client:
            created = client.create_job(job)
            assert client.find_job("tiny")["id"] == created["id"]
    assert {path for _, path, _ in other.asked} == {"/healthz"}
    assert all("Authorization" not in headers for *_, headers in other.asked)


def test_a_proxy_is_not_asked_for_a_service_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    settings = Settings.under(tmp_path)
    with answering(json.dumps({**HEALTH, "instance": "a1"}).encode()) as service:
        announce(tmp_path, service.url, "a1")
        assert live_server(tmp_path) == service.url
        with connect(None, settings) as client:
            assert client.get("/jobs")["version"] == "0.1.0"
        with connect(service.url, settings) as client:
            assert client.get("/jobs")["version"] == "0.1.0"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://[::1]:8080", True),
        ("http://0.0.0.0:8080", True),
        ("http://192.0.2.1:8080", False),
        ("https://hamtune.example", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_this_machine_is_told_from_others(url: str, local: bool) -> None:
    assert is_local(url) == local

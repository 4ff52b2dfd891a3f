"""Which service the client asks where nobody says so."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from hamtune_client import Client
from hamtune_client.discovery import DEFAULT_URL, is_local, service_url
from tests.cli.answering import answering
from tests.cli.conftest import Hamtune, hamtune

__all__ = ["hamtune"]

NOBODY = 2**22 + 1
"""The number of no process: there are none so high."""


@pytest.fixture(autouse=True)
def nothing_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAMTUNE_SERVER", raising=False)
    monkeypatch.setenv("HAMTUNE_DATA", str(tmp_path / "data"))


def test_the_one_over_the_data_directory(hamtune: Hamtune, monkeypatch: pytest.MonkeyPatch) -> None:
    with hamtune.service() as service:
        assert service_url() == service.url
        with Client() as client:
            assert client.list_jobs() == []
        monkeypatch.delenv("HAMTUNE_DATA")
        monkeypatch.setenv("HOME", str(hamtune.directory))
        home = hamtune.directory / ".local/share/hamtune"
        home.parent.mkdir(parents=True)
        home.symlink_to(hamtune.data)
        assert service_url() == service.url
        monkeypatch.setenv("HAMTUNE_SERVER", "http://elsewhere:8080")
        assert service_url() == "http://elsewhere:8080"
    monkeypatch.delenv("HAMTUNE_SERVER")
    assert service_url() == DEFAULT_URL


def announce(data: Path, **said: Any) -> None:
    data.mkdir(exist_ok=True)
    (data / "server.json").write_text(json.dumps({"pid": os.getpid(), **said}))


def test_one_that_is_too_busy_to_answer_is_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        announce(tmp_path / "data", url=url)
        assert service_url() == url
        announce(tmp_path / "data", url=url, pid=NOBODY)
        assert service_url() == DEFAULT_URL


@pytest.mark.parametrize(
    ("said", "answer", "taken"),
    [
        ({"instance": "a1"}, {"version": "1", "instance": "a1"}, True),
        ({"instance": "a1"}, {"version": "1", "instance": "b2"}, False),
        ({"instance": "a1"}, {"version": "1"}, False),
        ({"instance": "a1"}, {"instance": "a1"}, False),
        ({"instance": "a1"}, "ok", False),
        ({}, {"version": "1"}, True),
        ({}, {"version": "1", "instance": "b2"}, False),
        ({}, {"status": "ok"}, False),
    ],
)
def test_what_else_has_its_port_is_not_taken_for_it(
    tmp_path: Path, said: dict[str, Any], answer: Any, taken: bool
) -> None:
    with answering(json.dumps(answer).encode()) as other:
        announce(tmp_path / "data", url=other.url, **said)
        assert service_url() == (other.url if taken else DEFAULT_URL)


@pytest.mark.parametrize("said", [{"pid": NOBODY}, {"host": f"not-{socket.gethostname()}"}])
def test_what_cannot_run_here_is_not_even_asked(tmp_path: Path, said: dict[str, Any]) -> None:
    with answering(b'{"version": "1", "instance": "a1"}') as other:
        announce(tmp_path / "data", **{"url": other.url, "instance": "a1", **said})
        assert service_url() == DEFAULT_URL
        assert other.asked == []


def test_a_proxy_is_not_asked_for_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with answering(b'{"version": "1", "items": [], "cursor": null}') as service:
        announce(tmp_path / "data", url=service.url)
        assert service_url() == service.url
        with Client() as client:
            assert client.list_jobs() == []


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
    ],
)
def test_this_machine_is_told_from_others(url: str, local: bool) -> None:
    assert is_local(url) == local


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", '{"url": "http://127.0.0.1:9"}', '{"url":1}']
)
def test_one_that_is_gone_is_not_asked(tmp_path: Path, text: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/server.json").write_text(text)
    assert service_url() == DEFAULT_URL

"""Which service the client asks where nobody says so."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from hamtune_client import Client
from hamtune_client.discovery import DEFAULT_URL, service_url
from tests.cli.conftest import Hamtune, hamtune

__all__ = ["hamtune"]


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


def test_one_that_is_too_busy_to_answer_is_there(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        (tmp_path / "data/server.json").write_text(json.dumps({"url": url}))
        assert service_url() == url


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", '{"url": "http://127.0.0.1:9"}', '{"url":1}']
)
def test_one_that_is_gone_is_not_asked(tmp_path: Path, text: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/server.json").write_text(text)
    assert service_url() == DEFAULT_URL

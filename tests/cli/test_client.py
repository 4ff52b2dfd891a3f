from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.client import Client, connect, live_server
from cli.jobfile import create_job, read_job
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from searchspace.job import load_job
from service.settings import Settings
from tests.cli.answering import answering


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.under(tmp_path / "data")


def test_without_a_service_the_data_directory_answers(
    settings: Settings, job: dict[str, Any]
) -> None:
    with connect(None, settings) as client:
        created = client.create_job(job)
    with connect(None, settings) as client:
        assert client.find_job(created["id"])["state"] == "queued"
        assert client.find_job("tiny") == client.find_job(created["id"])


def test_a_service_that_died_is_not_asked(settings: Settings) -> None:
    settings.data.mkdir()
    (settings.data / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": 1}))

    assert live_server(settings.data) is None
    with connect(None, settings) as client:
        assert client.get("/jobs")["items"] == []


@pytest.mark.parametrize("text", ["", "[]", '{"pid": 1}', '{"url": 5}', "\x00"])
def test_a_damaged_server_file_is_no_service(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.json").write_text(text)

    assert live_server(tmp_path) is None


def test_a_name_that_several_jobs_have_is_refused(settings: Settings, job: dict[str, Any]) -> None:
    with connect(None, settings) as client:
        first, second = (client.create_job(job)["id"] for _ in range(2))

        with pytest.raises(HamtuneError, match="2 jobs are called 'tiny'") as refusal:
            client.find_job("tiny")

    assert first in str(refusal.value)
    assert second in str(refusal.value)


def test_problems_are_errors_in_their_own_words(settings: Settings, job: dict[str, Any]) -> None:
    with connect(None, settings) as client:
        with pytest.raises(InvalidInput, match=r"budget\.trials"):
            client.create_job({**job, "budget": {"trials": 0}})
        with pytest.raises(HamtuneError, match="no job nobody") as refusal:
            client.find_job("nobody")
        assert not isinstance(refusal.value, InvalidInput)


def test_all_pages_of_a_listing_are_read(settings: Settings, job: dict[str, Any]) -> None:
    with connect(None, settings) as client:
        created = [client.create_job(job)["id"] for _ in range(5)]

        assert [item["id"] for item in client.pages("/jobs", limit=2)] == created[::-1]


def test_a_trace_named_by_a_job_file_is_uploaded(
    settings: Settings, job: dict[str, Any], tmp_path: Path
) -> None:
    operations = encode("barrier") + encode("finalize")
    write_trace(tmp_path / "t.ht", TraceHeader(ranks=2, program="nothing"), [operations] * 2)
    spec = load_job({**job, "application": {"trace": "t.ht"}})

    with connect(None, settings) as client:
        created = create_job(client, spec, tmp_path)
        (application,) = client.get("/applications")["items"]

    assert created["spec"]["application"] == {"id": application["id"]}
    assert application["ranks"] == 2


def test_a_job_file_that_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(InvalidInput, match=r"job\.yaml: "):
        read_job(path)


def test_names_with_slashes_stay_in_their_place(settings: Settings) -> None:
    with connect(None, settings) as client, pytest.raises(HamtuneError):
        client.find_job("../machines")


def test_an_answer_of_something_else_is_named(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "t.ht").write_bytes(b"t")
    with answering(b"<html>It works</html>") as other, connect(other.url, settings) as client:
        for ask in (
            lambda: client.get("/jobs"),
            lambda: client.post("/jobs", {}),
            lambda: client.patch("/jobs/1", {}),
            lambda: client.put("/jobs/1/priority", {}),
            lambda: client.delete("/jobs/1"),
            lambda: client.upload_trace(tmp_path / "t.ht"),
            lambda: client.upload_source(tmp_path / "t.ht", {}),
        ):
            with pytest.raises(HamtuneError, match=f"{other.url}/api/v1/.* answers no JSON") as no:
                ask()
            assert "check --server" in str(no.value)


def test_the_client_tells_where_it_asks(settings: Settings) -> None:
    with connect("http://127.0.0.1:9/", settings) as client:
        assert isinstance(client, Client)
        assert client.url == "http://127.0.0.1:9"

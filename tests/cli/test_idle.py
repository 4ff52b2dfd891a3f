"""Where nothing runs over a data directory, commands that leave a job waiting say so."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from cli.client import connect
from cli.idle import say_idle
from service.runtime import Runtime
from service.settings import Settings
from tests.cli.conftest import SECONDS, Hamtune


@pytest.fixture
def settings(hamtune: Hamtune) -> Settings:
    return Settings.under(hamtune.data)


def left_running(settings: Settings, job: dict[str, Any]) -> str:
    """A job of which the process that ran it was killed; its id."""
    with connect(None, settings) as client:
        job_id = str(client.create_job(job)["id"])
    with Runtime(settings, run=False) as runtime:
        leased = runtime.storage.leases.acquire("gone", 600.0, job_id)
        assert leased is not None
        runtime.storage.jobs.transition(job_id, "running", token=leased.lease_token)
    return job_id


def test_watching_says_that_nothing_runs_the_job(
    hamtune: Hamtune, settings: Settings, job: dict[str, Any]
) -> None:
    job_id = left_running(settings, job)
    with hamtune.running("watch", "tiny", ready="nothing runs over") as watching:
        assert f"'hamtune run --resume {job_id}'" in watching.said
        watching.process.send_signal(signal.SIGINT)
        watching.process.communicate(timeout=SECONDS)
    assert watching.process.returncode == 130


@pytest.mark.parametrize(("command", "ends"), [("pause", "paused"), ("cancel", "cancelled")])
def test_asking_a_job_to_end_says_that_nothing_hears_it(
    hamtune: Hamtune, settings: Settings, job: dict[str, Any], command: str, ends: str
) -> None:
    left_running(settings, job)
    done = hamtune(command, "tiny")
    assert done.returncode == 0, done.stderr
    assert f"the job is {ends} as soon as 'hamtune up' runs" in done.stderr


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled", "paused"])
def test_nothing_is_said_of_a_job_that_waits_for_nobody(
    settings: Settings, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    say_idle({"id": "0", "state": state}, None, settings)
    assert capsys.readouterr().err == ""


def test_nothing_is_said_where_a_service_is_named_or_runs(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    say_idle({"id": "0", "state": "queued"}, "http://elsewhere", settings)
    with Runtime(settings, run=True, only_asked=True):
        say_idle({"id": "0", "state": "queued"}, None, settings)
    assert capsys.readouterr().err == ""
    say_idle({"id": "0", "state": "queued"}, None, settings)
    assert "nothing runs over" in capsys.readouterr().err

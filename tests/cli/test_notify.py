"""Subscriptions from the command line, and a server that is killed before it has told anybody."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from tests.cli.conftest import Hamtune
from tests.service.subscriptions.conftest import receiver
from tests.service.subscriptions.receivers import Hook

__all__ = ["receiver"]


@pytest.fixture
def hamtune(hamtune: Hamtune) -> Hamtune:
    """Commands, and a service that may send to this machine."""
    hamtune.environment |= {"HAMTUNE_NOTIFY_ALLOW": "127.0.0.1", "HAMTUNE_NOTIFY_RETRY": "50ms"}
    return hamtune


def test_subscriptions_are_made_tested_listed_and_removed(hamtune: Hamtune, receiver: Hook) -> None:
    done = hamtune("notify", "add", receiver.url, "--on", "failed", "--name", "team")
    assert done.returncode == 0
    identifier = done.stdout.strip()
    assert "messages are signed with whsec_" in done.stderr
    assert "it is not shown again" in done.stderr

    (listed,) = hamtune.json("notify", "list")
    assert (listed["id"], listed["name"], listed["events"]) == (identifier, "team", ["failed"])
    shown = hamtune("notify", "list").stdout
    assert "http://127.0.0.1:" in shown
    assert "hook" not in shown
    assert "whsec_" not in shown

    assert hamtune("notify", "test", identifier).stdout == "sent: answered 204\n"
    receiver.answers = [500]
    failed = hamtune("notify", "test", identifier)
    assert (failed.returncode, failed.stdout) == (1, "failed: answered 500\n")
    assert [one["state"] for one in hamtune.json("notify", "log", identifier)] == ["failed", "sent"]
    assert "answered 500" in hamtune("notify", "log", identifier).stdout

    assert "has ended" in hamtune("notify", "remove", identifier).stderr
    assert hamtune.json("notify", "list") == []
    line = hamtune.refused("notify", "test", identifier, status=1)
    assert line == f"hamtune: there is no subscription {identifier}"


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["http://example.org/"], 2, "target: use https"),
        (["ada@example.org"], 2, "target: this service sends no e-mail"),
        (["ada"], 2, "target: use a URL such as"),
        (["https://example.org/", "--job", "none"], 1, "there is no job none"),
        (["https://example.org/", "--pause", "soon"], 2, "is no time"),
        (["https://example.org/", "--pause", "1s"], 2, "pause_seconds: "),
    ],
)
def test_wrong_use_is_said_in_a_line(
    hamtune: Hamtune, words: list[str], status: int, why: str
) -> None:
    assert why in hamtune.refused("notify", "add", *words, status=status)


def test_a_submitted_job_tells_of_its_end(
    hamtune: Hamtune, receiver: Hook, job: dict[str, Any]
) -> None:
    with hamtune.service():
        all_of_them = hamtune.json("notify", "add", receiver.url, "--on", "incumbent")
        submitted = hamtune.json("submit", hamtune.job_file(job), "--notify", receiver.url)
        ended = hamtune.json("watch", submitted["id"])
        best = ended["progress"]["best"]
        messages = [request.message for request in receiver.wait_for(2)]
        told = {one["event"]: one for one in messages}
        assert told.keys() == {"incumbent", "completed"}
        assert told["completed"]["job"]["id"] == submitted["id"]
        # The first trial of this job is its best one.
        assert told["completed"]["best"] == told["incumbent"]["best"] == best
        (log,) = hamtune.json("notify", "log", all_of_them["id"])
        assert log["event"] == "incumbent"


def test_a_job_goes_on_where_nobody_can_be_told(hamtune: Hamtune, job: dict[str, Any]) -> None:
    with hamtune.service():
        done = hamtune("submit", hamtune.job_file(job), "--notify", "http://example.org/")
        assert done.returncode == 0
        assert "nobody will be told of job" in done.stderr
        assert hamtune.json("watch", done.stdout.strip())["state"] == "completed"


def test_a_server_that_is_killed_while_it_tells_tells_it_again(
    hamtune: Hamtune, receiver: Hook, job: dict[str, Any]
) -> None:
    """The receiver sees the message twice, and knows by its id that it is one."""
    job["search"]["topology"] = [{"family": "random", "instances": 10_000}]
    job["budget"] = {"trials": 1_000_000}  # it is to be cancelled, and not to be over before
    receiver.gate.clear()
    with hamtune.service() as service:
        made = hamtune.json("notify", "add", receiver.url)
        job_id = hamtune("submit", hamtune.job_file(job)).stdout.strip()
        hamtune("cancel", job_id)
        receiver.wait_for(1)
        service.process.kill()
        service.process.wait()
    (log,) = hamtune.json("notify", "log", made["id"])
    assert (log["state"], log["tries"], log["answer"]) == ("waiting", 1, None)

    receiver.gate.set()
    with hamtune.service():
        first, second = receiver.wait_for(2)
        while (log := hamtune.json("notify", "log", made["id"])[0])["state"] == "waiting":
            time.sleep(0.02)
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == log["id"]
    assert first.body == second.body
    assert second.message["job"]["id"] == job_id
    assert (log["state"], log["tries"], log["answer"]) == ("sent", 2, "answered 204")


def test_coordinators_over_one_database_tell_each_end_once(
    hamtune: Hamtune,
    receiver: Hook,
    job: dict[str, Any],
    create_database: Callable[[], str],
    redis_url: str,
) -> None:
    hamtune.environment |= {
        "HAMTUNE_DATABASE_URL": create_database(),
        "HAMTUNE_BROKER_URL": redis_url,
        "HAMTUNE_ARTIFACTS_URL": (hamtune.directory / "artifacts").as_uri(),
    }
    with ExitStack() as processes:
        api = processes.enter_context(
            hamtune.running("api", "--port", "0", ready="serving http://")
        )
        for _ in range(2):
            processes.enter_context(hamtune.running("coordinator", ready="waiting for jobs"))
        made = hamtune.json("notify", "add", receiver.url, "--server", api.url)
        jobs = [
            hamtune.json("submit", hamtune.job_file(job), "--server", api.url)["id"]
            for _ in range(4)
        ]
        for job_id in jobs:
            hamtune("cancel", job_id, "--server", api.url)
        requests = receiver.wait_for(4)
        while any(
            one["state"] == "waiting"
            for one in hamtune.json("notify", "log", made["id"], "--server", api.url)
        ):
            time.sleep(0.02)
    assert sorted(one.message["job"]["id"] for one in requests) == sorted(jobs)
    assert {one.message["event"] for one in requests} == {"cancelled"}
    assert len(receiver.requests) == 4

"""Limits of tests: of each who sends them, and of all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.auth.principal import Principal
from service.problems import ProblemError
from service.runtime import Runtime
from service.settings import Settings
from service.subscriptions.limits import SendingLimits
from storage.storage import Storage
from tests.service.subscriptions.receivers import Hook
from tests.storage.test_allowances import stop_refilling

HERE = "/api/v1/subscriptions"


def principal(name: str) -> Principal:
    return Principal(name=f"key:{name}", project="default", role="submitter", scopes=())


def test_few_are_sent_at_once_and_fewer_of_one(storage: Storage) -> None:
    limits = SendingLimits()
    with ExitStack() as stack:
        for name in "aabbccdd":
            stack.enter_context(limits.admitted(storage, principal(name)))
        for name in "ae":
            with pytest.raises(ProblemError, match="other tests"):
                stack.enter_context(limits.admitted(storage, principal(name)))
    with limits.admitted(storage, principal("e")):
        pass


def test_what_fails_gives_its_turn_back(storage: Storage) -> None:
    limits = SendingLimits()
    for _ in range(5):
        with pytest.raises(KeyError), limits.admitted(storage, principal("a")):
            raise KeyError


def test_what_is_refused_gives_its_turn_back(storage: Storage) -> None:
    limits = SendingLimits()
    with limits.admitted(storage, principal("a")):
        pass
    stop_refilling(storage, 0.0)
    for _ in range(10):
        with (
            pytest.raises(ProblemError, match="20 tests were sent lately; wait 3 s"),
            limits.admitted(storage, principal("a")),
        ):
            pass
    with limits.admitted(storage, principal("b")):
        pass


@pytest.fixture
def servers(create_database: Callable[[], str], tmp_path: Path) -> Iterator[list[TestClient]]:
    """Two servers over one PostgreSQL."""
    url = create_database()
    with ExitStack() as stack:
        clients = []
        for name in ("one", "two"):
            settings = Settings.from_environment(
                {
                    "HAMTUNE_DATA": str(tmp_path / name),
                    "HAMTUNE_DATABASE_URL": url,
                    "HAMTUNE_NOTIFY_ALLOW": "127.0.0.1",
                }
            )
            runtime = stack.enter_context(Runtime(settings, run=False))
            clients.append(TestClient(create_app(runtime)))
        yield clients


def test_several_servers_count_together(servers: list[TestClient], receiver: Hook) -> None:
    """What is sent through one of them is sent for all."""
    path = f"{HERE}/{servers[0].post(HERE, json={'target': receiver.url}).json()['id']}/test"
    assert servers[0].post(path).status_code == 200
    stop_refilling(servers[0].app.state.runtime.storage)  # type: ignore[attr-defined]
    for number in range(20):
        assert servers[number % 2].post(path).json()["state"] == "sent"
    for server in servers:
        refused = server.post(path)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
    assert len(receiver.requests) == 21

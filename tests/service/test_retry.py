"""A process that starts while the database is started again, too."""

from __future__ import annotations

import logging
from threading import Event

import pytest

from service.retry import Stopped, retrying
from storage.errors import Unavailable


def test_what_a_broken_connection_stopped_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.retry._PAUSE_SECONDS", 0.0)
    left = ["the connection was closed", "it starts"]

    def act() -> str:
        if left:
            raise Unavailable(left.pop())
        return "done"

    assert retrying(act) == "done"


def test_a_database_that_stays_away_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.retry._PAUSE_SECONDS", 0.0)

    def act() -> None:
        raise Unavailable("the database cannot be used now: it is away")

    with pytest.raises(Unavailable, match="it is away"):
        retrying(act)


def test_a_server_waits_for_a_database_that_stays_away_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("service.retry._PAUSE_SECONDS", 0.0)
    away = iter(range(20))

    def act() -> str:
        if next(away, None) is not None:
            raise Unavailable("the database cannot be used now: it is away")
        return "done"

    with caplog.at_level(logging.WARNING, "hamtune.service"):
        assert retrying(act, until=Event()) == "done"
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told == ["the database cannot be used now: it is away; waiting for it"]


def test_a_server_that_is_told_to_stop_waits_no_longer() -> None:
    stop = Event()

    def act() -> None:
        stop.set()
        raise Unavailable("the database cannot be used now: it is away")

    with pytest.raises(Stopped):
        retrying(act, until=stop)

"""Tests of subscriptions are counted for each who sends them, and in one place for all servers."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import update

from storage.allowances import Allowance
from storage.errors import Throttled
from storage.outbox_models import AllowanceRow
from storage.storage import Storage
from storage.view import StorageView

EACH = Allowance(burst=4, seconds=60.0, at_once=2, hold_seconds=600.0)


def stop_refilling(storage: Storage, level: float = 20.0) -> None:
    """What was sent lately was sent in an hour, by which no clock adds to anybody's level."""
    with storage._database.writing() as session:
        now = storage._database.now(session)
        session.execute(update(AllowanceRow).values(at=now + 3600.0, level=level))


def send(storage: StorageView, principal: str = "key:a") -> None:
    storage.allowances.end(principal, storage.allowances.begin(principal, EACH))


def test_as_many_come_back_as_may_be_sent_in_the_time(storage: Storage) -> None:
    send(storage)
    stop_refilling(storage, 3.0)
    for _ in range(3):
        send(storage)
    with pytest.raises(Throttled, match="4 tests were sent lately") as refused:
        send(storage)
    assert refused.value.seconds == 15
    with storage._database.writing() as session:
        now = storage._database.now(session)
        session.execute(update(AllowanceRow).values(at=now - 3600.0))
    for _ in range(4):  # no more than after a rest, however long it was
        send(storage)


def test_nobody_uses_up_what_others_may_send(storage: Storage) -> None:
    storage.projects.add("theirs")
    send(storage)
    stop_refilling(storage, 0.0)
    with pytest.raises(Throttled):
        send(storage)
    send(storage, "key:b")
    send(storage.of_project("theirs"), "key:a")


def test_few_are_sent_at_once_even_where_all_begin_at_once(storage: Storage) -> None:
    start = threading.Barrier(4)

    def begin() -> str | None:
        start.wait()
        try:
            return storage.allowances.begin("key:a", EACH)
        except Throttled as error:
            assert (str(error), error.seconds) == ("other tests are being sent", 1)
            return None

    with ThreadPoolExecutor(4) as pool:
        begun = [one.result() for one in [pool.submit(begin) for _ in range(4)]]
    under_way = [one for one in begun if one is not None]
    assert len(under_way) == 2
    storage.allowances.end("key:a", under_way[0])
    send(storage)


def test_what_a_dead_server_was_sending_ends_by_itself(storage: Storage) -> None:
    dead = replace(EACH, hold_seconds=0.0)
    for _ in range(2):
        storage.allowances.begin("key:a", dead)
    send(storage)


def test_who_has_sent_none_for_long_is_forgotten(storage: Storage) -> None:
    send(storage)
    storage.allowances.forget(3600.0)
    storage.allowances.forget(-1.0)
    with storage._database.reading() as session:
        assert session.query(AllowanceRow).all() == []
    storage.allowances.end("key:a", "gone")
    send(storage)

"""Whoever waits for events is told of them, by this process and, over PostgreSQL, by others."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from storage.news import Bell, News, Notice
from storage.storage import Storage

SECONDS = 120.0
"""Far longer than news take; a test that waits so long fails."""


@contextmanager
def heard(storage: Storage) -> Iterator[queue.SimpleQueue[Notice | None]]:
    """What a subscriber of the storage hears, once it hears all that it can."""
    notices: queue.SimpleQueue[Notice | None] = queue.SimpleQueue()
    with storage.news.subscribed(notices.put):
        if not storage._database.is_sqlite:
            while not storage.hears_all():
                time.sleep(0.01)
            assert notices.get(timeout=SECONDS) is None
        yield notices


def test_committed_events_are_heard(storage: Storage) -> None:
    with heard(storage) as notices:
        job = storage.create_job(name="cg", spec={}, seed=1)
        storage.transition(job.id, "preparing")
        assert notices.get(timeout=SECONDS) == Notice(job.id, "job", "queued")
        assert notices.get(timeout=SECONDS) == Notice(job.id, "job", "preparing")


def test_what_is_not_committed_is_not_heard(storage: Storage) -> None:
    with heard(storage) as notices:
        with pytest.raises(ZeroDivisionError), storage._database.writing() as session:
            storage._database.note(session, "j", "message", {})
            raise ZeroDivisionError
        storage.append_event("j", "message", {})
        assert notices.get(timeout=SECONDS) == Notice("j", "message", "")
        assert notices.empty()


def test_more_events_than_a_notification_holds_are_heard_as_some(storage: Storage) -> None:
    with heard(storage) as notices:
        with storage._database.writing() as session:
            for n in range(500):
                storage._database.note(session, f"job{n:013}", "message", {})
        first = notices.get(timeout=SECONDS)
        assert first is None or first.job_id == f"job{0:013}"


def test_processes_over_postgresql_hear_of_each_other(storage: Storage, tmp_path: Path) -> None:
    if storage._database.is_sqlite:
        assert not storage.hears_all()  # one has to look
        return
    url = storage._database.engine.url.render_as_string(hide_password=False)
    other = Storage.open(url, str(tmp_path))
    try:
        with heard(storage) as notices:
            job = other.create_job(name="cg", spec={}, seed=1)
            assert notices.get(timeout=SECONDS) == Notice(job.id, "job", "queued")
    finally:
        other.close()


def test_a_bell_rings_for_what_is_wanted_and_where_news_may_be_missing() -> None:
    news, bell = News(), Bell(lambda notice: notice.job_id == "a")
    with news.subscribed(bell.hear):
        news.announce([Notice("b", "job", "queued")])
        assert not bell.wait(0.0)
        news.announce([Notice("a", "job", "queued"), Notice("b", "job", "queued")])
        assert bell.wait(0.0)
        assert not bell.wait(0.0)
        news.announce([None])
        assert bell.wait(0.0)
    news.announce([None])
    assert not bell.wait(0.0)


def test_a_notice_is_one_line() -> None:
    notice = Notice("0k3v9m2x7q1zt8ab", "trial", "completed")
    assert Notice.decode(notice.encode()) == notice
    assert Notice.decode("").job_id == ""

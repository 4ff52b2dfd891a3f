"""Whoever waits for events is told of them, by this process and, over PostgreSQL, by others."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from storage.notifications import Notification, Notifications, Wakeup
from storage.storage import Storage

SECONDS = 120.0
"""Far longer than notifications take; a test that waits so long fails."""


@contextmanager
def heard(storage: Storage) -> Iterator[queue.SimpleQueue[Notification | None]]:
    """What a subscriber of the storage hears, once it hears all that it can."""
    notifications: queue.SimpleQueue[Notification | None] = queue.SimpleQueue()
    with storage.notifications.subscribed(notifications.put):
        if not storage._database.is_sqlite:
            while not storage.hears_all():
                time.sleep(0.01)
            assert notifications.get(timeout=SECONDS) is None
        yield notifications


def test_committed_events_are_heard(storage: Storage) -> None:
    with heard(storage) as notifications:
        job = storage.jobs.create(name="cg", spec={}, seed=1)
        storage.jobs.transition(job.id, "preparing")
        assert notifications.get(timeout=SECONDS) == Notification(job.id, "job", "queued")
        assert notifications.get(timeout=SECONDS) == Notification(job.id, "job", "preparing")


def test_what_is_not_committed_is_not_heard(storage: Storage) -> None:
    with heard(storage) as notifications:
        with pytest.raises(ZeroDivisionError), storage._database.writing() as session:
            storage._database.note(session, "j", "message", {})
            raise ZeroDivisionError
        storage.events.append("j", "message", {})
        assert notifications.get(timeout=SECONDS) == Notification("j", "message", "")
        assert notifications.empty()


def test_more_events_than_a_notification_holds_are_heard_as_some(storage: Storage) -> None:
    with heard(storage) as notifications:
        with storage._database.writing() as session:
            for n in range(500):
                storage._database.note(session, f"job{n:013}", "message", {})
        first = notifications.get(timeout=SECONDS)
        assert first is None or first.job_id == f"job{0:013}"


def test_processes_over_postgresql_hear_of_each_other(storage: Storage, tmp_path: Path) -> None:
    if storage._database.is_sqlite:
        assert not storage.hears_all()  # one has to look
        return
    url = storage._database.engine.url.render_as_string(hide_password=False)
    other = Storage.open(url, str(tmp_path))
    try:
        with heard(storage) as notifications:
            job = other.jobs.create(name="cg", spec={}, seed=1)
            assert notifications.get(timeout=SECONDS) == Notification(job.id, "job", "queued")
    finally:
        other.close()


def test_a_bell_rings_for_what_is_wanted_and_where_news_may_be_missing() -> None:
    notifications, wakeup = Notifications(), Wakeup(lambda notification: notification.job_id == "a")
    with notifications.subscribed(wakeup.hear):
        notifications.announce([Notification("b", "job", "queued")])
        assert not wakeup.wait(0.0)
        notifications.announce(
            [Notification("a", "job", "queued"), Notification("b", "job", "queued")]
        )
        assert wakeup.wait(0.0)
        assert not wakeup.wait(0.0)
        notifications.announce([None])
        assert wakeup.wait(0.0)
    notifications.announce([None])
    assert not wakeup.wait(0.0)


def test_a_notice_is_one_line() -> None:
    notification = Notification("0k3v9m2x7q1zt8ab", "trial", "completed")
    assert Notification.decode(notification.encode()) == notification
    assert Notification.decode("").job_id == ""

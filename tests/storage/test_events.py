from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from searchspace.errors import InvalidInput
from storage.records import Outcome, Trial
from storage.storage import Storage

Propose = Callable[..., Trial]


def test_events_come_in_order_from_the_cursor_on(storage: Storage) -> None:
    ids = [storage.events.append("j1", "message", {"n": n}).id for n in range(5)]

    assert ids == sorted(set(ids))
    assert [event.data["n"] for event in storage.events.after(0)] == [0, 1, 2, 3, 4]
    assert [event.data["n"] for event in storage.events.after(ids[1], limit=2)] == [2, 3]
    assert storage.events.last_id() == ids[-1]
    assert storage.events.after(ids[-1]) == []


def test_events_of_one_job_are_read_apart(storage: Storage) -> None:
    storage.events.append("j1", "message", {"n": 1})
    storage.events.append("j2", "message", {"n": 2})

    assert [event.data["n"] for event in storage.events.after(0, job_id="j2")] == [2]


def test_an_empty_log_has_the_cursor_zero(storage: Storage) -> None:
    assert storage.events.last_id() == 0


def test_a_page_of_events_has_a_size_within_limits(storage: Storage) -> None:
    with pytest.raises(InvalidInput):
        storage.events.after(0, limit=0)


def test_every_change_of_a_trial_is_an_event(
    storage: Storage, running_job: tuple[str, int], propose: Propose
) -> None:
    job_id, token = running_job
    before = storage.events.last_id()
    attempt = storage.attempts.open(propose(1).id, token)
    storage.attempts.begin(attempt.id, "worker")
    storage.attempts.finish(attempt.id, Outcome(status="completed", value=1.5, cpu_seconds=2.0))

    events = storage.events.after(before, job_id=job_id)

    assert {event.kind for event in events} == {"trial"}
    assert [event.data["state"] for event in events] == ["pending", "running", "completed"]
    assert events[-1].data == {
        "number": 1,
        "state": "completed",
        "kind": "search",
        "label": None,
        "value": 1.5,
        "cached": False,
        "cpu_seconds": 2.0,
    }


def test_the_ids_of_deleted_events_are_not_given_out_again(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec={}, seed=1)
    storage.jobs.transition(job.id, "cancelled")
    seen = storage.events.last_id()
    storage.trash.delete(job.id)

    assert [event.id > seen for event in storage.events.after(seen)] == [True]


def test_a_watcher_never_passes_over_an_event_that_is_committed_late(storage: Storage) -> None:
    """Writers append as fast as they can, at random holding their transactions open."""
    writers, appended = 6, 25
    done = threading.Event()
    seen: list[int] = []

    def watch() -> None:
        cursor = 0
        while True:
            finished = done.is_set()
            events = storage.events.after(cursor, limit=7)
            seen.extend(event.data["n"] for event in events)
            if events:
                cursor = events[-1].id
            elif finished:
                return

    def write(writer: int) -> None:
        waits = random.Random(writer)
        for n in range(appended):
            with storage._database.writing() as session:
                row = storage._database.note(session, "j", "message", {"n": writer * appended + n})
                storage._database._append_events(session, [row])
                session.info["events"].clear()
                time.sleep(waits.random() / 200)  # the id is drawn, the commit comes late

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    done.set()
    watcher.join()

    assert sorted(seen) == list(range(writers * appended))


def test_an_id_drawn_before_a_slow_commit_is_not_overtaken(storage: Storage) -> None:
    """One transaction has drawn its id and waits; another that appends must wait for it."""
    drawn, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        with storage._database.writing() as session:
            row = storage._database.note(session, "j", "message", {"n": "slow"})
            storage._database._append_events(session, [row])
            session.info["events"].clear()
            drawn.set()
            go_on.wait()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow)
        drawn.wait()
        second = pool.submit(storage.events.append, "j", "message", {"n": "fast"})
        seen_meanwhile = storage.events.after(0)
        go_on.set()
        first.result()
        second.result()

    assert seen_meanwhile == []
    assert [event.data["n"] for event in storage.events.after(0)] == ["slow", "fast"]

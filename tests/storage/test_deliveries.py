"""Deliveries: each is one sender's at a time, and none is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text

from storage.errors import Unavailable
from storage.outbox_records import Due
from storage.storage import Storage
from tests.storage.test_subscriptions import make_due, subscribe


def ended(storage: Storage, count: int) -> None:
    """Have jobs end of which a subscriber is told."""
    for _ in range(count):
        storage.jobs.transition(storage.jobs.create(name="j", spec={}, seed=1).id, "cancelled")


def test_a_claimed_message_is_nobody_elses(storage: Storage) -> None:
    subscribe(storage)
    ended(storage, 3)
    first = storage.deliveries.claim("a", 60.0, 2)
    second = storage.deliveries.claim("b", 60.0, 9)
    assert (len(first), len(second)) == (2, 1)
    assert storage.deliveries.claim("a", 60.0, 9) == []
    assert storage.deliveries.count_waiting() == 3
    assert not storage.deliveries.finish(second[0].id, "a", 1, ok=True, said="")
    assert storage.deliveries.finish(second[0].id, "b", 1, ok=True, said="answered 200")
    assert not storage.deliveries.finish(second[0].id, "b", 1, ok=False, said="")
    assert storage.deliveries.count_waiting() == 2


def test_many_senders_get_each_message_once(storage: Storage) -> None:
    subscribe(storage)
    ended(storage, 40)

    def claim(name: str) -> list[Due]:
        found: list[Due] = []
        while got := storage.deliveries.claim(name, 600.0, 3):
            found += got
        return found

    with ThreadPoolExecutor(4) as pool:
        claimed = [one.id for found in pool.map(claim, "abcd") for one in found]
    claimed += [one.id for one in claim("e")]  # what one had locked while another looked
    assert len(claimed) == len(set(claimed)) == 40


def test_what_a_dead_sender_had_is_sent_under_the_same_id(storage: Storage) -> None:
    subscribe(storage)
    ended(storage, 1)
    (lost,) = storage.deliveries.claim("dead", -1.0, 1)
    (again,) = storage.deliveries.claim("b", 60.0, 1)
    assert (again.id, again.tries) == (lost.id, 2)
    assert not storage.deliveries.finish(lost.id, "dead", lost.tries, ok=True, said="late")
    storage.deliveries.void_claims()
    (third,) = storage.deliveries.claim("c", 60.0, 1)
    assert (third.id, third.tries) == (lost.id, 3)


def test_a_failure_is_tried_again_or_given_up(storage: Storage) -> None:
    subscription = subscribe(storage)
    ended(storage, 1)
    (due,) = storage.deliveries.claim("a", 60.0, 1)
    storage.deliveries.finish(due.id, "a", 1, ok=False, said="answered 500", again_in=40.0)
    (shown,) = storage.subscriptions.deliveries(subscription.id).items
    assert (shown.state, shown.tries, shown.answer) == ("waiting", 1, "answered 500")
    assert shown.next_at is not None
    assert shown.tried_at is not None
    assert shown.next_at - shown.tried_at == 40.0
    assert storage.deliveries.claim("a", 60.0, 1) == []
    make_due(storage)
    (due,) = storage.deliveries.claim("a", 60.0, 1)
    storage.deliveries.finish(due.id, "a", 2, ok=False, said="answered 410")
    (shown,) = storage.subscriptions.deliveries(subscription.id).items
    assert (shown.state, shown.tries, shown.next_at) == ("failed", 2, None)


def test_a_project_whose_receivers_are_slow_holds_up_no_other(storage: Storage) -> None:
    storage.projects.add("slow")
    storage.projects.add("quick")
    for name, count in (("slow", 6), ("quick", 1)):
        share = storage.of_project(name)
        subscribe(share)
        for _ in range(count):
            share.jobs.transition(share.jobs.create(name="j", spec={}, seed=1).id, "cancelled")
    projects = []
    for _ in range(3):
        (due,) = storage.deliveries.claim("a", 600.0, 1)
        projects.append(due.subscription.project)
    assert projects == ["slow", "quick", "slow"]


def test_what_is_under_way_is_counted_once_and_not_for_each_message(storage: Storage) -> None:
    subscribe(storage)
    ended(storage, 3)
    engine, plans = storage._database.engine, []
    explain = "EXPLAIN QUERY PLAN " if storage._database.is_sqlite else "EXPLAIN "

    def look(*about: Any) -> None:
        connection, _, statement, parameters, *_ = about
        if "count(*)" in statement and not statement.startswith("EXPLAIN"):
            plans.extend(connection.exec_driver_sql(explain + statement, parameters).all())

    event.listen(engine, "before_cursor_execute", look)
    try:
        assert len(storage.deliveries.claim("a", 60.0, 2)) == 2
    finally:
        event.remove(engine, "before_cursor_execute", look)
    told = " ".join(str(line) for line in plans)
    assert told
    assert "CORRELATED" not in told
    assert "SubPlan" not in told


def test_what_another_one_holds_is_forgotten_the_next_time(
    migrated_url: str, tmp_path: Path
) -> None:
    """Who removes a subscription holds its messages one after another, as forgetting does."""
    storage = Storage.open(migrated_url, str(tmp_path / "artifacts"))
    with storage._database.writing() as session:
        session.execute(text("TRUNCATE subscriptions, deliveries, jobs CASCADE"))
    subscription = subscribe(storage)
    ended(storage, 3)
    for due in storage.deliveries.claim("a", 60.0, 3):
        storage.deliveries.finish(due.id, "a", 1, ok=True, said="answered 200")
    held = storage.subscriptions.deliveries(subscription.id).items[1].id
    with ThreadPoolExecutor(1) as pool:
        with storage._database.writing() as session:
            session.execute(
                text("SELECT id FROM deliveries WHERE id = :id FOR UPDATE"), {"id": held}
            )
            forgotten = pool.submit(storage.deliveries.forget, -1.0)
            assert forgotten.result(60) == 2
        assert pool.submit(storage.deliveries.forget, -1.0).result() == 1
    storage.close()


def test_claims_are_let_go_in_a_fixed_order(migrated_url: str, tmp_path: Path) -> None:
    """Whoever waits for one message holds those before it and none behind."""
    storage = Storage.open(migrated_url, str(tmp_path / "artifacts"))
    with storage._database.writing() as session:
        session.execute(text("TRUNCATE subscriptions, deliveries, jobs CASCADE"))
    subscribe(storage)
    ended(storage, 2)
    first, second = sorted(due.id for due in storage.deliveries.claim("dead", 60.0, 2))
    lock = "SELECT id FROM deliveries WHERE id = :id FOR UPDATE"
    with ThreadPoolExecutor(1) as pool:
        with storage._database.writing() as session:  # the other way round in the index
            earlier = text("UPDATE deliveries SET next_at = next_at - 9 WHERE id = :id")
            session.execute(earlier, {"id": second})
        for _ in range(20):  # and in the table
            with storage._database.writing() as session:
                if session.scalar(text("SELECT id FROM deliveries ORDER BY ctid")) == second:
                    break
                rewrite = text("UPDATE deliveries SET tries = tries + 1 WHERE id = :id")
                session.execute(rewrite, {"id": first})
        else:
            pytest.fail("the table keeps its order")
        with storage._database.writing() as session:
            session.execute(text(lock), {"id": second})
            letting_go = pool.submit(storage.deliveries.void_claims)
            waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            while not session.scalar(waiting):
                assert not letting_go.done()
            with (
                pytest.raises(Unavailable, match="could not obtain lock"),
                storage._database.writing() as another,
            ):
                another.execute(text(f"{lock} NOWAIT"), {"id": first})
        letting_go.result(60)
    assert len(storage.deliveries.claim("b", 60.0, 9)) == 2
    storage.close()


def test_old_ones_are_forgotten_and_waiting_ones_never(storage: Storage) -> None:
    subscription = subscribe(storage)
    ended(storage, 2)
    (due,) = storage.deliveries.claim("a", 60.0, 1)
    storage.deliveries.finish(due.id, "a", 1, ok=True, said="answered 200")
    assert storage.deliveries.forget(3600.0) == 0
    assert storage.deliveries.forget(-1.0) == 1
    assert [one.state for one in storage.subscriptions.deliveries(subscription.id).items] == [
        "waiting"
    ]

"""The sender over real receivers: it sends all, tries again, and gives up when it was said to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from service.runtime import Runtime, process_name
from service.subscriptions.sender import pause_after, sending
from service.subscriptions.wording import subject
from storage.metrics import METRICS
from storage.outbox_records import Delivery, Subscription
from storage.storage import Storage
from tests.service.subscriptions.receivers import SECONDS, Hook, Mailbox


@pytest.fixture
def sender(runtime: Runtime) -> Iterator[None]:
    """A sender over the storage of the tests."""
    with sending(runtime.storage, runtime.settings.notify, process_name()):
        yield


def subscribe(storage: Storage, target: str) -> Subscription:
    webhook = "://" in target
    return storage.subscriptions.add(
        kind="webhook" if webhook else "email",
        target=target,
        secret="whsec_AAAA" if webhook else None,
        events=["completed", "failed", "cancelled"],
        pause_seconds=60.0,
        owner="key:a",
    )


def end(storage: Storage, name: str = "cg") -> str:
    """Have a job end; its id."""
    job = storage.jobs.create(name=name, spec={}, seed=1)
    storage.jobs.transition(job.id, "failed", error="no trace")
    return job.id


def settled(storage: Storage, subscription: Subscription, count: int = 1) -> list[Delivery]:
    """What came of the messages, once none waits any more."""

    def found() -> list[Delivery] | None:
        items = list(storage.subscriptions.deliveries(subscription.id).items)
        done = len(items) == count and all(one.state != "waiting" for one in items)
        return items if done else None

    ended: list[Delivery] = until(found)
    return ended


def until(look: Callable[[], Any]) -> Any:
    """What something comes to, asked again and again until it is there."""
    pause = Event()
    for _ in range(int(SECONDS / 0.02)):
        if found := look():
            return found
        pause.wait(0.02)
    raise AssertionError("it did not come")


def test_the_pauses_double_up_to_an_hour() -> None:
    pauses = [pause_after(tries, 10.0) for tries in range(1, 15)]
    assert pauses[:4] == [10.0, 20.0, 40.0, 80.0]
    assert pauses[-1] == 3600.0
    assert 5 * 3600.0 < sum(pauses) < 7 * 3600.0


def test_the_end_of_a_job_is_sent(storage: Storage, sender: None, receiver: Hook) -> None:
    subscription = subscribe(storage, receiver.url)
    job_id = end(storage)
    (request,) = receiver.wait_for(1)
    assert request.message["job"] == {
        "id": job_id,
        "name": "cg",
        "state": "failed",
        "error": "no trace",
        "ended_because": None,
    }
    (told,) = settled(storage, subscription)
    assert (told.state, told.answer, told.tries) == ("sent", "answered 204", 1)
    assert told.id == request.headers["webhook-id"] == request.message["id"]


def test_after_errors_the_same_message_comes_again(
    storage: Storage, sender: None, receiver: Hook
) -> None:
    receiver.answers = [500, 503, 200]
    subscription = subscribe(storage, receiver.url)
    end(storage)
    requests = receiver.wait_for(3)
    assert len({request.headers["webhook-id"] for request in requests}) == 1
    assert len({request.body for request in requests}) == 1
    (told,) = settled(storage, subscription)
    assert (told.state, told.tries, told.answer) == ("sent", 3, "answered 200")


def test_it_gives_up_after_so_many_tries(
    storage: Storage, sender: None, reserve_port: Callable[[], int]
) -> None:
    subscription = subscribe(storage, f"http://127.0.0.1:{reserve_port()}/")
    end(storage)
    (told,) = settled(storage, subscription)
    assert (told.state, told.tries) == ("failed", 4)
    assert told.answer == "no connection: connection refused"


def test_who_wants_no_more_gets_no_more(storage: Storage, sender: None, receiver: Hook) -> None:
    receiver.answers = [410]
    subscription = subscribe(storage, receiver.url)
    end(storage)
    (told,) = settled(storage, subscription)
    assert (told.state, told.tries, len(receiver.requests)) == ("failed", 1, 1)


def test_what_is_not_allowed_any_more_is_not_sent(runtime: Runtime, receiver: Hook) -> None:
    storage = runtime.storage
    by_hook, by_mail = subscribe(storage, receiver.url), subscribe(storage, "ada@example.org")
    end(storage)
    nothing = replace(runtime.settings.notify, allowed=type(runtime.settings.notify.allowed)())
    with sending(storage, replace(nothing, mail=None), "stricter"):
        (told,) = settled(storage, by_hook)
        (of_mail,) = settled(storage, by_mail)
    assert "no public address" in str(told.answer)
    assert of_mail.answer == "this service sends no e-mail any more"
    assert receiver.requests == []


def test_mail_is_sent(storage: Storage, sender: None, post_office: Mailbox) -> None:
    post_office.refusals = ["451 later"]
    subscription = subscribe(storage, "ada@example.org")
    job_id = end(storage, "cg\r\nBcc: eve@example.org")
    ((to, mail),) = post_office.wait_for(1)
    assert to == ["ada@example.org"]
    assert mail["Bcc"] is None
    assert mail["Subject"] == "Hamtune: cg  Bcc: eve@example.org is failed"
    text = mail.get_payload()
    assert f"({job_id}) is failed." in text
    assert "Error: no trace" in text
    (told,) = settled(storage, subscription)
    assert (told.state, told.tries) == ("sent", 2)


def test_an_incumbent_has_its_value_in_the_subject() -> None:
    message = {"event": "incumbent", "job": {"name": "cg"}, "best": {"trial": 3, "value": 0.0125}}
    assert subject(message) == "Hamtune: cg: 12.5 ms"


def test_what_was_stored_while_nobody_sent_is_sent(runtime: Runtime, receiver: Hook) -> None:
    subscription = subscribe(runtime.storage, receiver.url)
    end(runtime.storage)
    runtime.storage.deliveries.claim("dead", 3600.0, 1)  # and was killed before it sent
    runtime.storage.deliveries.void_claims()
    with sending(runtime.storage, runtime.settings.notify, "next"):
        (told,) = settled(runtime.storage, subscription)
    assert (told.state, told.tries, len(receiver.requests)) == ("sent", 2, 1)


def test_deliveries_are_counted(storage: Storage, sender: None, receiver: Hook) -> None:
    def count(outcome: str) -> float:
        labels = (("kind", "webhook"), ("outcome", outcome))
        return sum(
            value
            for name, found, value in METRICS.counters()
            if (name, found) == ("hamtune_deliveries", labels)
        )

    before = {outcome: count(outcome) for outcome in ("sent", "retried", "failed")}
    receiver.answers = [500, 204, 410]
    subscription = subscribe(storage, receiver.url)
    end(storage)
    settled(storage, subscription)
    end(storage)
    settled(storage, subscription, 2)
    after = {outcome: count(outcome) - before[outcome] for outcome in before}
    assert after == {"sent": 1, "retried": 1, "failed": 1}


def test_two_servers_on_one_postgresql_send_each_message_once(
    create_database: Callable[[], str], tmp_path: Path, runtime: Runtime, receiver: Hook
) -> None:
    url = create_database()
    storages = [Storage.open(url, str(tmp_path / "artifacts")) for _ in range(3)]
    storages[0].upgrade()
    subscription = subscribe(storages[0], receiver.url)
    with ExitStack() as stack:
        for storage in storages:
            stack.callback(storage.close)
        for storage in storages[1:]:
            assert isinstance(storage.hears_all(), bool)
            stack.enter_context(sending(storage, runtime.settings.notify, process_name()))
        for _ in range(40):
            end(storages[0])
        told = settled(storages[0], subscription, 40)
    ids = [request.headers["webhook-id"] for request in receiver.requests]
    assert sorted(ids) == sorted(one.id for one in told)
    assert {one.tries for one in told} == {1}

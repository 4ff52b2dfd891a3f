"""Subscriptions over REST: made, shown without secrets, tested, ended."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.runtime import Runtime
from service.settings import Settings
from service.subscriptions.webhook import signature
from storage.storage import Storage
from tests.service.subscriptions.receivers import Hook, Mailbox
from tests.storage.test_allowances import stop_refilling

HERE = "/api/v1/subscriptions"


def subscribe(client: TestClient, target: str, **more: Any) -> dict[str, Any]:
    answer = client.post(HERE, json={"target": target, **more})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"{HERE}/{answer.json()['id']}"
    return dict(answer.json())


def test_a_secret_is_shown_once(client: TestClient, create_job: Callable[..., str]) -> None:
    job_id = create_job()
    made = subscribe(
        client, "https://example.org/T0/secret?x=1", job_id=job_id, events=["failed", "completed"]
    )
    assert made["secret"].startswith("whsec_")
    assert made["target"] == "https://example.org/..."
    assert made["events"] == ["completed", "failed"]
    assert (made["kind"], made["owner"], made["pause_seconds"]) == ("webhook", "local", 60.0)
    shown = client.get(f"{HERE}/{made['id']}").json()
    assert shown == {name: value for name, value in made.items() if name != "secret"}
    assert client.get(HERE).json()["items"] == [shown]
    assert client.get(HERE, params={"job_id": job_id}).json()["items"] == [shown]
    assert client.get(HERE, params={"job_id": "0" * 16}).json()["items"] == []

    assert client.delete(f"{HERE}/{made['id']}").status_code == 204
    assert client.delete(f"{HERE}/{made['id']}").status_code == 404
    assert client.get(f"{HERE}/{made['id']}/deliveries").status_code == 404


@pytest.mark.parametrize(
    ("environment", "email", "domains"),
    [
        ({}, False, None),
        ({"HAMTUNE_SMTP_URL": "smtp://mail.example.org"}, True, None),
        (
            {"HAMTUNE_SMTP_URL": "smtp://mail.example.org", "HAMTUNE_MAIL_TO": "a.org, b.org"},
            True,
            ["a.org", "b.org"],
        ),
    ],
)
def test_the_list_tells_whether_mail_is_sent(
    tmp_path: Path, environment: dict[str, str], email: bool, domains: list[str] | None
) -> None:
    settings = Settings.from_environment(
        {"HAMTUNE_DATA": str(tmp_path), "HAMTUNE_MAIL_FROM": "h@example.org", **environment}
    )
    with Runtime(settings, run=False) as runtime:
        page = TestClient(create_app(runtime)).get(HERE).json()
    assert page == {"items": [], "cursor": None, "email": email, "email_domains": domains}


def test_a_test_reaches_a_webhook(client: TestClient, receiver: Hook) -> None:
    made = subscribe(client, receiver.url)
    told = client.post(f"{HERE}/{made['id']}/test").json()
    assert (told["state"], told["event"], told["answer"]) == ("sent", "test", "answered 204")
    (request,) = receiver.requests
    assert request.message == {
        "id": told["id"],
        "event": "test",
        "at": request.message["at"],
        "project": "default",
        "job": None,
        "best": None,
    }
    assert request.headers["webhook-id"] == told["id"]
    assert request.headers["webhook-signature"] == signature(
        made["secret"], told["id"], int(request.headers["webhook-timestamp"]), request.body
    )
    assert client.get(f"{HERE}/{made['id']}/deliveries").json()["items"] == [told]


def test_a_test_reaches_an_address(
    client: TestClient, post_office: Mailbox, create_job: Callable[..., str]
) -> None:
    made = subscribe(client, "ada@example.org", job_id=create_job(name="cg"))
    assert (made["kind"], made["target"], made["secret"]) == ("email", "ada@example.org", None)
    assert client.post(f"{HERE}/{made['id']}/test").json()["state"] == "sent"
    ((to, mail),) = post_office.mails
    assert (to, mail["Subject"]) == (["ada@example.org"], "Hamtune: a test")
    assert f"hamtune notify remove {made['id']}" in mail.get_payload()


def test_a_test_that_fails_says_why(client: TestClient, receiver: Hook) -> None:
    made = subscribe(client, receiver.url)
    receiver.answers = [500]
    told = client.post(f"{HERE}/{made['id']}/test").json()
    assert (told["state"], told["answer"], told["next_at"]) == ("failed", "answered 500", None)
    inside = subscribe(client, "https://[::1]/")
    told = client.post(f"{HERE}/{inside['id']}/test").json()
    assert (told["state"], told["answer"]) == (
        "failed",
        "the host is at no public address; the operator of the service may allow others",
    )


def test_tests_are_limited(client: TestClient, storage: Storage, receiver: Hook) -> None:
    """By who sends them: it is of no use to make the subscription anew."""
    made = subscribe(client, receiver.url)
    client.post(f"{HERE}/{made['id']}/test")
    stop_refilling(storage)
    for _ in range(20):
        made = subscribe(client, receiver.url)
        assert client.post(f"{HERE}/{made['id']}/test").status_code == 200
        client.delete(f"{HERE}/{made['id']}")
    made = subscribe(client, receiver.url)
    refused = client.post(f"{HERE}/{made['id']}/test")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "3")
    assert refused.json()["detail"] == "20 tests were sent lately; wait 3 s"
    assert len(receiver.requests) == 21
    stop_refilling(storage, level=1.0)
    assert client.post(f"{HERE}/{made['id']}/test").status_code == 200


def test_slow_receivers_hold_few_threads(client: TestClient, receiver: Hook) -> None:
    """A test that would wait for a turn is refused at once."""
    made = subscribe(client, receiver.url)
    receiver.gate.clear()
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(client.post, f"{HERE}/{made['id']}/test") for _ in range(2)]
        receiver.wait_for(2)
        refused = client.post(f"{HERE}/{made['id']}/test")
        receiver.gate.set()
        assert [one.result().status_code for one in waiting] == [200, 200]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert "other tests are being sent" in refused.json()["detail"]
    assert client.post(f"{HERE}/{made['id']}/test").json()["state"] == "sent"


@pytest.mark.parametrize(
    ("change", "status", "why"),
    [
        ({"target": "http://example.org/"}, 422, "target: use https"),
        ({"target": "ada"}, 422, "target: use a URL such as"),
        ({"target": "ada@example.org\r\nBcc: eve@example.org"}, 422, "target: use a URL such as"),
        ({"job_id": "0" * 16}, 404, "there is no job 0000000000000000"),
        ({"events": []}, 422, "events: "),
        ({"events": ["started"]}, 422, "events.0: unknown value 'started'"),
        ({"pause_seconds": 1}, 422, "pause_seconds: "),
        ({"name": "a\nb"}, 422, "name: "),
        ({"secret": "mine"}, 422, "secret: unknown"),
    ],
)
def test_what_cannot_be_used_is_named(
    client: TestClient, storage: Storage, change: dict[str, Any], status: int, why: str
) -> None:
    answer = client.post(HERE, json={"target": "https://example.org/", **change})
    assert answer.status_code == status
    assert why in answer.json()["detail"]
    assert storage.subscriptions.page().items == []

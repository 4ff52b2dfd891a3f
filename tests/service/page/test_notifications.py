"""The view of notifications, with receivers that speak HTTP and SMTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from service.auth.principal import LOCAL
from service.auth.service import create
from service.runtime import Runtime
from service.settings import Settings
from service.subscriptions.webhook import signature
from tests.service.conftest import SPEC
from tests.service.live import Server, started
from tests.service.page.conftest import PATIENCE, SECONDS, Window, violations
from tests.service.subscriptions.receivers import Hook, Mailbox, hook, mailbox

expect.set_options(timeout=PATIENCE)

TARGET = "Webhook or e-mail address"
ALERTS = """window.alerts = [];
new MutationObserver(() => {
  for (const one of document.querySelectorAll('[role=alert]')) window.alerts.push(one.textContent);
}).observe(document.body, { childList: true, subtree: true })"""
"""Keeps what a page alerts to, also where that goes again."""


@pytest.fixture
def receiver() -> Iterator[Hook]:
    """A receiver of webhooks."""
    with hook() as kept:
        yield kept


@pytest.fixture(scope="module")
def post_office() -> Iterator[Mailbox]:
    """A mail server."""
    with mailbox() as kept:
        yield kept


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory, post_office: Mailbox) -> Iterator[Server]:
    """A service that sends messages to this machine."""
    environment = {
        "HAMTUNE_NOTIFY_ALLOW": "127.0.0.1",
        "HAMTUNE_NOTIFY_RETRY": "1ms",
        "HAMTUNE_SMTP_URL": f"smtp+plain://127.0.0.1:{post_office.port}",
        "HAMTUNE_MAIL_FROM": "hamtune@example.org",
        "HAMTUNE_MAIL_TO": "example.org",
    }
    data = tmp_path_factory.mktemp("telling") / "data"
    with started(data, run=True, environment=environment) as server:
        yield server


def call(server: Server, method: str, path: str, document: Any = None) -> Any:
    """A request to a service; the answer."""
    answer = httpx.request(
        method, f"{server.url}/api/v1{path}", json=document, timeout=SECONDS
    ).raise_for_status()
    return answer.json()


@pytest.fixture
def paused(telling: Server) -> str:
    """A job that waits to be resumed."""
    job: str = call(telling, "POST", "/jobs", {**SPEC, "name": "cg to be told of"})["id"]
    call(telling, "POST", f"/jobs/{job}/pause")
    return job


def subscribe(page: Page, target: str) -> None:
    page.get_by_label(TARGET).fill(target)
    page.get_by_role("button", name="Subscribe").click()


def test_a_webhook_is_told_of_the_job_that_it_was_subscribed_to_on_its_page(
    telling: Server, paused: str, receiver: Hook, open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{telling.url}/#/jobs/{paused}")
    page = window.page
    page.get_by_role("link", name="Notify me when it ends").click()
    expect(page.get_by_role("heading", name="Notifications")).to_be_visible()
    expect(page.get_by_label("Of which job")).to_have_value(paused)
    subscribe(page, receiver.url)
    secret = page.locator(".secret").inner_text()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    assert violations(page) == []
    item = page.get_by_role("article")
    expect(item).to_contain_text("When cg to be told of completes, fails or is cancelled")
    expect(item).to_contain_text("Nothing was sent yet.")

    receiver.answers = [500]
    item.get_by_role("button", name="Send a test").click()
    expect(item.get_by_role("status").filter(has_text="Test")).to_have_text(
        "Test failed answered 500"
    )
    item.get_by_role("button", name="Send a test").click()
    expect(item.get_by_role("status").filter(has_text="Test")).to_have_text(
        "Test sent answered 204"
    )
    request = receiver.wait_for(2)[1]
    signed = signature(
        secret,
        request.headers["webhook-id"],
        int(request.headers["webhook-timestamp"]),
        request.body,
    )
    assert request.headers["webhook-signature"] == signed

    page.get_by_role("button", name="I have kept it").click()
    expect(page.locator(".secret")).to_have_count(0)
    # What is sent while the page is open comes to it by itself.
    receiver.answers = [503]
    call(telling, "POST", f"/jobs/{paused}/cancel")
    told = item.locator("tbody tr", has_text="cancelled")
    expect(told).to_contain_text("answered 204 (try 2)")
    expect(told.get_by_role("link", name="cg to be told of")).to_be_visible()
    assert receiver.wait_for(4)[3].message["job"]["id"] == paused

    page.once("dialog", lambda dialog: dialog.dismiss())
    item.get_by_role("button", name="Remove").click()
    expect(item).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    item.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Nobody is told of jobs yet.")).to_be_visible()
    assert call(telling, "GET", "/subscriptions")["items"] == []


def test_a_webhook_that_is_removed_at_once_takes_its_secret_away(
    telling: Server, receiver: Hook, open_page: Callable[..., Window]
) -> None:
    page = open_page(f"{telling.url}/#/notifications").page
    subscribe(page, receiver.url)
    expect(page.locator(".secret")).to_be_visible()
    page.evaluate(ALERTS)
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("article").get_by_role("button", name="Remove").click()
    expect(page.locator(".secret")).to_have_count(0)
    expect(page.get_by_role("article")).to_have_count(0)
    assert page.evaluate("window.alerts") == []


def test_of_a_deleted_job_there_is_no_link(
    telling: Server, paused: str, receiver: Hook, open_page: Callable[..., Window]
) -> None:
    document = {"target": receiver.url, "events": ["cancelled"]}
    subscription = call(telling, "POST", "/subscriptions", document)["id"]
    window = open_page(f"{telling.url}/#/notifications")
    page = window.page
    item = page.get_by_role("article")
    expect(item).to_contain_text("When any job is cancelled")
    call(telling, "POST", f"/jobs/{paused}/cancel")
    row = item.locator("tbody tr", has_text="cancelled")
    expect(row.get_by_role("link", name="cg to be told of")).to_be_visible()
    call(telling, "DELETE", f"/jobs/{paused}")
    window.expected = ("404",)  # so the page learns of it, and the browser notes that
    expect(row).to_contain_text("deleted job")
    expect(item.get_by_role("link")).to_have_count(0)
    httpx.delete(
        f"{telling.url}/api/v1/subscriptions/{subscription}", timeout=SECONDS
    ).raise_for_status()


def test_mail_goes_to_an_address(
    telling: Server, post_office: Mailbox, open_page: Callable[..., Window]
) -> None:
    window = open_page(f"{telling.url}/#/notifications")
    window.expected = ("422",)
    page = window.page
    field = page.locator(".field", has=page.get_by_label(TARGET))
    expect(field).to_contain_text("or an e-mail address at example.org.")
    subscribe(page, "ada@elsewhere.org")
    expect(field).to_contain_text("this service sends e-mail to example.org only")
    assert page.get_by_label(TARGET).get_attribute("aria-invalid") == "true"
    page.get_by_label("new best configuration").check()
    pause = page.get_by_label("Seconds between two best configurations")
    pause.fill("1")
    page.get_by_role("button", name="Subscribe").click()
    expect(page.locator(".field", has=pause).locator(".problem")).to_be_visible()
    pause.fill("600")
    page.get_by_label("Name").fill("Ada")
    subscribe(page, "ada@example.org")
    item = page.get_by_role("article")
    expect(item).to_contain_text("at most one best configuration in 10 min per job")
    expect(item).to_contain_text("Ada, e-mail, by local")
    expect(page.locator(".secret")).to_have_count(0)
    item.get_by_role("button", name="Send a test").click()
    expect(item.get_by_role("status").filter(has_text="Test sent")).to_be_visible()
    ((to, mail),) = post_office.wait_for(1)
    assert (to, mail["Subject"]) == (["ada@example.org"], "Hamtune: a test")
    page.once("dialog", lambda dialog: dialog.accept())
    item.get_by_role("button", name="Remove").click()
    expect(item).to_have_count(0)


def test_what_a_key_may_not_is_refused_in_plain_words(
    tmp_path: Path, open_page: Callable[..., Window]
) -> None:
    data = tmp_path / "data"
    with Runtime(Settings.under(data), run=False) as runtime:
        _, token = create(runtime.storage, LOCAL, {"name": "reader", "role": "viewer"})
        runtime.storage.subscriptions.add(
            kind="webhook",
            target="https://example.org/hook",
            secret="whsec_",
            events=["failed"],
            pause_seconds=60.0,
            owner="key:other",
        )
    with started(data, run=False, keys=True) as server:
        window = open_page(f"{server.url}/#/notifications")
        window.expected = ("401", "403")
        page = window.page
        expect(page.get_by_role("alert").first).to_contain_text("You are not allowed to see this")
        page.get_by_role("button", name="Enter another key").first.click()
        page.get_by_role("dialog").get_by_label("Key").fill(token)
        page.get_by_role("button", name="Use it").click()
        field = page.locator(".field", has=page.get_by_label(TARGET))
        expect(field).to_contain_text("This service sends no e-mail")
        refusal = "key:reader may not write jobs: its role is viewer"
        subscribe(page, "https://example.org/another")
        expect(page.get_by_role("form").get_by_text(refusal)).to_be_visible()
        item = page.get_by_role("article")
        expect(item).to_contain_text("When any job fails")
        item.get_by_role("button", name="Send a test").click()
        expect(item.get_by_role("alert")).to_have_text(refusal)
        page.once("dialog", lambda dialog: dialog.accept())
        item.get_by_role("button", name="Remove").click()
        expect(item.get_by_role("alert")).to_have_count(2)

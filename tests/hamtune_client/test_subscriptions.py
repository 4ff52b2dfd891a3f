"""Subscriptions from Python, to receivers on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

import httpx
import pytest

from cli.in_process import InProcess
from hamtune_client import AsyncClient, Client, Refused
from service.app import create_app
from service.runtime import Runtime
from service.subscriptions.addresses import Allowed
from service.subscriptions.settings import NotifySettings
from tests.service.subscriptions.conftest import receiver
from tests.service.subscriptions.receivers import Hook

__all__ = ["receiver"]


@pytest.fixture
def allowing(runtime: Runtime) -> Runtime:
    """A service that may send to this machine."""
    notify = NotifySettings(allowed=Allowed.parse("127.0.0.1", field="F"))
    runtime.settings = replace(runtime.settings, notify=notify)
    return runtime


@pytest.fixture
def hamtune(allowing: Runtime) -> Iterator[Client]:
    """The client over the service in this process."""
    with Client("http://localhost", transport=InProcess(create_app(allowing))) as opened:
        yield opened


def test_a_job_is_subscribed_to_and_a_test_is_sent(
    hamtune: Client, receiver: Hook, create_job: Callable[..., str]
) -> None:
    job = hamtune.job(create_job())
    made = job.subscribe(receiver.url, events=["completed", "incumbent"], pause_seconds=600)
    assert str(made.secret).startswith("whsec_")
    assert "whsec_" not in repr(made)
    assert (made.job_id, made.events) == (job.id, ["completed", "incumbent"])
    told = hamtune.test_subscription(made.id)
    assert (told.state, told.answer) == ("sent", "answered 204")
    assert receiver.requests[0].message["job"]["id"] == job.id
    assert list(hamtune.deliveries(made.id)) == [told]
    of_all = hamtune.subscribe(receiver.url, name="the team")
    assert [one.id for one in hamtune.subscriptions()] == [of_all.id, made.id]
    assert [one.id for one in hamtune.subscriptions(job_id=job.id)] == [made.id]
    hamtune.unsubscribe(made.id)
    assert [one.name for one in hamtune.subscriptions()] == ["the team"]


def test_what_would_go_astray_is_refused(hamtune: Client) -> None:
    with pytest.raises(Refused, match="use https"):
        hamtune.subscribe("http://169.254.169.254/latest/meta-data/")
    with pytest.raises(Refused, match="this service sends no e-mail"):
        hamtune.subscribe("ada@example.org")


def test_the_asynchronous_client_subscribes(allowing: Runtime, receiver: Hook) -> None:
    async def use() -> list[str]:
        transport = httpx.ASGITransport(create_app(allowing))
        async with AsyncClient("http://localhost", transport=transport) as client:
            made = await client.subscribe(receiver.url)
            await client.test_subscription(made.id)
            states = [one.state async for one in client.deliveries(made.id)]
            await client.unsubscribe(made.id)
            return states + [one.id async for one in client.subscriptions()]

    assert asyncio.run(use()) == ["sent"]

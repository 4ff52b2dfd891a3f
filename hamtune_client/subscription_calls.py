"""The calls for subscriptions, as values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from hamtune_client.calls import Call
from hamtune_client.records import Delivery, NewSubscription, Subscription

__all__ = ["deliveries", "subscribe", "subscriptions", "test_subscription", "unsubscribe"]

PAGE = 200
TEST_SECONDS = 60.0


def subscribe(body: Mapping[str, Any]) -> Call[NewSubscription]:
    """Subscribe; not sent twice, for each time subscribes."""
    return Call(
        "POST",
        "/subscriptions",
        lambda r: NewSubscription.model_validate(r.json()),
        headers={"Content-Type": "application/json"},
        content=json.dumps(dict(body)).encode(),
        safe=False,
    )


def subscriptions(
    job_id: str | None, cursor: str | None
) -> Call[tuple[list[Subscription], str | None]]:
    """A page of subscriptions, and the cursor of the next."""
    return Call(
        "GET",
        "/subscriptions",
        lambda r: (
            [Subscription.model_validate(one) for one in r.json()["items"]],
            r.json()["cursor"],
        ),
        {"job_id": job_id, "cursor": cursor, "limit": PAGE},
    )


def unsubscribe(identifier: str) -> Call[None]:
    """End a subscription."""
    return Call("DELETE", _path(identifier), lambda _: None, safe=False)


def test_subscription(identifier: str) -> Call[Delivery]:
    """Send a message now."""
    return Call(
        "POST",
        f"{_path(identifier)}/test",
        lambda r: Delivery.model_validate(r.json()),
        safe=False,
        patience=TEST_SECONDS,
    )


def deliveries(identifier: str, cursor: str | None) -> Call[tuple[list[Delivery], str | None]]:
    """A page of what was sent, and the cursor of the next."""
    return Call(
        "GET",
        f"{_path(identifier)}/deliveries",
        lambda r: ([Delivery.model_validate(one) for one in r.json()["items"]], r.json()["cursor"]),
        {"cursor": cursor, "limit": PAGE},
    )


def _path(identifier: str) -> str:
    return f"/subscriptions/{quote(identifier, safe='')}"

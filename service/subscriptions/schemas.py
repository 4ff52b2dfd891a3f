"""Subscriptions and deliveries as REST reads and shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from searchspace.validation import Description
from service.subscriptions.webhook import shown
from storage.outbox_records import DeliveryState, JobNews, Subscription, SubscriptionKind

__all__ = [
    "DELIVERY_EXAMPLE",
    "EXAMPLE",
    "NEW_EXAMPLE",
    "REQUEST_EXAMPLE",
    "DeliveryPage",
    "DeliveryView",
    "NewSubscription",
    "NewSubscriptionView",
    "SubscriptionPage",
    "SubscriptionView",
]

REQUEST_EXAMPLE: dict[str, Any] = {
    "target": "https://example.org/hook",
    "job_id": "0k3v9m2x7q1zt8ab",
    "events": ["completed", "failed"],
}
EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8as",
    "kind": "webhook",
    "target": "https://example.org/...",
    "name": "",
    "job_id": "0k3v9m2x7q1zt8ab",
    "events": ["completed", "failed"],
    "pause_seconds": 60.0,
    "owner": "key:nightly",
    "created_at": 1790000000.0,
}
NEW_EXAMPLE = {**EXAMPLE, "secret": "whsec_(44 characters)"}
DELIVERY_EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ad",
    "subscription_id": "0k3v9m2x7q1zt8as",
    "job_id": "0k3v9m2x7q1zt8ab",
    "event": "completed",
    "state": "sent",
    "tries": 2,
    "created_at": 1790000000.0,
    "next_at": None,
    "tried_at": 1790000010.0,
    "answer": "answered 204",
}


class NewSubscription(Description):
    """Who is to be told of what."""

    target: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    """The URL of a webhook, or an e-mail address."""
    job_id: Annotated[str, StringConstraints(max_length=64, pattern=r"^[!-~]+$")] | None = None
    """The job; null for all jobs of the project, those to come as well."""
    events: list[JobNews] = Field(default=["completed", "failed", "cancelled"], min_length=1)
    """Of what: how a job ended, and `incumbent`, a new best configuration."""
    pause_seconds: float = Field(default=60.0, ge=10.0, le=86400.0, allow_inf_nan=False)
    """Between two new incumbents of a job, at least; the last of several is told at its end."""
    name: Annotated[str, StringConstraints(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
    """For people."""


class SubscriptionView(BaseModel):
    """A subscription without its secret."""

    id: str
    kind: SubscriptionKind
    target: str = Field(description="The address, or the URL without its path: it may be secret.")
    name: str
    job_id: str | None = Field(description="Null for all jobs of the project.")
    events: list[JobNews]
    pause_seconds: float
    owner: str = Field(description="Who subscribed.")
    created_at: float

    @classmethod
    def of(cls, subscription: Subscription, **more: Any) -> Any:
        """The view of a subscription."""
        target = subscription.target
        return cls(
            id=subscription.id,
            kind=subscription.kind,
            target=shown(target) if subscription.kind == "webhook" else target,
            name=subscription.name,
            job_id=subscription.job_id,
            events=list(subscription.events),
            pause_seconds=subscription.pause_seconds,
            owner=subscription.owner,
            created_at=subscription.created_at,
            **more,
        )


class NewSubscriptionView(SubscriptionView):
    """A subscription with its secret, which is told this once."""

    secret: str | None = Field(description="With which messages to a URL are signed.")


class SubscriptionPage(BaseModel):
    """A page of subscriptions, and what further ones may be to."""

    items: list[SubscriptionView]
    cursor: str | None
    email: bool = Field(description="Whether the service sends e-mail: it has a mail server.")
    email_domains: list[str] | None = Field(
        description="Domains that e-mail may go to; null for any."
    )


class DeliveryView(BaseModel):
    """A message and what came of it."""

    model_config = ConfigDict(from_attributes=True)

    id: str = Field(description="As the receiver sees it, the same however often it is sent.")
    subscription_id: str
    job_id: str | None
    event: JobNews | Literal["test"]
    state: DeliveryState
    tries: int
    created_at: float
    next_at: float | None = Field(description="When it is sent (again), while it waits.")
    tried_at: float | None
    answer: str | None = Field(description="What came of the last try, in words.")


class DeliveryPage(BaseModel):
    """A page of deliveries."""

    items: list[DeliveryView]
    cursor: str | None

"""Subscriptions and deliveries as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

__all__ = [
    "ENDS",
    "EVENTS",
    "INCUMBENT",
    "MOST_SUBSCRIPTIONS",
    "TEST",
    "Delivery",
    "DeliveryState",
    "Due",
    "JobEnd",
    "JobNews",
    "Subscription",
    "SubscriptionKind",
]

JobEnd = Literal["completed", "failed", "cancelled"]
JobNews = Literal["completed", "failed", "cancelled", "incumbent"]
ENDS: tuple[JobEnd, ...] = get_args(JobEnd)
EVENTS: tuple[JobNews, ...] = get_args(JobNews)
INCUMBENT = "incumbent"
TEST = "test"
"""The event of a message that was only asked for to see whether it arrives."""

SubscriptionKind = Literal["webhook", "email"]
DeliveryState = Literal["waiting", "sent", "failed"]

MOST_SUBSCRIPTIONS = 100
"""Of a project."""


@dataclass(frozen=True, kw_only=True)
class Subscription:
    """Who wants to hear of a job, or of all jobs of a project.

    Attributes:
        owner: Who subscribed.
        name: For people.
        job_id: The job; None for all jobs of the project, those to come as well.
        target: The URL or the address.
        secret: With which messages to a URL are signed; None for addresses.
        events: What they want to hear of.
        pause_seconds: Between two new incumbents of one job, at least.
    """

    id: str
    project: str
    owner: str
    name: str
    job_id: str | None
    kind: SubscriptionKind
    target: str = field(repr=False)
    secret: str | None = field(repr=False)
    events: tuple[str, ...]
    pause_seconds: float
    created_at: float


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A message to a subscriber, and what came of it.

    Attributes:
        event: One of `EVENTS`, or `TEST`.
        tries: How often it was tried.
        next_at: When it is tried next, while it waits.
        tried_at: When it was tried last.
        answer: What came of the last try, in words.
    """

    id: str
    subscription_id: str
    job_id: str | None
    event: str
    state: DeliveryState
    tries: int
    created_at: float
    next_at: float | None
    tried_at: float | None
    answer: str | None


@dataclass(frozen=True, kw_only=True)
class Due:
    """A message that whoever claimed it sends now.

    Attributes:
        id: Of the delivery, by which receivers know a message that comes twice.
        message: What it tells.
        tries: This one counted; it fences what is told of the try.
        subscription: To whom.
    """

    id: str
    message: dict[str, Any]
    tries: int
    subscription: Subscription

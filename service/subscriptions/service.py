"""What can be done with subscriptions: make, test."""

from __future__ import annotations

from typing import Any, cast

from searchspace.validation import check
from service.auth.principal import Principal
from service.subscriptions.schemas import NewSubscription
from service.subscriptions.sending import check_target, kind_of, send
from service.subscriptions.settings import NotifySettings
from service.subscriptions.webhook import new_secret
from service.subscriptions.wording import test_message
from storage.identifiers import new_id
from storage.outbox import told_of
from storage.outbox_records import EVENTS, Delivery, Subscription, SubscriptionKind
from storage.view import StorageView

__all__ = ["create", "test"]


def create(
    storage: StorageView, principal: Principal, settings: NotifySettings, document: Any
) -> Subscription:
    """Subscribe.

    Raises:
        InvalidInput: A field is wrong, or nothing would be sent to the target.
        NotFound: There is no such job.
        QuotaExceeded: The project has too many subscriptions.
    """
    new = check(NewSubscription, document)
    check_target(new.target, settings)
    kind = kind_of(new.target)
    return storage.subscriptions.add(
        kind=cast("SubscriptionKind", kind),
        target=new.target,
        secret=new_secret() if kind == "webhook" else None,
        events=[event for event in EVENTS if event in new.events],
        pause_seconds=new.pause_seconds,
        owner=principal.name,
        name=new.name,
        job_id=new.job_id,
    )


def test(storage: StorageView, settings: NotifySettings, subscription_id: str) -> Delivery:
    """Send a message now, once, and keep what came of it.

    Raises:
        NotFound: There is no such subscription.
    """
    subscription = storage.subscriptions.get(subscription_id)
    job = None
    if subscription.job_id is not None:
        job = told_of(storage.jobs.get(subscription.job_id))
    identifier, message = new_id(), test_message(subscription, job)
    answer = send(subscription, identifier, message, settings)
    return storage.subscriptions.add_test(
        subscription_id, identifier, message, ok=answer.ok, said=answer.said
    )

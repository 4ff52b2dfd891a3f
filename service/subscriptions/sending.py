"""One message to one subscriber."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.subscriptions import mail, webhook
from service.subscriptions.answer import Answer, failed
from service.subscriptions.settings import NotifySettings
from service.subscriptions.wording import body, subject, text
from storage.outbox_records import Subscription

__all__ = ["check_target", "kind_of", "send"]


def kind_of(target: str) -> str:
    """What a target is: `webhook` or `email`."""
    return "webhook" if "://" in target else "email"


def check_target(target: str, settings: NotifySettings) -> None:
    """Refuse a target that nothing would be sent to.

    Raises:
        InvalidInput: What is wrong with it.
    """
    if kind_of(target) == "webhook":
        webhook.check_url(target, settings.allowed)
    else:
        mail.check_address(target, settings.mail)


def send(
    subscription: Subscription,
    identifier: str,
    message: Mapping[str, Any],
    settings: NotifySettings,
) -> Answer:
    """Send a message and tell what came of it.

    Args:
        subscription: To whom.
        identifier: Of the delivery.
        message: From `storage.outbox` or `wording.test_message`.
        settings: Of now; they may have changed since the subscription was made.
    """
    if subscription.kind == "webhook":
        assert subscription.secret is not None, "webhooks have one"
        return webhook.post(
            subscription.target,
            subscription.secret,
            identifier,
            body(identifier, message),
            settings.allowed,
        )
    if settings.mail is None:
        return failed("this service sends no e-mail any more", final=True)
    return mail.send(
        settings.mail,
        subscription.target,
        identifier,
        subject(message),
        text(message, subscription),
    )

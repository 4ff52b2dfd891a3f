# Written by `python -m deploy.client` from asynchronous_subscriptions.py; change that.
"""Who is told of jobs, by webhook or e-mail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hamtune_client import subscription_calls
from hamtune_client.records import Delivery, NewSubscription, Subscription
from hamtune_client.synchronous_connection import Connection

__all__ = ["Subscriptions"]


class Subscriptions(Connection):
    """Calls about subscriptions."""

    def subscribe(
        self,
        target: str,
        *,
        job_id: str | None = None,
        events: Sequence[str] | None = None,
        pause_seconds: float | None = None,
        name: str = "",
    ) -> NewSubscription:
        """Have a webhook called, or a mail sent, when a job ends or has a new incumbent.

        Args:
            target: The URL of a webhook, or an e-mail address.
            job_id: The job; None for all jobs of the project, those to come as well.
            events: Of `completed`, `failed`, `cancelled` and `incumbent`; by default how jobs end.
            pause_seconds: Between two new incumbents of a job, at least; by default a minute.
            name: For people.

        Returns:
            With the `secret` that signs messages to a webhook, which is told this once.

        Raises:
            Refused: Nothing would be sent to the target, or there is no such job.
        """
        body: dict[str, Any] = {"target": target, "job_id": job_id, "name": name}
        if events is not None:
            body["events"] = list(events)
        if pause_seconds is not None:
            body["pause_seconds"] = pause_seconds
        return self.call(subscription_calls.subscribe(body))

    def subscriptions(self, *, job_id: str | None = None) -> Iterator[Subscription]:
        """Who is told of what, newest first; with a job, those of this job alone."""
        cursor = None
        while True:
            page, cursor = self.call(subscription_calls.subscriptions(job_id, cursor))
            yield from page
            if cursor is None:
                return

    def unsubscribe(self, subscription_id: str) -> None:
        """End a subscription; what was not sent yet is not sent any more."""
        self.call(subscription_calls.unsubscribe(subscription_id))

    def test_subscription(self, subscription_id: str) -> Delivery:
        """Send a message now, once; its `state` is `sent` or `failed`, its `answer` says why."""
        return self.call(subscription_calls.test_subscription(subscription_id))

    def deliveries(self, subscription_id: str) -> Iterator[Delivery]:
        """What was sent and what waits, newest first."""
        cursor = None
        while True:
            page, cursor = self.call(subscription_calls.deliveries(subscription_id, cursor))
            yield from page
            if cursor is None:
                return

"""What messages say: JSON for programs, text for people."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from searchspace.units import format_duration
from storage.outbox_records import INCUMBENT, TEST, Subscription

__all__ = ["body", "subject", "test_message", "text"]


def test_message(subscription: Subscription, job: Mapping[str, Any] | None) -> dict[str, Any]:
    """A message that says nothing but that messages arrive.

    Args:
        subscription: To whom.
        job: Its job, as messages show jobs; None where it is to all jobs.
    """
    return {
        "event": TEST,
        "at": time.time(),
        "project": subscription.project,
        "job": None if job is None else dict(job),
        "best": None,
    }


def body(identifier: str, message: Mapping[str, Any]) -> bytes:
    """A message as a webhook gets it."""
    return json.dumps({"id": identifier, **message}, allow_nan=False).encode()


def subject(message: Mapping[str, Any]) -> str:
    """The subject of a mail."""
    if message["event"] == TEST:
        return "Hamtune: a test"
    name = message["job"]["name"]
    if message["event"] == INCUMBENT:
        return f"Hamtune: {name}: {format_duration(message['best']['value'])}"
    return f"Hamtune: {name} is {message['event']}"


def text(message: Mapping[str, Any], subscription: Subscription) -> str:
    """The text of a mail."""
    job, best = message["job"], message["best"]
    lines = []
    if message["event"] == TEST:
        lines.append("Messages of Hamtune arrive here.")
    elif message["event"] == INCUMBENT:
        lines.append(f"Job {job['name']} ({job['id']}) has a new best configuration.")
    else:
        lines.append(f"Job {job['name']} ({job['id']}) is {message['event']}.")
    if job is not None and job["error"]:
        lines.append(f"Error: {job['error']}")
    if job is not None and job["ended_because"]:
        lines.append(f"It ended because of: {job['ended_because']}")
    if best is not None:
        lines.append(f"Best: {format_duration(best['value'])}, trial {best['trial']}")
        lines.append(f"Show it: hamtune best {job['id']}")
    lines += [
        "",
        f"Project {message['project']}; subscribed by {subscription.owner}.",
        f"To end these messages: hamtune notify remove {subscription.id}",
    ]
    return "\n".join(lines) + "\n"

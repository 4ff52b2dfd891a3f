"""The life of a job: every change of state that may happen, in one table."""

from __future__ import annotations

from storage.errors import Conflict
from storage.records import JobState

__all__ = ["TRANSITIONS", "check_transition"]

TRANSITIONS: dict[JobState, tuple[JobState, ...]] = {
    "queued": ("preparing", "running", "pausing", "paused", "failed", "cancelling", "cancelled"),
    "preparing": ("running", "pausing", "failed", "cancelling"),
    "running": ("pausing", "completed", "failed", "cancelling"),
    # A job may reach its end while it is being paused, and may be resumed before it has stopped.
    "pausing": ("paused", "queued", "running", "completed", "failed", "cancelling"),
    "paused": ("queued", "cancelling", "cancelled"),
    "cancelling": ("cancelled",),
    "completed": (),
    "failed": (),
    "cancelled": (),
}

_WISHES: dict[JobState, str] = {
    "queued": "resumed",
    "preparing": "prepared",
    "running": "run",
    "pausing": "paused",
    "paused": "paused",
    "completed": "completed",
    "failed": "failed",
    "cancelling": "cancelled",
    "cancelled": "cancelled",
}


def check_transition(
    job_id: str, current: JobState, to: JobState, expected: tuple[JobState, ...] | None
) -> None:
    """Refuse a change of state that the table or the caller does not allow.

    Args:
        job_id: For the message.
        current: The state stored.
        to: The state wished for.
        expected: The states from which the caller wants the change; None leaves it to the table.

    Raises:
        Conflict: The change is not allowed.
    """
    if to not in TRANSITIONS[current] or (expected is not None and current not in expected):
        raise Conflict(f"job {job_id} is {current}; it cannot be {_WISHES[to]}")

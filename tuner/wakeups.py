"""When a coordinator looks at the database: when it is notified, and now and then all the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from storage.notifications import Notification, Wakeup
from storage.records import FINAL_TRIAL_STATES
from storage.storage import Storage

__all__ = ["LookWakeup", "job_wakeup", "queue_wakeup"]

_TRUSTING_SECONDS = 0.5  # between looks where all notifications arrive
_DISTRUSTING_SECONDS = (0.002, 0.05)  # where they may not: at first and at most


class LookWakeup:
    """Waiting for what may happen to jobs. For one thread.

    Args:
        wakeup: Woken by notifications.
        hears_all: Whether all notifications arrive just now.
        changed: Woken by notifications of the job itself.
    """

    def __init__(
        self, wakeup: Wakeup, hears_all: Callable[[], bool], changed: Wakeup | None = None
    ) -> None:
        self._wakeup = wakeup
        self._hears_all = hears_all
        self._changed = changed
        self._delay = _DISTRUSTING_SECONDS[0]

    def has_job_changed(self) -> bool:
        """Whether notifications of the job itself came since the last time."""
        return self._changed is not None and self._changed.wait(0.0)

    def wait(self, most: float = math.inf) -> None:
        """Wait until it is time to look, at most so many seconds."""
        longest = _TRUSTING_SECONDS if self._hears_all() else self._delay
        if self._wakeup.wait(min(longest, most)):
            self._delay = _DISTRUSTING_SECONDS[0]
        else:
            self._delay = min(2 * self._delay, _DISTRUSTING_SECONDS[1])


@contextmanager
def job_wakeup(storage: Storage, job_id: str, *, embedded: bool) -> Iterator[LookWakeup]:
    """Wakes for what a coordinator waits for: outcomes of trials, and changes of the job.

    Args:
        storage: Whose notifications wake.
        job_id: The job.
        embedded: Whether all that happens, happens in this process.
    """

    def wanted(notification: Notification) -> bool:
        if notification.job_id != job_id:
            return False
        return notification.kind != "trial" or notification.state in FINAL_TRIAL_STATES

    wakeup = Wakeup(wanted)
    changed = Wakeup(lambda one: one.job_id == job_id and one.kind == "job")
    # A wish is known before anybody is woken by it.
    with (
        storage.notifications.subscribed(changed.hear),
        storage.notifications.subscribed(wakeup.hear),
    ):
        yield LookWakeup(wakeup, lambda: embedded or storage.hears_all(), changed)


@contextmanager
def queue_wakeup(storage: Storage, *, embedded: bool) -> Iterator[LookWakeup]:
    """Wakes for new jobs and for those whose state changes."""
    wakeup = Wakeup(lambda notification: notification.kind == "job")
    with storage.notifications.subscribed(wakeup.hear):
        yield LookWakeup(wakeup, lambda: embedded or storage.hears_all())

"""When a coordinator looks at the database: when news tell it to, and now and then all the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from storage.news import Bell, Notice
from storage.records import FINAL_TRIAL_STATES
from storage.storage import Storage

__all__ = ["LookBell", "job_bell", "queue_bell"]

_TRUSTING_SECONDS = 0.5  # between looks where all news arrive
_DISTRUSTING_SECONDS = (0.002, 0.05)  # where they may not: at first and at most


class LookBell:
    """Waiting for what may happen to jobs. For one thread.

    Args:
        bell: Rung by news.
        hears_all: Whether all news arrive just now.
        changed: Rung by news of the job itself.
    """

    def __init__(
        self, bell: Bell, hears_all: Callable[[], bool], changed: Bell | None = None
    ) -> None:
        self._bell = bell
        self._hears_all = hears_all
        self._changed = changed
        self._delay = _DISTRUSTING_SECONDS[0]

    def has_job_changed(self) -> bool:
        """Whether news of the job itself came since the last time."""
        return self._changed is not None and self._changed.wait(0.0)

    def wait(self, most: float = math.inf) -> None:
        """Wait until it is time to look, at most so many seconds."""
        longest = _TRUSTING_SECONDS if self._hears_all() else self._delay
        if self._bell.wait(min(longest, most)):
            self._delay = _DISTRUSTING_SECONDS[0]
        else:
            self._delay = min(2 * self._delay, _DISTRUSTING_SECONDS[1])


@contextmanager
def job_bell(storage: Storage, job_id: str, *, embedded: bool) -> Iterator[LookBell]:
    """The bell of what a coordinator waits for: outcomes of trials, and changes of the job.

    Args:
        storage: Whose news ring it.
        job_id: The job.
        embedded: Whether all that happens, happens in this process.
    """

    def wanted(notice: Notice) -> bool:
        if notice.job_id != job_id:
            return False
        return notice.kind != "trial" or notice.state in FINAL_TRIAL_STATES

    bell = Bell(wanted)
    changed = Bell(lambda notice: notice.job_id == job_id and notice.kind == "job")
    # A wish is known before anybody is woken by it.
    with storage.news.subscribed(changed.hear), storage.news.subscribed(bell.hear):
        yield LookBell(bell, lambda: embedded or storage.hears_all(), changed)


@contextmanager
def queue_bell(storage: Storage, *, embedded: bool) -> Iterator[LookBell]:
    """The bell of new jobs and of those whose state changes."""
    bell = Bell(lambda notice: notice.kind == "job")
    with storage.news.subscribed(bell.hear):
        yield LookBell(bell, lambda: embedded or storage.hears_all())

"""Empties the trash: deleted jobs go for good once they cannot be restored any more.

Any number of processes may do so; `hamtune expire` does it at once, and deletes artifacts too.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from storage.errors import Unavailable
from storage.storage import Storage

__all__ = ["empty", "emptying"]

_PAUSE_SECONDS = 3600.0
_END_SECONDS = 10.0

log = logging.getLogger("hamtune.service")


def empty(storage: Storage, now: float) -> int:
    """Delete the jobs whose time is over.

    Their artifacts stay until an operator has them expire: a backup may be reading them.

    Args:
        storage: Of all projects.
        now: Seconds since the epoch, by the clock of the database, which also said until when
            each can be restored.

    Returns:
        How many jobs.
    """
    gone = storage.retention.delete_lapsed_jobs(now)
    if gone:
        log.info("%d deleted jobs are gone for good", gone)
    return gone


@contextmanager
def emptying(storage: Storage, clock: Callable[[], float] | None = None) -> Iterator[None]:
    """Within the block, a thread empties the trash: at once, and every hour.

    Args:
        storage: Of all projects.
        clock: Tells the seconds since the epoch; by default that of the database does.
    """
    stop = threading.Event()
    thread = threading.Thread(
        target=_serve,
        args=(storage, clock or storage.retention.now, stop),
        name="emptying",
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_END_SECONDS)  # what is left is deleted the next time


def _serve(storage: Storage, clock: Callable[[], float], stop: threading.Event) -> None:
    while True:
        try:
            empty(storage, clock())
        except Unavailable as error:
            log.debug("deleted jobs wait: %s", error)
        except Exception:  # a thread that ended here would delete nothing any more
            log.exception("deleted jobs wait")
        if stop.wait(_PAUSE_SECONDS):
            return

"""Sends what waits in the outbox, until it is told to stop; any number of processes may.

A message is claimed before it is sent. Whoever dies between sending and telling so has it sent
again once the claim has run out, under the same id.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from searchspace.errors import HamtuneError
from service.subscriptions.answer import SEND_SECONDS, Answer, failed
from service.subscriptions.sending import send
from service.subscriptions.settings import NotifySettings
from storage.errors import Unavailable
from storage.metrics import METRICS
from storage.notifications import Notification, Wakeup
from storage.outbox_records import ENDS, Due
from storage.storage import Storage

__all__ = ["Sender", "pause_after", "sending"]

CLAIM_SECONDS = 12 * SEND_SECONDS
"""Much longer than a message takes: only a dead process has another one send it, too."""

_AT_ONCE = 8
_LOOK_SECONDS = 1.0
_LONGEST_PAUSE = 3600.0
_KEPT_SECONDS = 30 * 86400.0
_CLEAN_SECONDS = 3600.0

log = logging.getLogger("hamtune.service")


def pause_after(tries: int, first: float) -> float:
    """Seconds between a failed try and the next one: they double, up to an hour.

    Example:
        >>> [pause_after(tries, 10.0) for tries in (1, 2, 3, 20)]
        [10.0, 20.0, 40.0, 3600.0]
    """
    return min(_LONGEST_PAUSE, first * 2.0 ** (tries - 1))


class Sender:
    """Sends messages, several at once.

    Args:
        storage: Where the outbox is, of all projects.
        settings: How they are sent.
        name: No other sender has the same one.
    """

    def __init__(self, storage: Storage, settings: NotifySettings, name: str) -> None:
        self._storage = storage
        self._settings = settings
        self._name = name
        self._cleaned = -_CLEAN_SECONDS

    def serve(self, stop: threading.Event) -> None:
        """Send what waits and what comes, until `stop` is set; what is out then ends first."""
        wakeup = Wakeup(_tells_an_end)
        busy: set[Future[None]] = set()
        with (
            self._storage.notifications.subscribed(wakeup.hear),
            ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sender") as pool,
        ):
            while not stop.is_set():
                busy = {one for one in busy if not one.done()}
                claimed = self._claim(_AT_ONCE - len(busy))
                busy |= {pool.submit(self._deliver, due) for due in claimed}
                if len(busy) == _AT_ONCE:
                    wait(busy, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
                elif not claimed:
                    wakeup.wait(_LOOK_SECONDS)

    def _claim(self, most: int) -> list[Due]:
        if most < 1:
            return []
        try:
            self._clean()
            return self._storage.deliveries.claim(self._name, CLAIM_SECONDS, most)
        except Unavailable as error:
            log.debug("messages wait: %s", error)
        except Exception:  # a sender that ended here would send nothing any more
            log.exception("messages wait")
        return []

    def _clean(self) -> None:
        if time.monotonic() - self._cleaned >= _CLEAN_SECONDS:
            self._storage.deliveries.forget(_KEPT_SECONDS)
            self._storage.allowances.forget(_CLEAN_SECONDS)
            self._cleaned = time.monotonic()

    def _deliver(self, due: Due) -> None:
        subscription = due.subscription
        try:
            answer = send(subscription, due.id, due.message, self._settings)
        except Exception:  # one message must not end the sending of all others
            log.exception("message %s cannot be sent", due.id)
            answer = failed("the service failed; its log tells why")
        again_in = None
        if not answer.ok and not answer.final and due.tries < self._settings.tries:
            again_in = pause_after(due.tries, self._settings.retry_seconds)
        _count(subscription.kind, answer, again_in)
        try:
            self._storage.deliveries.finish(
                due.id, self._name, due.tries, ok=answer.ok, said=answer.said, again_in=again_in
            )
        except HamtuneError as error:
            log.warning("what came of message %s cannot be kept: %s", due.id, error)


@contextmanager
def sending(storage: Storage, settings: NotifySettings, name: str) -> Iterator[None]:
    """Within the block, a thread sends messages."""
    stop = threading.Event()
    sender = Sender(storage, settings, name)
    thread = threading.Thread(target=sender.serve, args=(stop,), name="sender", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        storage.notifications.announce([None])  # which ends its waiting
        thread.join()


def _tells_an_end(notification: Notification) -> bool:
    return notification.kind == "job" and notification.state in ENDS


def _count(kind: str, answer: Answer, again_in: float | None) -> None:
    outcome = "sent" if answer.ok else "failed" if again_in is None else "retried"
    METRICS.count("hamtune_deliveries", kind=kind, outcome=outcome)

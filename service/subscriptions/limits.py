"""How many tests may be sent: each holds a thread while its receiver is waited for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from service.auth.principal import Principal
from service.problems import ProblemError
from service.subscriptions.answer import SEND_SECONDS
from storage.allowances import Allowance
from storage.errors import Throttled, Unavailable
from storage.view import StorageView

__all__ = ["EACH", "SendingLimits"]

EACH = Allowance(burst=20, seconds=60.0, at_once=2, hold_seconds=6 * SEND_SECONDS)
"""What each principal may send, over all servers of the database."""

_AT_ONCE = 8  # far below the threads of a server that answer requests, of which there are 40


class SendingLimits:
    """Lets each principal send so many tests in a while, and few at once.

    All principals together send few at once through this server. Safe for many threads.
    """

    def __init__(self) -> None:
        self._turns = threading.BoundedSemaphore(_AT_ONCE)

    @contextmanager
    def admitted(self, storage: StorageView, principal: Principal) -> Iterator[None]:
        """Within the block a test is sent; nobody waits here for a turn.

        Args:
            storage: As the principal sees it.
            principal: Who sends it.

        Raises:
            ProblemError: 429, too many were sent or are being sent.
        """
        if not self._turns.acquire(blocking=False):
            raise _refused(Throttled("other tests are being sent", 1))
        try:
            try:
                begun = storage.allowances.begin(principal.name, EACH)
            except Throttled as error:
                raise _refused(error) from None
            try:
                yield
            finally:
                # Where the database is away just now, it counts as ended after a while.
                with contextlib.suppress(Unavailable):
                    storage.allowances.end(principal.name, begun)
        finally:
            self._turns.release()


def _refused(error: Throttled) -> ProblemError:
    seconds = error.seconds
    return ProblemError(429, f"{error}; wait {seconds} s", headers={"Retry-After": str(seconds)})

"""Connections that end when their time is over.

Timeouts of sockets are for each piece, and whoever answers may send one byte at a time.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

__all__ = ["connect", "cut_off"]


def connect(addresses: Iterable[tuple[int, tuple[str, int]]], until: float) -> socket.socket:
    """A connection to the first address that takes one.

    Args:
        addresses: Families and addresses of sockets.
        until: When it must be there, by the monotonic clock; what is waited for on the socket later
            is waited for as long as there was left.

    Raises:
        OSError: None takes one in time.
    """
    failure: OSError | None = None
    for family, address in addresses:
        left = until - time.monotonic()
        if left <= 0:
            break
        opened = socket.socket(family, socket.SOCK_STREAM)
        try:
            opened.settimeout(left)
            opened.connect(address)
            return opened
        except OSError as error:
            opened.close()
            failure = error
    raise failure or TimeoutError


@contextmanager
def cut_off(connection: socket.socket, until: float) -> Iterator[threading.Event]:
    """Within the block a connection is shut down when its time is over, and the event set.

    It may be wrapped for TLS meanwhile.
    """
    over = threading.Event()
    with connection.dup() as same:

        def cut() -> None:
            over.set()
            with contextlib.suppress(OSError):
                same.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(max(0.0, until - time.monotonic()), cut)
        timer.daemon = True
        timer.start()
        try:
            yield over
        finally:
            timer.cancel()
            timer.join()

"""What a process needs of the database before it serves, tried again where a connection breaks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from storage.errors import Unavailable

__all__ = ["patiently"]

T = TypeVar("T")

_TRIES = 4
_PAUSE_SECONDS = 0.5

log = logging.getLogger("hamtune.service")


def patiently(act: Callable[[], T]) -> T:
    """Do something that may be done again, several times while the database is away.

    A server that is just started again is back in a moment; one that stays away is told of.

    Raises:
        Unavailable: The database is away.
    """
    for _ in range(_TRIES - 1):
        try:
            return act()
        except Unavailable as error:
            log.debug("trying again: %s", error)
            time.sleep(_PAUSE_SECONDS)
    return act()

"""Loading what stays until the end of the process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["loading"]


@contextmanager
def loading() -> Iterator[None]:
    """Within the block nobody looks for garbage, nor ever among what it has loaded.

    The libraries of the service are some 200,000 objects; to look through them twice takes a tenth
    of a second.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()

"""Traces of what is done for a job, where somebody collects them; otherwise nothing happens.

All spans of a job belong to one trace, whose id its own id makes: nothing has to be handed on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

__all__ = ["collect", "span"]

Opener = Callable[[str, str | None, dict[str, str]], AbstractContextManager[object]]

_opener: Opener | None = None


def collect(opener: Opener | None) -> None:
    """From now on open spans with this: by name, job (None for none) and attributes."""
    global _opener
    _opener = opener


@contextmanager
def span(name: str, *, job: str | None = None, **attributes: str) -> Iterator[None]:
    """Within the block, something is done that a trace shows."""
    if _opener is None:
        yield
        return
    with _opener(name, job, attributes):
        yield

"""The exceptions that every room raises for its callers to show."""

from __future__ import annotations

__all__ = ["HamtuneError", "InvalidInput"]


class HamtuneError(Exception):
    """A failure with a message for the user: what was wrong and what to do, in one line."""


class InvalidInput(HamtuneError):
    """Input that cannot be used as it is.

    Args:
        message: What is wrong and what is allowed, one line.
        field: Dotted path of the offending field (`search.collectives.alltoall`), if any.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.message = message
        self.field = field

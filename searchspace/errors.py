"""The exceptions that every room raises for its callers to show."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["HamtuneError", "InvalidDocument", "InvalidInput"]


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


class InvalidDocument(InvalidInput):
    """A document with several mistakes; the message has a line for each.

    Args:
        errors: One for each mistake, at least one; `field` and `message` are those of the first.
    """

    def __init__(self, errors: Sequence[InvalidInput]) -> None:
        super().__init__(errors[0].message, field=errors[0].field)
        self.args = ("\n".join(map(str, errors)),)
        self.errors = tuple(errors)

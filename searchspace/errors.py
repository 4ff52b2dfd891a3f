"""The exceptions that every room raises for its callers to show."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["HamtuneError", "InvalidDocument", "InvalidInput"]


class HamtuneError(Exception):
    """A failure with a message for the user: what was wrong and what to do, in one line."""


_LONGEST = 4_000
"""Characters of a message; what is longer quotes too much of a file."""


def _plain(text: str) -> str:
    """The text as one line that can be shown, whatever a file put into it."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    text = text.replace("\n", "; ")
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


class InvalidInput(HamtuneError):
    """Input that cannot be used as it is.

    The message stays one line: ends of lines become semicolons, what else cannot be shown (control
    characters, halves of surrogates) escapes.

    Args:
        message: What is wrong and what is allowed, one line.
        field: Dotted path of the offending field (`search.collectives.alltoall`), if any.
    """

    def __init__(self, message: str, *, field: str | None = None) -> None:
        self.message = _plain(message)
        self.field = _plain(field) if field else field
        super().__init__(f"{self.field}: {self.message}" if self.field else self.message)


class InvalidDocument(InvalidInput):
    """A document with several mistakes; the message has a line for each.

    Args:
        errors: One for each mistake, at least one; `field` and `message` are those of the first.
    """

    def __init__(self, errors: Sequence[InvalidInput]) -> None:
        super().__init__(errors[0].message, field=errors[0].field)
        self.args = ("\n".join(map(str, errors)),)
        self.errors = tuple(errors)

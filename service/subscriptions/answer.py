"""What came of sending a message."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SEND_SECONDS", "Answer", "failed"]

SEND_SECONDS = 10.0
"""For which a receiver may keep a message waiting."""

_LONGEST = 300


class Answer(NamedTuple):
    """What came of sending a message.

    Attributes:
        ok: Whether it arrived.
        said: What happened, in words for the subscriber; nothing of what the receiver wrote.
        final: Whether it would be of no use to send it again.
    """

    ok: bool
    said: str
    final: bool = False


def failed(why: str, *, final: bool = False) -> Answer:
    """It did not arrive."""
    plain = "".join(letter if letter.isprintable() else " " for letter in why)
    return Answer(False, plain[:_LONGEST], final)

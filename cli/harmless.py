"""What programs of others said, for the terminal of whoever looks."""

from __future__ import annotations

import re

__all__ = ["harmless"]

_COMMANDS_OF_TERMINALS = re.compile(r"[^\t\n\r -~\u00a0-\U0010ffff]|\r(?!\n)")
"""Control characters: an end of a line is none."""


def harmless(text: str) -> str:
    """The text without what would command a terminal: that is written as escapes."""
    return _COMMANDS_OF_TERMINALS.sub(
        lambda found: found[0].encode("unicode_escape").decode("ascii"), text
    )

"""What is raised where captures do not tell how a larger run goes."""

from __future__ import annotations

from searchspace.errors import InvalidInput

__all__ = ["NoPattern"]


class NoPattern(InvalidInput):
    """Something in the captures follows no pattern that Hamtune knows; the message says what."""

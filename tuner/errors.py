"""What goes wrong in the tuner itself."""

from __future__ import annotations

from searchspace.errors import HamtuneError

__all__ = ["SearchProcessFailed"]


class SearchProcessFailed(HamtuneError):
    """The process that runs OpenTuner ended or answered with an error."""

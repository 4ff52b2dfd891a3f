"""What goes wrong in the tuner itself."""

from __future__ import annotations

from searchspace.errors import HamtuneError

__all__ = ["ArtifactFailed", "SearchProcessFailed"]


class ArtifactFailed(HamtuneError):
    """A file that a trial needs is missing or altered, for which its job is to stop."""


class SearchProcessFailed(HamtuneError):
    """The process that runs OpenTuner ended or answered with an error."""

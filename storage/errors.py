"""What storage refuses, in words that its callers can show."""

from __future__ import annotations

from searchspace.errors import HamtuneError

__all__ = [
    "ArtifactDamaged",
    "ArtifactMissing",
    "Conflict",
    "LeaseLost",
    "NotFound",
    "QuotaExceeded",
    "ReplayDiverged",
    "Throttled",
    "Unavailable",
    "UnknownRevision",
]


class NotFound(HamtuneError):
    """Nothing is stored under that id."""


class Conflict(HamtuneError):
    """The request contradicts what is stored: an illegal change of state, a reused key."""


class LeaseLost(HamtuneError):
    """The writer no longer holds the job: its lease ended and another token was given out."""


class ReplayDiverged(HamtuneError):
    """A replay proposed another configuration than the one stored under the same number."""


class QuotaExceeded(HamtuneError):
    """The project has used up what it may use of something."""


class Throttled(HamtuneError):
    """Too much of something at once, or lately.

    Attributes:
        seconds: After which it is of use to ask again.
    """

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


class ArtifactMissing(NotFound):
    """There are no bytes under that digest."""


class ArtifactDamaged(HamtuneError):
    """The bytes of an artifact do not have the digest that names it."""


class Unavailable(HamtuneError):
    """Database or artifact store are away, busy for too long, or full; try again later.

    Args:
        message: What is away.
        cause: In the words of a driver, which may name hosts and users.

    Attributes:
        plain: The message without them, for anybody.
    """

    def __init__(self, message: str, cause: str | None = None) -> None:
        super().__init__(message if cause is None else f"{message}: {cause}")
        self.plain = message


class UnknownRevision(HamtuneError):
    """The tables of the database are not those of this version of Hamtune."""

"""What both kinds of jobs know without asking."""

from __future__ import annotations

from hamtune_client.models import JobRecord

__all__ = ["KnownJob"]


class KnownJob:
    """A job of the service; `record` is what was known of it when it was last asked for."""

    def __init__(self, record: JobRecord) -> None:
        self.record = record

    @property
    def id(self) -> str:
        """Its id."""
        return self.record.id

    @property
    def name(self) -> str:
        """Its name."""
        return self.record.name

    @property
    def state(self) -> str:
        """Its state when it was last asked for; `refresh` asks again."""
        return self.record.state

    def __repr__(self) -> str:
        best = self.record.progress.best
        found = "" if best is None else f", best {best.value:.6g} s"
        return f"<Job {self.name!r} {self.id}: {self.state}{found}>"

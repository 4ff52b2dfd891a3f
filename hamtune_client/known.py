"""What both kinds of jobs and of trials know without asking."""

from __future__ import annotations

from typing import Any

from hamtune_client import html
from hamtune_client.calls import HamtuneClientError
from hamtune_client.models import Asked, JobRecord, Proposal, Trial

__all__ = ["KnownJob", "KnownTrial"]


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

    def _repr_html_(self) -> str:
        return html.job(self.record)

    def _spaceless(self) -> HamtuneClientError:
        """What to raise where it ended before it was prepared."""
        because = "" if self.record.error is None else f": {self.record.error}"
        return HamtuneClientError(f"job {self.id} is {self.state} and has no space{because}")

    def _outcome(self, found: Proposal) -> Trial:
        """The trial of a settled proposal.

        Raises:
            HamtuneClientError: It has none, or it was cancelled with its job.
        """
        if found.trial is None or found.trial.state == "cancelled":
            raise HamtuneClientError(
                f"job {self.id} was {found.job_state} before proposal {found.place} was evaluated"
            )
        return found.trial


class KnownTrial:
    """A trial that a script has; `asked` is what it was given."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked

    @property
    def number(self) -> int:
        """Its number, such as for `export` of the job, which writes its launch files."""
        return self.asked.trial

    @property
    def configuration(self) -> dict[str, Any]:
        """What to measure."""
        return self.asked.configuration

    @property
    def state(self) -> str:
        """As it was asked for: `running`, unless a key was used again.

        Then it may be `taken` by another script, or have ended; `tell` is refused or changes
        nothing.
        """
        return self.asked.state

    @property
    def kind(self) -> str:
        """`baseline` or `search`."""
        return self.asked.kind

    @property
    def label(self) -> str | None:
        """The name of a baseline."""
        return self.asked.label

    @property
    def cutoff(self) -> float | None:
        """Seconds after which the search needs no more of it: see `stopped` of `tell`."""
        return self.asked.cutoff

    def __repr__(self) -> str:
        return f"<trial {self.number}: {self.configuration}>"

"""What a stage of a job's work is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from searchspace.configuration import Configuration
from storage.records import Trial
from tuner.budget import EndReason
from tuner.objective import TrialResult
from tuner.verification import Entrant

__all__ = ["PAUSED", "Asked", "End", "Stage", "Stop", "Wait"]

PAUSED: Literal["paused"] = "paused"
"""The job is to pause."""

End: TypeAlias = EndReason | Literal["hopeless"]
"""Why a search ended."""
Stop: TypeAlias = End | Literal["paused", "done"]
"""Why a stage asks no trial, and will not before something is done about it."""
Wait: TypeAlias = Stop | Literal["idle"]
"""Why a stage asks no trial now; `idle` where it may later."""


@dataclass(frozen=True)
class Asked:
    """A trial in flight.

    Attributes:
        number: Of the trial.
        configuration: What is evaluated.
        inside: Whether its result matters to the search.
        entrant: What it is in a race of verifications.
    """

    number: int
    configuration: Configuration
    inside: bool = False
    entrant: Entrant | None = None


class Stage(Protocol):
    """A part of the work on a job.

    Attributes:
        in_flight: How many trials at once.
    """

    in_flight: int

    def begin(self) -> None:
        """What is done before its first trial."""

    def end(self) -> Wait | None:
        """Why no trial may be asked now; None while one may."""

    def ask(self) -> Asked | None:
        """Ask the next trial; None where there is none."""

    def tell(self, asked: Asked, trial: Trial, result: TrialResult) -> None:
        """Take in the outcome of a trial that this stage asked."""

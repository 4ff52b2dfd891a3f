"""What storage hands out about runs on real clusters: see `storage.records`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "MeasuredConfiguration",
    "MeasuredOutcome",
    "MeasuredPurpose",
    "MeasuredRun",
    "MeasuredState",
    "Measuring",
    "MeasuringCounts",
    "MeasuringState",
    "NewMeasured",
]


MeasuringState = Literal["open", "decided", "undecided"]
"""Decided: measured times have chosen the best. Undecided: the simulation still does."""
MeasuredPurpose = Literal["finalists", "validation"]
MeasuredState = Literal["entered", "open", "measured", "infeasible", "dropped"]
"""Entered: what it comes to on a cluster is not known yet. Open: it is to be run, again perhaps.
Infeasible: a cluster cannot run it. Dropped: it does nothing that another does not do."""


@dataclass(frozen=True, kw_only=True)
class NewMeasured:
    """A configuration to be measured; `trial` is None for a library's defaults."""

    label: str
    trial: int | None = None
    simulated: float | None = None  # seconds


@dataclass(frozen=True, kw_only=True)
class MeasuredOutcome:
    """What a run came to: seconds, with doubts why they do not count, or why there are none."""

    seconds: float | None = None
    doubts: tuple[str, ...] = ()
    reason: dict[str, Any] | None = None  # {"kind", "message"} of a run that failed
    origin: dict[str, Any] | None = None  # on what and with what it ran


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """One run on a cluster. Job, place and number name it, and nobody else has them."""

    job_id: str
    place: int
    number: int
    state: Literal["running", "counted", "doubted", "failed", "lost"]
    agent: str | None
    cluster: str | None
    seconds: float | None
    doubts: tuple[str, ...]
    reason: dict[str, Any] | None
    origin: dict[str, Any] | None
    started_at: float
    finished_at: float | None


@dataclass(frozen=True, kw_only=True)
class MeasuredConfiguration:
    """What is measured of a job, with its runs in the order of their beginning."""

    job_id: str
    place: int
    purpose: MeasuredPurpose
    trial: int | None
    label: str
    simulated: float | None
    state: MeasuredState
    reason: dict[str, Any] | None
    plan: dict[str, Any] | None
    runs: tuple[MeasuredRun, ...]

    @property
    def seconds(self) -> list[float]:
        """Of the runs that count."""
        return [run.seconds for run in self.runs if run.state == "counted" and run.seconds]


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """How the measuring of a job's finalists stands."""

    job_id: str
    state: MeasuringState
    because: str | None  # why it ended so, in words
    settings: dict[str, Any]
    cluster: str | None  # whose times they are; None before the first run
    agent: str | None  # that was heard of last
    heard_at: float | None
    spent_seconds: float  # since the first run, while the job was driven
    silent_seconds: float  # since an agent was heard of, while the job was driven
    simulated_best: int | None  # the trial that is the best by simulation
    decided: int | None  # the trial that was measured to be the best
    created_at: float
    finished_at: float | None


@dataclass(frozen=True)
class MeasuringCounts:
    """How far the measuring of a job's finalists has come; the library's defaults count too."""

    settled: int  # configurations that need no further run
    wanted: int  # of how many; 0 before an agent has asked for work
    runs: int  # that have ended

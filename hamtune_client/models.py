"""What the service answers, as values with types; fields that are new to this client are kept."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = [
    "ENDED",
    "Best",
    "BestSoFar",
    "Comparison",
    "Event",
    "Importance",
    "JobRecord",
    "Progress",
    "Replay",
    "Statistics",
    "Trial",
]

ENDED = ("completed", "failed", "cancelled")
"""The states in which a job does nothing any more."""


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class BestSoFar(_Answer):
    """The incumbent in short."""

    trial: int
    value: float


class Progress(_Answer):
    """How far a job has come."""

    trials: dict[str, int]
    finished: int
    kinds: dict[str, int]
    evaluations: int
    cpu_seconds: float
    best: BestSoFar | None


class JobRecord(_Answer):
    """A job as it was when it was asked for."""

    id: str
    name: str
    state: str
    spec: dict[str, Any]
    seed: int
    application_id: str | None
    space: dict[str, Any] | None
    error: str | None
    ended_because: str | None
    priority: str
    paused_because: str | None
    note: str
    tags: list[str]
    archived_at: float | None
    queue_position: int | None
    estimated_end: float | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    active_seconds: float
    progress: Progress


class Comparison(_Answer):
    """One of the best trials by both network models; times are simulated seconds."""

    trial: int
    value: float
    comparison: int
    state: str
    fluid: float | None


class Best(_Answer):
    """The best configuration beside the baselines; times are simulated seconds."""

    configuration: dict[str, Any]
    value: float
    trial: int
    baseline: float | None
    speedup: float | None
    baselines: dict[str, float]
    initial: float | None
    network: str
    """The model that gave these times: `fluid` or `packets`."""
    model: str
    """The same with what it rests on."""
    comparisons: list[Comparison]
    """The best trials by both models, where packets decided."""
    decided_by: str
    """`measured`, or the model that chose it: `packets` or `fluid`."""
    measured: dict[str, Any] | None
    """What a cluster measured of it and of the library's defaults; None where none decided."""
    undecided: str | None
    """Why the simulation decided although finalists were to be measured."""
    error: float
    """Of the model, relative: smaller gains are none."""
    error_from: str
    within_error: bool | None
    """Whether best and best baseline are too close for the model to tell apart."""
    advice: list[str] = []
    """What to do where the best of the search space is slower than a baseline."""


class Trial(_Answer):
    """One configuration of a job and what became of it."""

    number: int
    kind: str
    fidelity: str
    label: str | None
    state: str
    value: float | None
    cutoff: float | None
    cached: bool
    configuration: dict[str, Any]
    configuration_sha256: str
    technique: str | None
    reason: dict[str, Any] | None
    cpu_seconds: float | None
    wall_seconds: float | None
    peak_rss_bytes: int | None
    worker: str | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    result: dict[str, Any] | None = None


class ParameterImportance(_Answer):
    """How much one parameter matters."""

    name: str
    importance: float
    """Share of all."""
    deviation: float


class Importance(_Answer):
    """How much each parameter of a job matters, the most important first."""

    method: str
    trials: int
    """That were learnt from, of those that are `available`."""
    available: int
    score: float | None
    """R^2 on trials left out of learning."""
    parameters: list[ParameterImportance]
    note: str | None
    """Why there is no answer, or what limits it."""


class WorkerStatistics(_Answer):
    """What one worker did; None stands for trials that no worker took."""

    worker: str | None
    trials: int
    evaluated: int
    busy_seconds: float
    longest_seconds: float


class ValueStatistics(_Answer):
    """What became of one value of a parameter: its trials, and the fastest of them."""

    value: Any
    trials: int
    trial: int
    seconds: float


class ParameterStatistics(_Answer):
    """The values of a parameter, the fastest first."""

    name: str
    different: int
    values: list[ValueStatistics]


class Statistics(_Answer):
    """Counts of all trials of a job that have an outcome."""

    trials: int
    states: dict[str, int]
    cached: int
    compared: int
    """Of which `parameters` are: completed, of the search space, and of one trace."""
    workers: list[WorkerStatistics]
    parameters: list[ParameterStatistics]


class Replay(_Answer):
    """What a trial comes to when it is simulated anew; `verdict`: same, consistent, differs."""

    trial: int
    state: str
    value: float | None
    stored_state: str
    stored_value: float | None
    verdict: str
    difference: float | None
    ranks_that_differ: int | None
    cables_that_differ: int | None
    reason: dict[str, Any] | None
    simulator: str


class Event(_Answer):
    """Something that happened in a job; `id` is where to go on from."""

    id: int
    job_id: str
    kind: str
    at: float
    data: dict[str, Any]

"""What the service answers, as values with types; fields that are new to this client are kept."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from hamtune_client import html, wording

__all__ = [
    "ENDED",
    "Answer",
    "Asked",
    "Best",
    "BestSoFar",
    "Comparison",
    "Deletion",
    "Event",
    "FailureReason",
    "Front",
    "FrontPoint",
    "Importance",
    "JobRecord",
    "OutlookPoint",
    "Parameter",
    "Progress",
    "Proposal",
    "Replay",
    "Space",
    "Statistics",
    "Trial",
]

ENDED = ("completed", "failed", "cancelled")
"""The states in which a job does nothing any more."""


class Answer(BaseModel):
    """What a service answered; it does not change."""

    model_config = ConfigDict(extra="allow", frozen=True)


class BestSoFar(Answer):
    """The incumbent in short."""

    trial: int
    value: float


class OutlookPoint(Answer):
    """What the model of a search expected of the configurations not tried yet."""

    trial: int
    """The one that was asked then."""
    probability: float
    """That one of them is faster than the best by more than 1%."""
    gain: float
    """By how much the best of them is expected to be faster, as a part of the best time."""


class FailureReason(Answer):
    """Trials that failed for reasons of one kind."""

    kind: str
    """Such as `wall`, `memory` or `crash`."""
    message: str
    """What one of them says."""
    trials: int
    """How many there are."""


class Progress(Answer):
    """How far a job has come."""

    trials: dict[str, int]
    finished: int
    kinds: dict[str, int]
    evaluations: int
    cpu_seconds: float
    best: BestSoFar | None
    outlook: OutlookPoint | None = None
    """What more trials would bring; `Job.outlook` says why where no model tells."""
    failures: list[FailureReason] = []
    """Why trials failed, the commonest reason first."""


class JobRecord(Answer):
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
    deleted_at: float | None = None
    restorable_until: float | None = None
    queue_position: int | None
    estimated_end: float | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    active_seconds: float
    progress: Progress


class Deletion(Answer):
    """A job that was deleted, and how to get it back; all None where it is gone for good."""

    id: str
    name: str
    deleted_at: float | None
    restorable_until: float | None
    """Until when it can be restored, seconds since the epoch."""
    restore: str | None
    """The command that does so."""


class Comparison(Answer):
    """One of the best trials by both network models; times are simulated seconds."""

    trial: int
    value: float
    comparison: int
    state: str
    fluid: float | None


class Best(Answer):
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

    def __str__(self) -> str:
        return wording.best(self)

    def _repr_html_(self) -> str:
        return html.best(self)


class Trial(Answer):
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

    def _repr_html_(self) -> str:
        return html.trials([self])


class Parameter(Answer):
    """A parameter of a search space, and what it can be.

    Where the condition `when` (a parameter's name, with values of it) is not met, it does not
    count: whatever it is given is left out.
    """

    name: str
    kind: str
    """`enum`, `boolean`, `integer`, `log-integer` or `permutation`."""
    values: list[Any] | None = None
    """Of an `enum`."""
    low: int | None = None
    """Of an integer, as `high`; both are allowed."""
    high: int | None = None
    items: list[int] | None = None
    """Of a permutation: what it is an order of."""
    when: dict[str, list[Any]] | None = None

    @property
    def choices(self) -> list[Any] | None:
        """The values of an `enum` or a `boolean`; None of others."""
        return [False, True] if self.kind == "boolean" else self.values


class Space(Answer):
    """What a job chooses from."""

    size: int
    """How many configurations there are."""
    parameters: list[Parameter]
    constraints: list[str]
    """What must hold beside; a configuration that breaks one is infeasible."""


class Proposal(Answer):
    """A configuration that was proposed, and what became of it."""

    place: int
    configuration: dict[str, Any]
    """With the parameters that count."""
    state: str
    """Of its trial; `waiting` before its turn, `dropped` where the job ended before."""
    trial: Trial | None
    job_state: str
    created_at: float

    @property
    def settled(self) -> bool:
        """Whether nothing of it changes any more."""
        return self.state not in ("waiting", "pending", "running")


class Asked(Answer):
    """A trial that was given out to be measured."""

    trial: int
    attempt: int
    kind: str
    label: str | None
    configuration: dict[str, Any]
    technique: str | None
    cutoff: float | None
    state: str
    expires_at: float


class ParameterImportance(Answer):
    """How much one parameter matters."""

    name: str
    importance: float
    """Share of all."""
    deviation: float


class Importance(Answer):
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

    def _repr_html_(self) -> str:
        return html.importance(self)


class FrontPoint(Answer):
    """A completed trial with what its network comes to."""

    trial: int
    label: str | None
    value: float
    """Simulated seconds."""
    cost: float
    power: float
    """Watts."""
    energy: float
    """Joules of the run."""
    switches: int
    cables: int
    adapters: int
    metres: float
    """Of all cables together."""
    diameter: int
    network: str
    configuration: dict[str, Any]


class Front(Answer):
    """What no other completed trial of a job beats in both time and price, the cheapest first."""

    by: str
    """What time is weighed against: `cost`, `power` or `energy`."""
    points: list[FrontPoint]
    others: list[FrontPoint]
    """The fastest trial of each other network."""
    baselines: list[FrontPoint]
    hypervolume: float | None
    share: float | None
    note: str | None


class WorkerStatistics(Answer):
    """What one worker did; None stands for trials that no worker took."""

    worker: str | None
    trials: int
    evaluated: int
    busy_seconds: float
    longest_seconds: float


class ValueStatistics(Answer):
    """What became of one value of a parameter: its trials, and the fastest of them."""

    value: Any
    trials: int
    trial: int
    seconds: float


class ParameterStatistics(Answer):
    """The values of a parameter, the fastest first."""

    name: str
    different: int
    values: list[ValueStatistics]


class Statistics(Answer):
    """Counts of all trials of a job that have an outcome."""

    trials: int
    states: dict[str, int]
    cached: int
    compared: int
    """Of which `parameters` are: completed, of the search space, and of one trace."""
    workers: list[WorkerStatistics]
    parameters: list[ParameterStatistics]


class Replay(Answer):
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


class Event(Answer):
    """Something that happened in a job; `id` is where to go on from."""

    id: int
    job_id: str
    kind: str
    at: float
    data: dict[str, Any]

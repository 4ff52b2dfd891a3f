"""What the service answers of programs, machines, keys and measurements, as values with types."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from hamtune_client import html
from hamtune_client.models import Answer, BestSoFar, OutlookPoint

__all__ = [
    "ApplicationRecord",
    "AuditEntry",
    "Check",
    "Convergence",
    "ConvergencePoint",
    "Delivery",
    "Estimate",
    "Key",
    "MachineRecord",
    "Measured",
    "MeasuredConfiguration",
    "MeasuredRun",
    "Measurement",
    "NewKey",
    "NewSubscription",
    "Outlook",
    "ProjectRecord",
    "RunningTrial",
    "Session",
    "Subscription",
]


class ApplicationRecord(Answer):
    """A program that configurations replay: captured, uploaded, or to be captured."""

    id: str
    name: str
    kind: str
    state: str
    """`ready` with a trace; of a source tree `new`, `capturing`, `failed` before that."""
    error: str | None
    recipe: dict[str, Any] | None
    trace_sha256: str | None
    ranks: int
    summary: dict[str, Any]
    """What the trace holds: calls, bytes, flops."""
    notes: list[str]
    """How the trace came about and how far it can be relied on."""
    created_at: float


class MachineRecord(Answer):
    """A stored machine, which jobs name as `machine: {id: ...}`; its numbers in SI base units."""

    id: str
    name: str
    sha256: str
    machine: dict[str, Any]
    created_at: float


class MachineFiles(Answer):
    """What files of a cluster tell, and the machine that was stored."""

    machine: MachineRecord | None
    """None where only the inside of a host was sent, and no machine to put it in."""
    network: dict[str, Any] | None
    """Its `format`, and how many `hosts`, `switches` and `cables` it has."""
    host: dict[str, Any] | None
    """Its `cores`, and the `levels` above them."""
    assumed: dict[str, str]
    """Fields of the machine of which nothing was said."""


class Estimate(Answer):
    """How long a job may take, by what earlier jobs of its application cost."""

    seconds: float | None
    trials: int | None
    seconds_per_trial: float | None
    note: str
    """What this rests on, or why nothing is known."""


class Check(Answer):
    """What a job file would become."""

    spec: dict[str, Any]
    space: dict[str, Any] | None
    """Its `size`, `parameters`, `baselines`, and what was `excluded` and why."""
    note: str | None
    estimate: Estimate
    network: dict[str, Any] | None
    """The first network of the space with a place for every node."""
    network_note: str | None

    def _repr_html_(self) -> str:
        return html.check(self)


class ConvergencePoint(Answer):
    """A trial with an outcome, and how far the job had come with it."""

    trial: int
    kind: str
    label: str | None
    state: str
    value: float | None
    best: float | None
    """Lowest simulated seconds so far."""
    wall_seconds: float
    cpu_seconds: float


class Convergence(Answer):
    """How a job converged (Hu et al. 2023, section IV.E); values are simulated seconds."""

    points: list[ConvergencePoint]
    best: BestSoFar | None
    initial: BestSoFar | None
    baselines: dict[str, float]
    gains: dict[str, float | None]
    """Each baseline over the best."""
    speedup: float | None
    proximity: list[float | None]
    """C(n) after n trials of the search."""
    trials_to_reach: int | None
    """The first n of which C(n) is at least `close`."""
    close: float


class Outlook(Answer):
    """What more trials of a job would bring, as the model of its search sees it."""

    last: OutlookPoint | None
    """Of the last model."""
    unknown: str | None
    """Why there is none, where there is none."""
    points: list[OutlookPoint]
    """One for each model that was made."""


class RunningTrial(Answer):
    """An evaluation under way."""

    trial: int
    attempt: int
    worker: str | None
    simulated_time: float | None
    """Simulated seconds so far."""
    share: float | None
    """The part of all calls that has begun, from 0 to 1."""


class MeasuredRun(Answer):
    """A run of a configuration on a cluster."""

    number: int
    state: str
    cluster: str | None
    seconds: float | None
    doubts: list[str]
    """Why its time does not count; empty where it does."""
    reason: dict[str, Any] | None


class MeasuredConfiguration(Answer):
    """A configuration that is run on a cluster, with all its runs."""

    place: int
    purpose: str
    """`finalists` or `validation`."""
    trial: int | None
    """None for the library's defaults."""
    label: str
    simulated: float | None
    state: str
    runs: list[MeasuredRun]


class Measured(Answer):
    """How the measuring of a job stands, and all that was measured of it."""

    state: str | None
    """`open`, `decided` or `undecided`; None where no finalists are measured."""
    because: str | None
    cluster: str | None
    simulated_best: int | None
    decided: int | None
    """The trial that was measured to be the best."""
    items: list[MeasuredConfiguration]


class Measurement(Answer):
    """What an export gained on a cluster, as `hamtune verify` sends it."""

    id: str
    job_id: str
    created_at: float
    measurement: dict[str, Any]


class Session(Answer):
    """Who the service takes one for, and what one may."""

    name: str
    project: str
    role: str
    scopes: list[str]
    required: bool
    keep_deleted_seconds: float = 0.0
    """For how long a job that is deleted now can be restored; 0: not at all."""


class Key(Answer):
    """A key to the service, without its secret."""

    id: str
    project: str
    name: str
    role: str
    scopes: list[str]
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    used_at: float | None


class NewKey(Key):
    """A key with its secret, which is told this once and shown nowhere but in `key`."""

    key: str = Field(repr=False)

    def __repr__(self) -> str:
        return f"<NewKey {self.name!r} {self.id}; its secret is in .key>"


class AuditEntry(Answer):
    """What somebody changed, or what was refused to a key."""

    id: str
    at: float
    actor: str
    address: str
    action: str
    target: str
    status: int


class ProjectRecord(Answer):
    """A project: what it may use of the service, and what it has used."""

    name: str
    weight: float
    priority: str
    quotas: dict[str, Any]
    used: dict[str, Any]


class Subscription(Answer):
    """Who is told of jobs, without the secret."""

    id: str
    kind: str
    """`webhook` or `email`."""
    target: str
    """The address, or the URL without its path."""
    name: str
    job_id: str | None
    """None for all jobs of the project."""
    events: list[str]
    pause_seconds: float
    owner: str
    created_at: float


class NewSubscription(Subscription):
    """A subscription with its secret, which is told this once and shown nowhere but in `secret`."""

    secret: str | None = Field(repr=False)

    def __repr__(self) -> str:
        return f"<NewSubscription {self.id} of {self.target}; its secret is in .secret>"


class Delivery(Answer):
    """A message, and what came of it."""

    id: str
    subscription_id: str
    job_id: str | None
    event: str
    state: str
    """`waiting`, `sent` or `failed`."""
    tries: int
    created_at: float
    next_at: float | None
    tried_at: float | None
    answer: str | None

"""What storage hands out: immutable values, never ORM objects.

Times are seconds since the epoch (UTC) as floats; durations are seconds; sizes are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeVar

__all__ = [
    "ACTIVE_JOB_STATES",
    "DEFAULT_PROJECT",
    "FINAL_JOB_STATES",
    "FINAL_TRIAL_STATES",
    "ApiKey",
    "Application",
    "ApplicationKind",
    "ApplicationState",
    "Archived",
    "AskedTrial",
    "Attempt",
    "AuditEntry",
    "ConvergencePoint",
    "Deleted",
    "Evaluation",
    "Event",
    "Fidelity",
    "Job",
    "JobState",
    "LogName",
    "Machine",
    "Measurement",
    "Outcome",
    "Page",
    "Priority",
    "Process",
    "ProcessKind",
    "Project",
    "ProposedConfiguration",
    "Quotas",
    "Role",
    "Trial",
    "TrialCells",
    "TrialCounts",
    "TrialKind",
    "TrialPoint",
    "TrialState",
]

JobState = Literal[
    "queued", "preparing", "running", "pausing", "paused",
    "completed", "failed", "cancelling", "cancelled",
]  # fmt: skip
TrialState = Literal[
    "pending", "running", "completed", "censored", "infeasible", "failed", "cancelled"
]
ApplicationState = Literal["new", "capturing", "ready", "failed"]
LogName = Literal["build", "run"]
Role = Literal["viewer", "submitter", "admin"]
"""What a key may at most: see; see and submit; also manage the keys of its project."""
DEFAULT_PROJECT = "default"
"""Whose things are where nobody has to say who they are."""
ProcessKind = Literal["api", "coordinator", "worker"]
Archived = Literal["exclude", "include", "only"]
"""What a list does with jobs that are put aside."""
Deleted = Literal["exclude", "only"]
"""Whether a list is of jobs that are there, or of those that were deleted."""
Priority = Literal["low", "normal", "high"]
ACTIVE_JOB_STATES: tuple[JobState, ...] = (
    "queued",
    "preparing",
    "running",
    "pausing",
    "cancelling",
)
FINAL_JOB_STATES: tuple[JobState, ...] = ("completed", "failed", "cancelled")
FINAL_TRIAL_STATES: tuple[TrialState, ...] = (
    "completed", "censored", "infeasible", "failed", "cancelled",
)  # fmt: skip

ApplicationKind = Literal["builtin", "trace", "source", "pattern", "extrapolated", "workload"]
"""A workload is several applications that run at once; its trace is the list of theirs, in JSON."""
TrialKind = Literal[
    "baseline", "estimate", "search", "refinement", "verification", "comparison"
]  # fmt: skip
"""A refinement is the best trial of the search with some ranks moved. Where the search is over a
truncated trace, an estimate is a baseline's value by that trace, and a verification repeats one of
the best trials on the whole one. A comparison repeats one of the best with the fluid network model
where packets decided."""
Fidelity = Literal["full", "low"]
"""Low is an estimate from a truncated trace."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T]):
    """One page of a listing; `cursor` fetches the next, None on the last."""

    items: list[T]
    cursor: str | None


@dataclass(frozen=True, kw_only=True)
class Quotas:
    """The most that a project may have or use; None for as much as there is."""

    jobs: int | None = None  # that have not ended, at once
    trials: int | None = None  # with an outcome, ever
    cpu_seconds: float | None = None  # of the simulator, ever
    storage_bytes: int | None = None  # traces and source trees


@dataclass(frozen=True, kw_only=True)
class Project:
    """Whose jobs, applications and machines nobody else sees."""

    name: str
    created_at: float
    weight: float = 1.0  # its share of the workers, beside the weights of others
    priority: Priority = "normal"  # the highest at which its jobs go before those of others
    quotas: Quotas = Quotas()


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """What a key is allowed, without its secret. Scopes narrow its role; none means all of it."""

    id: str
    project: str
    name: str
    role: Role
    scopes: tuple[str, ...]
    created_by: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    used_at: float | None


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """Who did what, or tried to, when, from where, and the HTTP status it came to."""

    id: str
    project: str
    at: float
    actor: str
    address: str
    action: str
    target: str
    status: int


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process that serves the database: its versions, and when it was last heard of."""

    name: str
    kind: ProcessKind
    version: str
    contract: int
    simulator: str | None  # of a worker: see `workers.simulator_client.simulator_version`
    concurrency: int | None  # of a worker
    started_at: float
    heard_at: float


@dataclass(frozen=True, kw_only=True)
class Application:
    """A trace to replay. `key` names what it was made from, so that it is captured once."""

    id: str
    name: str
    kind: ApplicationKind
    key: str
    trace_sha256: str  # empty until a source application is captured
    ranks: int
    summary: dict[str, Any]
    created_at: float
    state: ApplicationState = "ready"
    recipe: dict[str, Any] | None = None  # how a source application is built and run
    error: str | None = None  # why its last capture failed
    claimed_at: float | None = None  # last word of the worker that captures it
    capture_progress: dict[str, Any] | None = None  # of the capture under way
    project: str = DEFAULT_PROJECT


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A named machine description (canonical form of `searchspace.machine.Machine`)."""

    id: str
    name: str
    sha256: str
    description: dict[str, Any]
    created_at: float
    project: str = DEFAULT_PROJECT


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What an export of a job gained on a real cluster; `document` is as it was sent."""

    id: str
    job_id: str
    created_at: float
    document: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Job:
    """A tuning job. `spec` is the job file in canonical form."""

    id: str
    name: str
    state: JobState
    spec: dict[str, Any]
    seed: int
    application_id: str | None
    space: (
        dict[str, Any] | None
    )  # size, parameters, exclusions with their reasons; set when prepared
    error: str | None
    ended_because: (
        str | None
    )  # trials, evaluations, wall_seconds, cpu_seconds, target, patience, until, exhausted
    lease_owner: str | None
    lease_token: int
    lease_expires_at: float | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    active_seconds: float  # wall seconds under a coordinator, over all its leases
    cpu_seconds: float = 0.0  # of the simulator, over all finished evaluations
    evaluations: int = 0  # finished evaluations that were simulated, not answered by the cache
    best_trial: int | None = None  # of the completed trials inside the space: see `best_value`
    best_value: float | None = None  # simulated seconds, the lowest; of equals the first trial
    project: str = DEFAULT_PROJECT
    owner: str | None = None  # who submitted it, where that is known
    priority: Priority = "normal"
    concurrency: int | None = None  # evaluations at once, at most
    paused_because: str | None = None  # where the service paused it, not a user
    note: str = ""  # what people wrote on it
    tags: tuple[str, ...] = ()  # the same in words to look for, sorted
    archived_at: float | None = None  # since when it has been put aside
    deleted_at: float | None = None  # since when it has been in the trash
    restorable_until: float | None = None  # when it goes from there for good


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One configuration of a job and what became of it."""

    id: str
    job_id: str
    number: int  # 1, 2, ... in ask order
    kind: TrialKind
    label: str | None  # the name of a baseline
    # Whether it may be the best: a point of the search space (baselines need not be one), evaluated
    # on the whole trace.
    inside: bool
    configuration: dict[str, Any]
    configuration_sha256: str
    technique: str | None
    state: TrialState
    cutoff: float | None  # simulated seconds
    value: float | None  # simulated seconds; a lower bound when censored
    cached: bool
    reason: dict[str, Any] | None  # {"kind", "message"} when infeasible or failed
    result: dict[str, Any] | None  # rank finish times, link loads; left out of listings
    cpu_seconds: float | None
    wall_seconds: float | None
    peak_rss_bytes: int | None
    worker: str | None
    created_at: float
    started_at: float | None
    finished_at: float | None

    @property
    def fidelity(self) -> Fidelity:
        """Whether the whole trace was, or will be, replayed."""
        return _fidelity(self.kind, self.inside)


class TrialPoint(NamedTuple):
    """What a curve over all trials of a job needs of each."""

    number: int
    kind: TrialKind
    label: str | None
    inside: bool
    state: TrialState
    value: float | None
    cached: bool
    cpu_seconds: float | None
    finished_at: float | None

    @property
    def fidelity(self) -> Fidelity:
        """Whether the whole trace was, or will be, replayed."""
        return _fidelity(self.kind, self.inside)


class ConvergencePoint(NamedTuple):
    """A trial with an outcome, and what had been reached when it and all before it had finished.

    Attributes:
        trial: The trial.
        best: Lowest value so far of points of the search space; None before the first.
        all_finished_at: When the last of them had finished.
        cpu_seconds_spent: Of the simulator, summed.
        searched_best: Lowest value so far of the search's own trials.
        searched: How many of the search's own trials have an outcome.
    """

    trial: TrialPoint
    best: float | None
    all_finished_at: float | None
    cpu_seconds_spent: float
    searched_best: float | None
    searched: int


class TrialCells(NamedTuple):
    """What a table shows of a trial beside its point."""

    number: int
    configuration: dict[str, Any]
    technique: str | None
    worker: str | None
    wall_seconds: float | None
    created_at: float
    started_at: float | None


def _fidelity(kind: TrialKind, inside: bool) -> Fidelity:
    estimated = kind in ("search", "refinement") and not inside
    return "low" if kind == "estimate" or estimated else "full"


@dataclass(frozen=True)
class TrialCounts:
    """How many trials a job has: all by state, and those that have an outcome by kind."""

    states: dict[TrialState, int]
    finished: dict[TrialKind, int]


class OutlookPoint(NamedTuple):
    """What the model of a search expected of what had not been tried."""

    number: int  # of the trial that was asked then
    probability: float  # that something is faster than the best by more than 1%
    gain: float  # expected, as a part of the best


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One try at evaluating a trial. A lost worker's trial gets another."""

    id: str
    trial_id: str
    job_id: str
    trial_number: int
    number: int
    state: Literal["dispatched", "running", "finished", "lost"]
    worker: str | None
    dispatched_at: float
    heartbeat_at: float | None
    finished_at: float | None
    simulated_time: float | None  # s, that its evaluation had come to at its last heartbeat
    share: float | None  # of the calls of all ranks that had begun by then


@dataclass(frozen=True)
class Headway:
    """How far an evaluation under way has come.

    Attributes:
        simulated_time: In seconds; of a truncated trace, its own.
        share: The part of the calls of all ranks that have begun, from 0 to 1.
    """

    simulated_time: float
    share: float


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an evaluation came to; the common currency of workers, cache and trials."""

    status: Literal["completed", "censored", "infeasible", "failed"]
    value: float | None = None  # simulated seconds; the cutoff when censored
    reason: dict[str, Any] | None = (
        None  # {"kind": "memory" | "wall" | "crash" | ..., "message": str}
    )
    result: dict[str, Any] | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_rss_bytes: int = 0
    cached: bool = False
    packed_result: bytes | None = None  # in place of `result`, of one that is only to be passed on

    def __post_init__(self) -> None:
        # PostgreSQL keeps a document with this character, and then can find nothing in it.
        if self.reason is not None and any("\0" in str(text) for text in self.reason.values()):
            plain = {
                name: text.replace("\0", "") if isinstance(text, str) else text
                for name, text in self.reason.items()
            }
            object.__setattr__(self, "reason", plain)


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A cached outcome. `key` is the SHA-256 of all that determines it, except the cutoff."""

    key: str
    outcome: Outcome
    cutoff: float | None
    created_at: float


@dataclass(frozen=True, kw_only=True)
class ProposedConfiguration:
    """A configuration that a script proposed.

    Attributes:
        place: 1, 2, ... in the order in which they came.
        configuration: A point of the job's space.
        configuration_sha256: Its identity.
        number: Of the trial that it becomes; None while its turn has not come.
        trial: What it became; None where that is not known, or the job ended before its turn.
    """

    job_id: str
    place: int
    configuration: dict[str, Any]
    configuration_sha256: str
    created_at: float
    number: int | None
    trial: Trial | None


@dataclass(frozen=True, kw_only=True)
class AskedTrial:
    """A trial that a script has, to be measured by it.

    Attributes:
        trial: As it stands now.
        attempt: Which attempt at it the script has.
        expires_at: Until when nobody else is given the trial.
        is_taken: Whether it was not told in time, and another script has it now.
    """

    trial: Trial
    attempt: int
    expires_at: float
    is_taken: bool = False


@dataclass(frozen=True, kw_only=True)
class Event:
    """An entry of the append-only log; `id` grows and is the cursor of watchers."""

    id: int
    job_id: str
    kind: str
    data: dict[str, Any] = field(default_factory=dict)
    at: float

"""Jobs as REST shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from searchspace.machine import NetworkModel
from searchspace.validation import Description
from service.applications.schemas import CaptureProgress
from service.jobs.forecast import Forecast, forecasts
from service.settings import Settings
from service.trials.schemas import CONFIGURATION
from storage.records import (
    Fidelity,
    Job,
    JobState,
    MeasuringCounts,
    Priority,
    TrialCounts,
    TrialKind,
    TrialState,
)
from storage.storage import Storage

__all__ = [
    "BEST_EXAMPLE",
    "CONVERGENCE_EXAMPLE",
    "EXAMPLE",
    "SPEC_EXAMPLE",
    "TAG_PATTERN",
    "BestSoFar",
    "BestView",
    "ComparisonView",
    "ConvergencePoint",
    "ConvergenceView",
    "JobDescription",
    "JobPage",
    "JobView",
    "PriorityChange",
    "Progress",
]

TAG_PATTERN = r"^[^,\x00-\x1f]+$"

SPEC_EXAMPLE: dict[str, Any] = {
    "name": "cg-64",
    "application": {"builtin": "cg", "class": "A", "ranks": 64},
    "machine": {
        "nodes": 64,
        "degree": 6,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "switch_latency": "60ns",
        "switch_bandwidth": "10Pbps",
        "model": "smpi-default",
        "network": "auto",
    },
    "search": {
        "topology": ["random", "torus-3d", "mesh-3d"],
        "ordering": ["original", "hamorder"],
        "mapping": ["by-order"],
        "mpi": ["mpich", "ompi", "mvapich2"],
        "collectives": {"alltoall": "all", "allreduce": "all", "allgather": "all", "bcast": "all"},
    },
    "budget": {"trials": 100},
    "seed": 1,
}

EXAMPLE: dict[str, Any] = {
    "id": "0k3v9m2x7q1zt8ab",
    "name": "cg-64",
    "project": "default",
    "owner": "local",
    "state": "running",
    "spec": SPEC_EXAMPLE,
    "seed": 1,
    "application_id": "0k3v9m2x7q1zt8aa",
    "space": {"size": 18, "parameters": ["topology", "ordering", "mpi"], "excluded": []},
    "error": None,
    "ended_because": None,
    "created_at": 1790000000.0,
    "started_at": 1790000001.0,
    "finished_at": None,
    "active_seconds": 41.5,
    "priority": "normal",
    "paused_because": None,
    "note": "With the new cables.",
    "tags": ["cables", "spring"],
    "archived_at": None,
    "queue_position": None,
    "estimated_end": 1790000126.0,
    "progress": {
        "trials": {"completed": 21, "censored": 12, "running": 2},
        "finished": 33,
        "kinds": {"baseline": 2, "search": 31},
        "evaluations": 31,
        "cpu_seconds": 38.2,
        "best": {"trial": 17, "value": 0.0712},
        "measuring": None,
        "capture": None,
    },
}

BEST_EXAMPLE: dict[str, Any] = {
    "configuration": CONFIGURATION,
    "value": 0.0712,
    "trial": 17,
    "network": "packets",
    "model": "packets, tcp-openmpi",
    "decided_by": "packets",
    "measured": None,
    "undecided": None,
    "error": 0.05,
    "error_from": "packets",
    "within_error": False,
    "comparisons": [
        {"trial": 17, "value": 0.0712, "comparison": 101, "state": "completed", "fluid": 0.0688}
    ],
    "note": "packets decided. Packets go by a protocol (tcp-openmpi), fluid by factors on "
    "bandwidth and latency (smpi-default): the two are different yardsticks, and their times "
    "differ.",
    "baseline": 0.0840,
    "speedup": 1.18,
    "baselines": {"torus-3d": 0.0840, "mesh-3d": 0.0912},
    "initial": 0.0840,
}

CONVERGENCE_EXAMPLE: dict[str, Any] = {
    "points": [
        {
            "trial": 1,
            "kind": "baseline",
            "fidelity": "full",
            "label": "torus-3d",
            "state": "completed",
            "cached": False,
            "value": 0.084,
            "best": 0.084,
            "wall_seconds": 1.4,
            "cpu_seconds": 1.2,
        },
        {
            "trial": 2,
            "kind": "search",
            "fidelity": "full",
            "label": None,
            "state": "completed",
            "cached": False,
            "value": 0.0712,
            "best": 0.0712,
            "wall_seconds": 2.7,
            "cpu_seconds": 2.4,
        },
    ],
    "best": {"trial": 2, "value": 0.0712},
    "initial": {"trial": 2, "value": 0.0712},
    "baselines": {"torus-3d": 0.084},
    "gains": {"torus-3d": 1.18},
    "speedup": 1.0,
    "proximity": [1.0],
    "proximity_at": None,
    "close": 0.9,
    "trials_to_reach": 1,
    "share": 1.0,
}


class BestSoFar(BaseModel):
    """The incumbent in short."""

    trial: int
    value: float = Field(description="Simulated seconds.")


class MeasuringProgress(BaseModel):
    """How far the measuring of finalists has come, the library's defaults among them."""

    settled: int = Field(description="Configurations that need no further run.")
    wanted: int = Field(description="Of how many; 0 until an agent asks for work.")
    runs: int = Field(description="Runs that have ended.")


class Progress(BaseModel):
    """How far a job has come."""

    trials: dict[TrialState, int] = Field(
        description="Trials by state; states without are left out."
    )
    finished: int = Field(description="Trials that have an outcome.")
    kinds: dict[TrialKind, int] = Field(
        description="The same by kind. The budget's `trials` are those of kind `search`; "
        "baselines, refinements, comparisons with the fluid network model and, with `fidelity: "
        "auto`, estimates and verifications come on top."
    )
    evaluations: int = Field(description="Trials that were simulated, not answered by the cache.")
    cpu_seconds: float = Field(description="CPU seconds of the simulator.")
    best: BestSoFar | None
    measuring: MeasuringProgress | None = Field(
        description="While finalists are measured, after the search; null before and afterwards."
    )
    capture: CaptureProgress | None = Field(
        default=None, description="While its program is captured, how far that is; else null."
    )


def _told_of(space: dict[str, Any] | None) -> dict[str, Any] | None:
    """What people are told of a space: probes are long, and for the search alone."""
    return None if space is None else {n: v for n, v in space.items() if n != "probes"}


class JobView(BaseModel):
    """A tuning job."""

    id: str
    name: str
    project: str = Field(description="Whose it is.")
    owner: str | None = Field(description="Who submitted it, where that is known.")
    state: JobState
    spec: dict[str, Any] = Field(description="The job file in canonical form, in SI base units.")
    seed: int
    application_id: str | None = Field(description="Null until a built-in program is captured.")
    space: dict[str, Any] | None = Field(
        description="Size, parameters, and what was excluded and why; null until prepared."
    )
    error: str | None = Field(description="Why the job failed.")
    ended_because: str | None = Field(
        description="What ended a completed job: a budget's name, or `exhausted`."
    )
    created_at: float = Field(description="Seconds since the epoch, as all `..._at`.")
    started_at: float | None
    finished_at: float | None
    active_seconds: float = Field(description="Wall seconds at work, pauses left out.")
    priority: Priority
    paused_because: str | None = Field(
        description="Why the service has paused the job; null where a user did."
    )
    note: str = Field(description="What people wrote on it.")
    tags: list[str] = Field(description="Words to find it by, sorted.")
    archived_at: float | None = Field(
        description="Since when lists leave it out; null where they do not."
    )
    queue_position: int | None = Field(
        description="How many jobs are taken up before it; null unless it waits for that."
    )
    estimated_end: float | None = Field(
        description="About when it will have ended, from the mean time of its trials, what is left "
        "of its budget and its share of the workers; null while nothing is known."
    )
    progress: Progress

    @classmethod
    def of(cls, job: Job, storage: Storage, settings: Settings) -> JobView:
        """The view of a stored job, with its progress looked up."""
        return cls.of_all([job], storage, settings)[0]

    @classmethod
    def of_all(cls, jobs: Sequence[Job], storage: Storage, settings: Settings) -> list[JobView]:
        """The views of stored jobs; one look at their trials serves all."""
        counts = storage.trial_counts([job.id for job in jobs])
        expected = forecasts(jobs, counts, storage, settings)
        wishing = [job.id for job in jobs if job.spec.get("finalists") is not None]
        measuring = storage.measuring_counts(wishing) if wishing else {}
        return [
            cls._of(
                job,
                counts[job.id],
                expected[job.id],
                measuring.get(job.id),
                _capture_of(job, storage),
            )
            for job in jobs
        ]

    @classmethod
    def _of(
        cls,
        job: Job,
        counts: TrialCounts,
        forecast: Forecast,
        measuring: MeasuringCounts | None,
        capture: CaptureProgress | None,
    ) -> JobView:
        return cls(
            id=job.id,
            name=job.name,
            project=job.project,
            owner=job.owner,
            state=job.state,
            spec=job.spec,
            seed=job.seed,
            application_id=job.application_id,
            space=_told_of(job.space),
            error=job.error,
            ended_because=job.ended_because,
            created_at=job.created_at,
            started_at=job.started_at,
            finished_at=job.finished_at,
            active_seconds=job.active_seconds,
            priority=job.priority,
            paused_because=job.paused_because,
            note=job.note,
            tags=list(job.tags),
            archived_at=job.archived_at,
            queue_position=forecast.queue_position,
            estimated_end=forecast.estimated_end,
            progress=Progress(
                trials=counts.states,
                finished=sum(counts.finished.values()),
                kinds=counts.finished,
                evaluations=job.evaluations,
                cpu_seconds=job.cpu_seconds,
                best=None
                if job.best_trial is None or job.best_value is None
                else BestSoFar(trial=job.best_trial, value=job.best_value),
                measuring=None
                if measuring is None
                else MeasuringProgress(
                    settled=measuring.settled, wanted=measuring.wanted, runs=measuring.runs
                ),
                capture=capture,
            ),
        )


def _capture_of(job: Job, storage: Storage) -> CaptureProgress | None:
    if job.state != "preparing" or job.application_id is None:
        return None
    progress = storage.get_application(job.application_id).capture_progress
    return None if progress is None else CaptureProgress.model_validate(progress)


class PriorityChange(Description):
    """The class in which a job competes for workers and coordinators."""

    priority: Priority
    """`high` goes first where its project may, `low` takes what nobody else wants."""


Tag = Annotated[str, StringConstraints(strip_whitespace=True, pattern=TAG_PATTERN, max_length=50)]


class JobDescription(Description):
    """What people call a job and say of it; what is left out stays."""

    name: (
        Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]
        | None
    ) = None
    """Need not be unique. The job file keeps the name that it was submitted with."""
    note: Annotated[str, StringConstraints(max_length=10_000, pattern=r"^[^\x00]*$")] | None = None
    """Text for people."""
    tags: Annotated[list[Tag], Field(max_length=20)] | None = None
    """All that it has from now on: words to find it by, without commas."""
    archived: bool | None = None
    """Whether lists leave it out; only a paused or ended job can be archived."""


class JobPage(BaseModel):
    """A page of jobs, newest first."""

    items: list[JobView]
    cursor: str | None = Field(description="Fetches the next page; null on the last.")


class ComparisonView(BaseModel):
    """One of the best trials, evaluated with both network models."""

    trial: int
    value: float = Field(description="Simulated seconds by packets, which decided.")
    comparison: int = Field(description="The trial that repeats it with the fluid model.")
    state: TrialState = Field(description="Of that one.")
    fluid: float | None = Field(
        description="Its simulated seconds; null where it has none, such as one that took too long."
    )


class MeasuredBestView(BaseModel):
    """What a cluster says of the best, and of the library's defaults; medians of runs."""

    seconds: float = Field(description="Of the best, measured.")
    runs: list[float] = Field(description="Its runs that count.")
    default: float | None = Field(description="Of the library's defaults; null if not known.")
    default_unknown: str | None = Field(description="Why they are not known, where they are not.")
    default_runs: list[float]
    gain: float | None = Field(description="`default / seconds`.")
    separated: bool | None = Field(
        description="Whether best and defaults differ by more than chance, at 95%."
    )
    cluster: str | None
    simulated_best: int | None = Field(description="The trial that is the best by simulation.")


class BestView(BaseModel):
    """The incumbent, beside the baselines it has to beat."""

    configuration: dict[str, Any]
    value: float = Field(description="Simulated seconds.")
    trial: int
    network: NetworkModel = Field(
        description="The model that gave this and all other times here, and decided."
    )
    model: str = Field(description="The same with what it rests on: factors, or a protocol.")
    decided_by: Literal["measured", "packets", "fluid"] = Field(
        description="What chose this configuration."
    )
    measured: MeasuredBestView | None = Field(description="Null where no measured times decided.")
    undecided: str | None = Field(
        description="Why finalists were to be measured and the simulation decided all the same."
    )
    error: float = Field(description="Of the model, relative: smaller gains are none.")
    error_from: str = Field(
        description="How it is known: `fluid`, `packets` (of the model in general), `calibration` "
        "or `measurements` of this job."
    )
    within_error: bool | None = Field(
        description="Whether best and best baseline are too close for the model to tell apart."
    )
    comparisons: list[ComparisonView] = Field(
        description="The best trials with both models, best first, where the machine's network is "
        "`auto` and the search has ended."
    )
    note: str | None = Field(
        description="What to keep in mind where there are comparisons, or why there are none."
    )
    baseline: float | None = Field(description="Simulated seconds of the best baseline.")
    speedup: float | None = Field(description="`baseline / value`.")
    baselines: dict[str, float] = Field(
        description="Simulated seconds of every baseline by label; with `fidelity: auto` of the "
        "best, by their estimates."
    )
    estimates: dict[str, float] = Field(
        default_factory=dict,
        description="With `fidelity: auto`: simulated seconds of every baseline by label, "
        "estimated from the truncated trace.",
    )
    advice: list[str] = Field(
        default_factory=list,
        description="What to do where the best of the search space is slower than a baseline.",
    )
    initial: float | None = Field(
        description="Simulated seconds of the first completed trial of the search; null where that "
        "is an estimate (`fidelity: auto`)."
    )
    finish_times: dict[str, float] | None = Field(
        default=None,
        description="Where several applications run at once: when each has finished, by its name.",
    )


class ConvergencePoint(BaseModel):
    """A trial with an outcome, and how far the job had come with it."""

    trial: int
    kind: TrialKind
    fidelity: Fidelity
    label: str | None
    state: TrialState
    cached: bool
    value: float | None = Field(description="Simulated seconds; a lower bound when censored.")
    best: float | None = Field(
        description="Lowest value up to here, of points of the search space."
    )
    wall_seconds: float = Field(
        description="From the job's start until this trial and all before it had finished."
    )
    cpu_seconds: float = Field(description="Of the simulator, for this and all before it.")


class ConvergenceView(BaseModel):
    """How a job converged, in the terms of Hu et al. 2023, section IV.E."""

    points: list[ConvergencePoint] = Field(
        description="Trials with an outcome, in the order of asking."
    )
    best: BestSoFar | None = Field(description="The best point of the search space.")
    initial: BestSoFar | None = Field(
        description="The first completed trial of the search; with `fidelity: auto` an estimate."
    )
    baselines: dict[str, float] = Field(description="Simulated seconds of every baseline by label.")
    gains: dict[str, float | None] = Field(description="Each baseline's value over the best.")
    speedup: float | None = Field(description="The first value over the best (equation 5).")
    proximity: list[float | None] = Field(
        description="C(n) after n = 1, 2, ... trials of the search (equation 6)."
    )
    proximity_at: list[int] | None = Field(
        default=None, description="Of which n the values are, where they were sampled; else null."
    )
    close: float = Field(description="The proximity that counts as near the best.")
    trials_to_reach: int | None = Field(description="The first n with C(n) of at least `close`.")
    share: float | None = Field(description="That n over all trials of the search.")

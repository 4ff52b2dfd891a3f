"""Jobs as REST shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from searchspace.validation import Description
from service.applications.schemas import CaptureProgress
from service.jobs.forecast import Forecast, forecasts
from service.machines.schemas import DESCRIPTION_EXAMPLE
from service.settings import Settings
from storage.errors import NotFound
from storage.failures import FailureCount
from storage.measured_records import MeasuringCounts
from storage.records import (
    Job,
    JobState,
    Priority,
    TrialCounts,
    TrialKind,
    TrialState,
)
from storage.records import OutlookPoint as StoredOutlook
from storage.view import StorageView

__all__ = [
    "EXAMPLE",
    "SPEC_EXAMPLE",
    "TAG_PATTERN",
    "BestSoFar",
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
    "machine": {**DESCRIPTION_EXAMPLE, "network": "auto"},
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
    "deleted_at": None,
    "restorable_until": None,
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
        "outlook": {"trial": 31, "probability": 0.12, "gain": 0.004},
        "capture": None,
        "failures": [],
    },
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


class OutlookPoint(BaseModel):
    """What the model of a search expected of the configurations not tried yet."""

    trial: int = Field(description="The one that was asked then.")
    probability: float = Field(
        description="That one of them is faster than the best by more than 1%."
    )
    gain: float = Field(
        description="By how much the best of them is expected to be faster than the best so far, "
        "as a part of its time; one that is not counts as 0."
    )


class OutlookView(BaseModel):
    """What more trials would bring, as the model of the search sees it."""

    last: OutlookPoint | None = Field(description="Of the last model; null where there is none.")
    unknown: str | None = Field(description="Why there is none, where there is none.")
    points: list[OutlookPoint] = Field(
        description="One for each model that was made, which becomes rarer as trials become more."
    )


OUTLOOK_EXAMPLE: dict[str, Any] = {
    "last": {"trial": 57, "probability": 0.12, "gain": 0.004},
    "unknown": None,
    "points": [
        {"trial": 21, "probability": 0.83, "gain": 0.06},
        {"trial": 57, "probability": 0.12, "gain": 0.004},
    ],
}


class FailureReason(BaseModel):
    """Trials that failed for reasons of one kind."""

    kind: str = Field(description="Such as `wall`, `memory` or `crash`.")
    message: str = Field(description="What one of them says.")
    trials: int = Field(description="How many there are.")


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
    outlook: OutlookPoint | None = Field(
        default=None,
        description="What more trials would bring; null where no model tells "
        "(`GET /jobs/{id}/outlook` says why).",
    )
    capture: CaptureProgress | None = Field(
        default=None, description="While its program is captured, how far that is; else null."
    )
    failures: list[FailureReason] = Field(
        default_factory=list,
        description="Why trials in state `failed` did, the commonest reason first.",
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
        description="Size, parameters, what was excluded and why, and `learned_from`: which jobs "
        "the search learns from, and by what `weight` from 0 to 1; null until prepared."
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
    deleted_at: float | None = Field(
        default=None, description="When it was deleted, of those that `deleted=only` lists."
    )
    restorable_until: float | None = Field(
        default=None, description="Until when such a job can be restored; then it goes for good."
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
    def of(cls, job: Job, storage: StorageView, settings: Settings) -> JobView:
        """The view of a stored job, with its progress looked up.

        Raises:
            NotFound: It was deleted meanwhile.
        """
        for view in cls.of_all([job], storage, settings):
            return view
        raise NotFound(f"there is no job {job.id}")

    @classmethod
    def of_all(cls, jobs: Sequence[Job], storage: StorageView, settings: Settings) -> list[JobView]:
        """The views of stored jobs; one look at their trials serves all.

        Those that were deleted for good since they were read are left out.
        """
        counts = storage.trials.counts([job.id for job in jobs])
        jobs = [job for job in jobs if job.id in counts]
        expected = forecasts(jobs, counts, storage, settings)
        wishing = [job.id for job in jobs if job.spec.get("finalists") is not None]
        measuring = storage.measured_runs.counts(wishing) if wishing else {}
        outlooks = storage.outlooks.last([job.id for job in jobs])
        failing = [job_id for job_id, count in counts.items() if "failed" in count.states]
        failures = storage.failures.counts(failing) if failing else {}
        return [
            cls._of(
                job,
                counts[job.id],
                expected[job.id],
                measuring.get(job.id),
                _capture_of(job, storage),
                outlooks.get(job.id),
                failures.get(job.id, []),
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
        outlook: StoredOutlook | None,
        failures: list[FailureCount],
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
            deleted_at=job.deleted_at,
            restorable_until=job.restorable_until,
            queue_position=forecast.queue_position,
            estimated_end=forecast.estimated_end,
            progress=_progress(job, counts, measuring, capture, outlook, failures),
        )


def _progress(
    job: Job,
    counts: TrialCounts,
    measuring: MeasuringCounts | None,
    capture: CaptureProgress | None,
    outlook: StoredOutlook | None,
    failures: list[FailureCount],
) -> Progress:
    known = job.best_trial is not None and job.best_value is not None
    return Progress(
        trials=counts.states,
        finished=sum(counts.finished.values()),
        kinds=counts.finished,
        evaluations=job.evaluations,
        cpu_seconds=job.cpu_seconds,
        best=BestSoFar(trial=job.best_trial, value=job.best_value) if known else None,
        measuring=None
        if measuring is None
        else MeasuringProgress(
            settled=measuring.settled, wanted=measuring.wanted, runs=measuring.runs
        ),
        outlook=None if outlook is None else outlook_point(outlook),
        capture=capture,
        failures=[FailureReason(**one._asdict()) for one in failures],
    )


def outlook_point(stored: StoredOutlook) -> OutlookPoint:
    """What a search expected, as it is shown."""
    return OutlookPoint(trial=stored.number, probability=stored.probability, gain=stored.gain)


def _capture_of(job: Job, storage: StorageView) -> CaptureProgress | None:
    if job.state != "preparing" or job.application_id is None:
        return None
    progress = storage.applications.get(job.application_id).capture_progress
    return None if progress is None else CaptureProgress.model_validate(progress)


class PriorityChange(Description):
    """The class in which a job competes for workers and coordinators."""

    priority: Priority
    """`high` goes first where its project may, `low` takes what nobody else wants."""


Tag = Annotated[str, StringConstraints(strip_whitespace=True, pattern=TAG_PATTERN, max_length=50)]


_ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f]+$"
"""Without what moves a terminal's cursor or sets its colours."""


class JobDescription(Description):
    """What people call a job and say of it; what is left out stays."""

    name: (
        Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_ONE_LINE)] | None
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

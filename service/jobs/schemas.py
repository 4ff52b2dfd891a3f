"""Jobs as REST shows them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from storage.records import Job, JobState, TrialState
from storage.storage import Storage

__all__ = ["EXAMPLE", "SPEC_EXAMPLE", "BestSoFar", "JobPage", "JobView", "Progress"]

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
    "progress": {
        "trials": {"completed": 21, "censored": 12, "running": 2},
        "finished": 33,
        "evaluations": 31,
        "cpu_seconds": 38.2,
        "best": {"trial": 17, "value": 0.0712},
    },
}


class BestSoFar(BaseModel):
    """The incumbent in short."""

    trial: int
    value: float = Field(description="Simulated seconds.")


class Progress(BaseModel):
    """How far a job has come."""

    trials: dict[TrialState, int] = Field(
        description="Trials by state; states without are left out."
    )
    finished: int = Field(description="Trials that have an outcome.")
    evaluations: int = Field(description="Trials that were simulated, not answered by the cache.")
    cpu_seconds: float = Field(description="CPU seconds of the simulator.")
    best: BestSoFar | None


class JobView(BaseModel):
    """A tuning job."""

    id: str
    name: str
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
    progress: Progress

    @classmethod
    def of(cls, job: Job, storage: Storage) -> JobView:
        """The view of a stored job, with its progress looked up."""
        counts = storage.trial_counts(job.id)
        best = storage.best_trial(job.id)
        return cls(
            id=job.id,
            name=job.name,
            state=job.state,
            spec=job.spec,
            seed=job.seed,
            application_id=job.application_id,
            space=job.space,
            error=job.error,
            ended_because=job.ended_because,
            created_at=job.created_at,
            started_at=job.started_at,
            finished_at=job.finished_at,
            active_seconds=job.active_seconds,
            progress=Progress(
                trials=counts,
                finished=sum(
                    count for state, count in counts.items() if state not in ("pending", "running")
                ),
                evaluations=storage.evaluations_spent(job.id),
                cpu_seconds=storage.cpu_seconds_spent(job.id),
                best=None
                if best is None or best.value is None
                else BestSoFar(trial=best.number, value=best.value),
            ),
        )


class JobPage(BaseModel):
    """A page of jobs, newest first."""

    items: list[JobView]
    cursor: str | None = Field(description="Fetches the next page; null on the last.")

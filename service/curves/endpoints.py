"""How several jobs converged, in short: for a list with a sparkline each, and to compare jobs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from service.auth.access import needs
from service.dependencies import StorageDependency
from service.jobs.yardsticks import error_for, machine_of
from service.openapi import answers
from service.outcomes import Remembered
from storage.errors import NotFound
from storage.view import StorageView
from tuner.downsampling import downsampled, stride

__all__ = ["router"]

router = APIRouter(prefix="/curves", tags=["jobs"])

MOST_JOBS = 50
_BUCKETS = 200  # in which steps are looked for
_NOTHING: dict[str, Any] = {
    **{name: [] for name in ("trial", "best", "wall_seconds", "cpu_seconds")},
    **dict.fromkeys(("baseline", "baseline_label", "gain", "error")),
}

_KNOWN: Remembered[Curve] = Remembered()

_EXAMPLE: dict[str, Any] = {
    "items": [
        {
            "job_id": "0k3v9m2x7q1zt8ab",
            "trial": [1, 2, 40],
            "best": [0.084, 0.0712, 0.0712],
            "wall_seconds": [1.4, 2.7, 31.0],
            "cpu_seconds": [1.2, 2.4, 29.5],
            "baseline": 0.084,
            "baseline_label": "torus-3d",
            "gain": 1.18,
            "error": 0.05,
        }
    ]
}

Ids = Annotated[
    list[Annotated[str, Field(max_length=64, pattern=r"^[!-~]+$")]],
    Query(alias="job", min_length=1, max_length=MOST_JOBS, description="A job; may be repeated."),
]


class Curve(BaseModel):
    """The steps of a job's best value, its first and its last point; the lists are equally long."""

    job_id: str
    trial: list[int]
    best: list[float] = Field(description="Simulated seconds.")
    wall_seconds: list[float]
    cpu_seconds: list[float]
    baseline: float | None = Field(description="Simulated seconds of the best baseline.")
    baseline_label: str | None
    gain: float | None = Field(description="`baseline / best`.")
    error: float | None = Field(description="Of the model, relative: smaller gains are none.")


class Curves(BaseModel):
    """A curve for each job that exists, in the order asked for."""

    items: list[Curve]


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="get_curves",
    summary="Show the convergence of several jobs",
    response_model=Curves,
    responses=answers(_EXAMPLE, 422, description="The curves."),
)
def get_curves(storage: StorageDependency, job: Ids) -> Curves:
    """How several jobs converged, as steps: a point for each improvement, and the last trial.

    Jobs that do not exist are left out.
    """
    curves = (_curve(storage, identifier) for identifier in dict.fromkeys(job))
    return Curves(items=[curve for curve in curves if curve is not None])


def _curve(storage: StorageView, job_id: str) -> Curve | None:
    try:
        curve = _KNOWN.answer(storage, job_id, lambda: _steps(storage, job_id))
        if not curve.trial:
            return curve
        machine = machine_of(storage, storage.jobs.get(job_id))
        error = error_for(machine, storage.measured_runs.configurations(job_id))
    except NotFound:  # it may be deleted at any moment
        return None
    return curve.model_copy(update={"error": error.value})


def _steps(storage: StorageView, job_id: str) -> Curve:
    """The curve of a job without the error of its model, which measurements change."""
    job = storage.jobs.get(job_id)
    reached = storage.convergence.points(
        job_id, stride(storage.convergence.count_asked(job_id), _BUCKETS)
    )
    if not reached:
        return Curve(job_id=job_id, **_NOTHING)
    converged = downsampled(reached, 2, started_at=job.started_at)
    points = [point for point in converged["points"] if point["best"] is not None]
    last = len(points) - 1
    shown = [
        point
        for index, point in enumerate(points)
        if index in (0, last) or point["best"] != points[index - 1]["best"]
    ]
    baselines: dict[str, float] = converged["baselines"]
    label = min(baselines, key=lambda name: baselines[name], default=None)
    return Curve(
        job_id=job_id,
        trial=[point["trial"] for point in shown],
        best=[point["best"] for point in shown],
        wall_seconds=[round(point["wall_seconds"], 3) for point in shown],
        cpu_seconds=[round(point["cpu_seconds"], 3) for point in shown],
        baseline=None if label is None else baselines[label],
        baseline_label=label,
        gain=None if label is None else converged["gains"][label],
        error=None,
    )

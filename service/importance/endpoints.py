"""How much each parameter of a job matters."""

from __future__ import annotations

import math

from fastapi import APIRouter

from searchspace.configuration import Configuration
from service.auth.access import needs
from service.dependencies import StorageDependency
from service.importance.model import EXAMPLE, Importance, importance
from service.openapi import answers
from service.outcomes import Remembered, comparable
from service.parameters import JobId
from service.tables.columns import read_trials
from storage.view import StorageView

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/importance", tags=["jobs"])

_KNOWN: Remembered[Importance] = Remembered()
_EXHAUSTED: Remembered[Importance] = Remembered()
"""Of jobs that have tried everything, which is known after their last trial has ended."""


@router.get(
    "",
    dependencies=[needs("jobs", "read")],
    operation_id="get_importance",
    summary="Show which parameters matter",
    response_model=Importance,
    responses=answers(EXAMPLE, 404, 422, description="The parameters, the most important first."),
)
def get_importance(job_id: JobId, storage: StorageDependency) -> Importance:
    """How much each parameter decides the simulated time, learnt from the search space's trials.

    A random forest learns the time; a parameter counts as much as the forest errs more when its
    values are shuffled. `score` says how well the forest does on trials it has not seen.
    """
    exhausted = storage.jobs.get(job_id).ended_because == "exhausted"
    known = _EXHAUSTED if exhausted else _KNOWN
    return known.answer(storage, job_id, lambda: _learnt(storage, job_id, exhausted))


def _learnt(storage: StorageView, job_id: str, exhausted: bool) -> Importance:
    trials = list(read_trials(storage, job_id))
    rows = [
        (dict(Configuration.from_json(trial.configuration)), trial.value)
        for trial in comparable(trials)
        if trial.value is not None and 0.0 < trial.value < math.inf
    ]
    censored = sum(1 for one in trials if one.kind == "search" and one.state == "censored")
    return importance(rows, censored=censored, exhausted=exhausted)

"""How much each parameter of a job matters."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import APIRouter

from searchspace.configuration import Configuration
from service.dependencies import StorageDependency
from service.importance.model import EXAMPLE, Importance, importance
from service.openapi import answers
from service.parameters import JobId
from service.tables.columns import read_trials
from storage.records import Trial

__all__ = ["router"]

router = APIRouter(prefix="/jobs/{job_id}/importance", tags=["jobs"])


@router.get(
    "",
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
    finished = sum(storage.trial_counts([storage.get_job(job_id).id])[job_id].finished.values())
    known = _KNOWN.get(job_id)
    if known is not None and known[0] == finished:
        return known[1]
    rows = [
        (dict(Configuration.from_json(trial.configuration)), trial.value)
        for trial in _comparable(read_trials(storage, job_id))
        if trial.value
    ]
    found = importance(rows)
    _KNOWN[job_id] = (finished, found)
    while len(_KNOWN) > _MOST_KNOWN:
        _KNOWN.pop(next(iter(_KNOWN)), None)
    return found


def _comparable(trials: Iterable[Trial]) -> list[Trial]:
    """Completed trials of the search space whose times are of one trace, truncated or whole.

    Baselines outside the space take values that the search cannot, and would seem to matter most.
    """
    completed = [trial for trial in trials if trial.state == "completed"]
    truncated = [
        trial
        for trial in completed
        if trial.kind in ("search", "refinement") and trial.fidelity == "low"
    ]
    return truncated or [trial for trial in completed if trial.inside]


_MOST_KNOWN = 64
_KNOWN: dict[str, tuple[int, Importance]] = {}
"""Answers by job, with the number of outcomes that they rest on: learning takes seconds."""

"""Which configurations are measured once the search has ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from searchspace.job import JobSpec
from searchspace.significance import ModelError, error_of
from storage.measured_records import NewMeasured
from storage.records import Trial
from storage.storage import Storage

__all__ = ["DEFAULTS", "candidates_of", "choose"]

DEFAULTS = "library's defaults"
"""What is measured beside the finalists: the program with nothing tuned."""

_SPREAD = 2.0
"""Times the error: a value may be off by so much, since the error is that of the median case."""
_SPARE = 4
"""Times as many are entered as are measured: some come to the same on a cluster."""
_PAGE = 1000


def choose(trials: Iterable[Trial], count: int, error: ModelError) -> list[Trial]:
    """The trials that may be the best as far as the model can tell, lowest value first.

    Args:
        trials: Of the job.
        count: How many are measured at most; more are returned, in place of those that turn out to
            do the same as another.
        error: Of the model.

    Returns:
        Completed trials of the search space, no configuration twice: those whose value less twice
        the error is not above the best value plus twice the error; two at least, if there are two.
    """
    able = [one for one in trials if one.state == "completed" and one.inside]
    ordered = sorted((one for one in able if one.value is not None), key=_rank)
    distinct = list({one.configuration_sha256: one for one in reversed(ordered)}.values())
    distinct.sort(key=_rank)
    if not distinct:
        return []
    slack = min(_SPREAD * error.value, 0.5)
    limit = (distinct[0].value or 0.0) * (1.0 + slack) / (1.0 - slack)
    near = [one for one in distinct if (one.value or 0.0) <= limit]
    return (near if len(near) > 1 else distinct[:2])[: _SPARE * count]


def candidates_of(storage: Storage, job_id: str, spec: JobSpec) -> list[NewMeasured]:
    """What is measured of a job: its finalists, and the library's defaults.

    Returns:
        Nothing where no trial of the search space has completed.
    """
    assert spec.finalists is not None, "only what is wished for is measured"
    error = error_of(spec.described_machine)
    chosen = choose(_completed(storage, job_id), spec.finalists.measure, error)
    if not chosen:
        return []
    finalists = [
        NewMeasured(label=f"trial {one.number}", trial=one.number, simulated=one.value)
        for one in chosen
    ]
    return [NewMeasured(label=DEFAULTS), *finalists]


def _completed(storage: Storage, job_id: str) -> Sequence[Trial]:
    found: list[Trial] = []
    while True:
        after = found[-1].number if found else 0
        page = storage.trials.of_job(job_id, states=["completed"], after=after, limit=_PAGE)
        found += page
        if len(page) < _PAGE:
            return found


def _rank(trial: Trial) -> tuple[float, int]:
    assert trial.value is not None
    return trial.value, trial.number

"""The trials of a job in columns: small to send, and as a chart or a data frame wants them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from searchspace.configuration import canonical_json
from storage.records import FINAL_TRIAL_STATES, Job, Trial
from storage.storage import Storage
from tuner.convergence import convergence
from tuner.thinning import kept

__all__ = ["coded", "read_table", "read_trials", "table"]

PAGE = 1000


def read_table(
    storage: Storage, job_id: str, *, after: int = 0, points: int | None = None
) -> dict[str, Any]:
    """The table of a job, with what its figures need beside it.

    Raises:
        NotFound: There is no such job.
    """
    cursor = storage.last_event_id()  # read first: what comes after it is not missed
    job = storage.get_job(job_id)
    # The course is of all trials, for what is summed up; rows are only of those asked for.
    course = convergence(storage.trial_points(job_id), started_at=job.started_at)
    trials = list(read_trials(storage, job_id, after=after))
    return table(job, course, trials, points=points) | {"cursor": cursor}


def read_trials(storage: Storage, job_id: str, *, after: int = 0) -> Iterable[Trial]:
    """All trials of a job after a number, in the order of asking, without their results."""
    while True:
        page = storage.list_trials(job_id, after=after, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].number


def table(
    job: Job, course: Mapping[str, Any], trials: Sequence[Trial], *, points: int | None
) -> dict[str, Any]:
    """Put trials and the course of their job together.

    Args:
        job: Whose trials they are.
        course: `tuner.convergence.convergence` of all its trials.
        trials: By number: those for which there shall be rows, and open ones.
        points: About how many rows are wanted (see `tuner.thinning.kept`); None for all.

    Returns:
        `columns`: a list for each, equally long, of trials with an outcome. What has few different
        values is coded: `values`, and for each row the index of its own, -1 for none. `parameters`:
        the same for each parameter of the configurations. `open`: trials that have no outcome yet.
        The rest is that of the course.
    """
    steps = {point["trial"]: point for point in course["points"]}
    close = _proximity_of(course)
    finished = [t for t in trials if t.state in FINAL_TRIAL_STATES and t.number in steps]
    if points is not None:
        which = kept([steps[trial.number]["best"] for trial in finished], points)
        finished = [finished[index] for index in which]
    rows = [steps[trial.number] for trial in finished]
    columns = {
        "number": [trial.number for trial in finished],
        "value": [trial.value for trial in finished],
        "best": [row["best"] for row in rows],
        "wall_seconds": [round(row["wall_seconds"], 4) for row in rows],
        "cpu_seconds": [round(row["cpu_seconds"], 4) for row in rows],
        "proximity": [close.get(trial.number) for trial in finished],
        "started_at": [trial.started_at or trial.created_at for trial in finished],
        "finished_at": [trial.finished_at for trial in finished],
        "cached": [trial.cached for trial in finished],
        **{
            name: coded([getattr(trial, name) for trial in finished])
            for name in ("state", "kind", "technique", "label", "worker", "fidelity")
        },
    }
    configurations = [dict(_flat(trial.configuration, "")) for trial in finished]
    return {
        "job_id": job.id,
        "total": len(steps),
        "columns": columns,
        "parameters": [
            {"name": name, **coded([one.get(name) for one in configurations])}
            for name in dict.fromkeys(name for one in configurations for name in one)
        ],
        "open": [
            {"number": t.number, "state": t.state, "worker": t.worker, "started_at": t.started_at}
            for t in trials
            if t.state not in FINAL_TRIAL_STATES
        ],
        **{name: value for name, value in course.items() if name not in _REPLACED},
    }


_REPLACED = ("points", "proximity", "proximity_at")


def coded(cells: Sequence[Any]) -> dict[str, Any]:
    """Code a column by its different values: numbers ascending, else in order of appearance."""
    values = list(dict.fromkeys(cell for cell in cells if cell is not None))
    if all(isinstance(value, int | float) for value in values):
        values.sort()
    index = {value: code for code, value in enumerate(values)}
    return {"values": values, "codes": [-1 if cell is None else index[cell] for cell in cells]}


def _flat(group: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """The parameters of a stored configuration, which was checked when it was stored.

    A value of a parameter is one cell: a permutation becomes its JSON.
    """
    for name, value in group.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, canonical_json(value) if isinstance(value, list) else value


def _proximity_of(course: Mapping[str, Any]) -> dict[int, float | None]:
    """C(n) by the number of the search trial after which it holds."""
    search = [point["trial"] for point in course["points"] if point["kind"] == "search"]
    return dict(zip(search, course["proximity"], strict=True))

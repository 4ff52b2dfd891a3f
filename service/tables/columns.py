"""The trials of a job in columns: small to send, and as a chart or a data frame wants them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from searchspace.configuration import canonical_json
from storage.records import FINAL_TRIAL_STATES, Trial
from storage.storage import Storage
from tuner.convergence import convergence
from tuner.thinning import kept

__all__ = ["coded", "read_table", "read_trials"]

PAGE = 1000


def read_table(
    storage: Storage, job_id: str, *, after: int = 0, points: int | None = None
) -> dict[str, Any]:
    """The table of a job, with what its figures need beside it.

    Args:
        storage: Where the job is.
        job_id: Its id.
        after: Only trials with a higher number have a row.
        points: About how many rows are wanted (see `tuner.thinning.kept`); None for all.

    Returns:
        `columns`: a list for each, equally long, of trials with an outcome. What has few different
        values is coded: `values`, and for each row the index of its own, -1 for none. `parameters`:
        the same for each parameter of the configurations. `open`: trials that have no outcome yet.
        The rest is that of the course of all trials.

    Raises:
        NotFound: There is no such job.
    """
    cursor = storage.last_event_id()  # read first: what comes after it is not missed
    job = storage.get_job(job_id)
    trials = storage.trial_points(job_id)
    course = convergence(trials, started_at=job.started_at)
    steps = {point["trial"]: point for point in course["points"]}
    rows = [point for number, point in steps.items() if number > after]
    if points is not None:
        rows = [rows[index] for index in kept([row["best"] for row in rows], points)]
    # Of a long course only those rows are read that are shown.
    numbers = {row["trial"] for row in rows}
    numbers.update(one.number for one in trials if one.number > after and one.number not in steps)
    found = storage.numbered_trials(job_id, sorted(numbers))
    finished = [trial for trial in found if trial.number in steps]
    return {
        "job_id": job_id,
        "total": len(steps),
        **_columns(finished, [steps[one.number] for one in finished], _proximity_of(course)),
        # One that has ended since is open here, or its row would never be asked for.
        "open": [
            {
                "number": trial.number,
                "state": "running" if trial.state in FINAL_TRIAL_STATES else trial.state,
                "worker": trial.worker,
                "started_at": trial.started_at,
            }
            for trial in found
            if trial.number not in steps
        ],
        **{name: value for name, value in course.items() if name not in _REPLACED},
        "cursor": cursor,
    }


def read_trials(storage: Storage, job_id: str, *, after: int = 0) -> Iterable[Trial]:
    """All trials of a job after a number, in the order of asking, without their results."""
    while True:
        page = storage.list_trials(job_id, after=after, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].number


def _columns(
    finished: Sequence[Trial],
    rows: Sequence[Mapping[str, Any]],
    close: Mapping[int, float | None],
) -> dict[str, Any]:
    """`columns` and `parameters` of trials, and of their points in the course."""
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
        "columns": columns,
        "parameters": [
            {"name": name, **coded([one.get(name) for one in configurations])}
            for name in dict.fromkeys(name for one in configurations for name in one)
        ],
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

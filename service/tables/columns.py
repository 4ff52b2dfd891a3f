"""The trials of a job in columns: small to send, and as a chart or a data frame wants them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from searchspace.configuration import canonical_json
from service.jobs.yardsticks import error_for, machine_of
from storage.records import Trial, TrialCells, TrialPoint, TrialState
from storage.view import StorageView
from tuner.convergence import convergence
from tuner.downsampling import sampled_indices

__all__ = ["coded", "columns_of", "proximity_of", "read_table", "read_trials"]

PAGE = 1000


def read_table(
    storage: StorageView, job_id: str, *, after: int = 0, points: int | None = None
) -> dict[str, Any]:
    """The table of a job, with what its figures need beside it.

    Args:
        storage: Where the job is.
        job_id: Its id.
        after: Only trials with a higher number have a row.
        points: About how many rows are wanted (see `tuner.downsampling`); None for all.

    Returns:
        `columns`: a list for each, equally long, of trials with an outcome. What has few different
        values is coded: `values`, and for each row the index of its own, -1 for none. `parameters`:
        the same for each parameter of the configurations. `open`: trials that have no outcome yet.
        `error`: of the network model, relative. The rest is the convergence of all trials.

    Raises:
        NotFound: There is no such job.
    """
    cursor = storage.events.last_id()  # read first: what comes after it is not missed
    job = storage.jobs.get(job_id)
    trials = storage.trials.points(job_id)
    converged = convergence(trials, started_at=job.started_at)
    steps = {point["trial"]: point for point in converged["points"]}
    rows = [point for number, point in steps.items() if number > after]
    if points is not None:
        # Whoever compares the best with a baseline has to find each of them.
        baselines = [index for index, row in enumerate(rows) if row["kind"] == "baseline"]
        kept = sampled_indices(_steps(rows), points, always=baselines)
        rows = [rows[index] for index in kept]
    shown = {row["trial"]: row for row in rows}
    ours = [one for one in trials if one.number in shown]
    open_ones = [one for one in trials if one.number > after and one.number not in steps]
    # Of a long job only those rows are read that are shown.
    numbers = [one.number for one in (*ours, *open_ones)]
    found = {cells.number: cells for cells in storage.trials.cells(job_id, sorted(numbers))}
    return {
        "job_id": job_id,
        "total": len(steps),
        **columns_of(ours, shown, found, proximity_of(converged)),
        "open": [
            {
                "number": one.number,
                "state": one.state,
                "worker": found[one.number].worker,
                "started_at": found[one.number].started_at,
            }
            for one in open_ones
        ],
        **{name: value for name, value in converged.items() if name not in _REPLACED},
        "error": error_for(
            machine_of(storage, job), storage.measured_runs.configurations(job_id)
        ).value,
        "cursor": cursor,
    }


def _steps(rows: Sequence[Mapping[str, Any]]) -> list[tuple[float | None, float]]:
    """What has been reached at each row: by points of the space, and by the search.

    Both, since a search over a truncated trace reaches nothing that may be the best.
    """
    searched, steps = math.inf, []
    for row in rows:
        if row["kind"] == "search" and row["state"] == "completed" and row["value"] is not None:
            searched = min(searched, row["value"])
        steps.append((row["best"], searched))
    return steps


def read_trials(
    storage: StorageView, job_id: str, *, states: Collection[TrialState] = (), after: int = 0
) -> Iterable[Trial]:
    """The trials of a job after a number, in the order of asking, without their results.

    Of some states only, where any are given.
    """
    while True:
        page = storage.trials.of_job(job_id, states=states, after=after, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].number


def columns_of(
    points: Sequence[TrialPoint],
    rows: Mapping[int, Mapping[str, Any]],
    cells: Mapping[int, TrialCells],
    close: Mapping[int, float | None],
) -> dict[str, Any]:
    """`columns` and `parameters` of a table (see `read_table`), in the order of the trials' points.

    Args:
        points: The trials.
        rows: Of each its point of the convergence, by number.
        cells: And the rest.
        close: C(n) by number.
    """
    steps = [rows[point.number] for point in points]
    others = [cells[point.number] for point in points]
    columns = {
        "number": [point.number for point in points],
        "value": [point.value for point in points],
        "best": [step["best"] for step in steps],
        "wall_seconds": [round(step["wall_seconds"], 4) for step in steps],
        "cpu_seconds": [round(step["cpu_seconds"], 4) for step in steps],
        "proximity": [close.get(point.number) for point in points],
        "started_at": [other.started_at or other.created_at for other in others],
        "finished_at": [point.finished_at for point in points],
        "took_seconds": [
            0.0 if point.cached else other.wall_seconds
            for point, other in zip(points, others, strict=True)
        ],
        "cached": [point.cached for point in points],
        "inside": [point.inside for point in points],
        "state": coded([point.state for point in points]),
        "kind": coded([point.kind for point in points]),
        "technique": coded([other.technique for other in others]),
        "label": coded([point.label for point in points]),
        "worker": coded([other.worker for other in others]),
        "fidelity": coded([step["fidelity"] for step in steps]),
    }
    configurations = [_flat(other.configuration) for other in others]
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


def _flat(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a stored configuration, which was checked when it was stored.

    A value of a parameter is one cell: a permutation becomes its JSON.
    """
    found: dict[str, Any] = {}
    groups = [("", configuration)]
    for prefix, group in groups:
        for name, value in group.items():
            if isinstance(value, dict):
                groups.append((f"{prefix}{name}.", value))
            else:
                found[prefix + name] = canonical_json(value) if isinstance(value, list) else value
    return found


def proximity_of(converged: Mapping[str, Any]) -> dict[int, float | None]:
    """C(n) by the number of the search trial after which it holds."""
    search = [point["trial"] for point in converged["points"] if point["kind"] == "search"]
    return dict(zip(search, converged["proximity"], strict=True))

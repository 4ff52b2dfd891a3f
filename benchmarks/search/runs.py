"""Runs of optimisers on tables."""

from __future__ import annotations

import json
import resource
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.search.build import table_path
from benchmarks.search.optimisers import OPTIMISERS, Objective, is_ours
from benchmarks.search.tables import Case, Table

__all__ = ["MARKS", "Run", "read_runs", "run_all"]

MARKS = (25, 50, 100)


@dataclass(frozen=True)
class Run:
    """One search on one table.

    Attributes:
        optimiser: A key of `OPTIMISERS`.
        space: A key of `SPACES`.
        seed: Of the optimiser.
        table: Identity of the table.
        regret: By how many per cent the best value lies above the table's, after each of `MARKS`;
            infinite where nothing has run.
        infeasible: Trials that could not run.
        repeats: Trials whose value this run had seen.
        cpu_ms: Milliseconds of CPU a trial, processes included.
    """

    optimiser: str
    space: str
    seed: int
    table: str
    regret: tuple[float, ...]
    infeasible: int
    repeats: int
    cpu_ms: float


def _cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _run(optimiser: str, directory: Path, space: str, seed: int) -> Run:
    """One run, ours without a process for OpenTuner, whose CPU would not be counted."""
    # Not above: OpenTuner replaces the formatter of logs, and who reads runs needs none of it.
    from benchmarks.search.in_process import in_process

    case = Case(space, directory / space)
    table = Table.load(table_path(case))
    objective = Objective(case, table, max(MARKS))
    with in_process() if is_ours(optimiser) else nullcontext():
        before = _cpu_seconds()
        OPTIMISERS[optimiser](objective, seed)
        took = _cpu_seconds() - before
    regret = tuple(100.0 * (objective.incumbents[mark - 1] / table.best - 1.0) for mark in MARKS)
    identity = table.identity(space)
    cpu_ms = 1000.0 * took / max(MARKS)
    return Run(
        optimiser,
        space,
        seed,
        identity,
        regret,
        objective.infeasible,
        objective.repeats,
        round(cpu_ms, 1),
    )


def run_all(
    directory: Path, optimisers: Sequence[str], spaces: Sequence[str], seeds: int, output: Path
) -> None:
    """Makes the runs that a file does not hold yet, and adds each to it.

    Args:
        directory: Of the tables.
        optimisers: Keys of `OPTIMISERS`.
        spaces: Keys of `SPACES`.
        seeds: How many runs of each optimiser on each space.
        output: A JSON line a run.
    """
    known = {(run.optimiser, run.space, run.seed) for run in read_runs(output)}
    # Seed by seed, so that those who are stopped have as many runs as others.
    left = [
        (optimiser, space, seed)
        for seed in range(seeds)
        for space in spaces
        for optimiser in optimisers
        if (optimiser, space, seed) not in known
    ]
    with (
        output.open("a") as file,
        ProcessPoolExecutor(1, max_tasks_per_child=8) as for_ours,
        # Apart: what ours changes of OpenTuner is not for those who run it as it comes.
        ProcessPoolExecutor(1, max_tasks_per_child=8) as for_others,
    ):
        for optimiser, space, seed in left:
            pool = for_ours if is_ours(optimiser) else for_others
            run = pool.submit(_run, optimiser, directory, space, seed).result()
            file.write(json.dumps(asdict(run)) + "\n")
            file.flush()
            print(run.optimiser, run.space, run.seed, [f"{r:.2f}" for r in run.regret], flush=True)


def read_runs(path: Path) -> list[Run]:
    """Reads the runs of a file; none where there is no file."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [Run(**{**line, "regret": tuple(line["regret"])}) for line in lines]

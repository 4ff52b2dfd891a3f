"""Whether a job finds the best sooner when it learns from another: pairs of jobs on whole tables.

The constants of `tuner.transfer` were chosen on pairs of `SPACES` (mg-6 and tree-mg, is-6 and
ft-6) with other seeds; these are pairs of other spaces.
"""

from __future__ import annotations

import functools
import json
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import measured_now
from benchmarks.search.build import table_path
from benchmarks.search.in_process import in_process
from benchmarks.search.optimisers import Objective, insight_of, ours
from benchmarks.search.tables import Case, Table
from benchmarks.tables_in_docs import write_table
from searchspace.insight import Experience, experience_of
from workers.simulator_client import simulator_version

__all__ = [
    "PAGE",
    "PAIRS",
    "RESULTS",
    "SPACES_OF_PAIRS",
    "TABLE",
    "Pair",
    "results_of",
    "run_pairs",
    "table",
    "write_table_of",
]

RESULTS = Path(__file__).with_name("transfer.json")
PAGE, TABLE = "tuner.md", "transfer"
MOST_SHARE, MOST_HARM = 0.5, 1.1
"""The bars: of the trials without learning, at most so many for related and for unrelated jobs."""
_TRIALS = 100
_CLOSE = 1.01
_FIRST_JOBS = 20
"""So many first jobs of a space teach all its second jobs, in turns."""
_RESAMPLES = 10_000


@dataclass(frozen=True)
class Pair:
    """Two jobs, of which the second learns from the first.

    Attributes:
        relation: What they have in common, in words.
        source: A key of `TRANSFER`.
        target: Likewise.
        related: Whether learning is to help; else it is not to harm.
    """

    relation: str
    source: str
    target: str
    related: bool = True


PAIRS = (
    Pair("same program, other machine", "new-ft", "old-ft"),
    Pair("same program, other machine", "new-mg", "old-mg"),
    Pair("other program, same machine", "new-is", "new-ft"),
    Pair("larger class", "new-ft", "large-ft"),
    Pair("unrelated", "old-lu", "new-ft", related=False),
)
SPACES_OF_PAIRS = tuple(dict.fromkeys(name for p in PAIRS for name in (p.source, p.target)))
"""Whose tables are needed."""


@functools.cache
def _first(directory: Path, space: str, seed: int) -> Experience:
    """What a first job of a hundred trials has to teach, as it is stored."""
    case = Case(space, directory / space)
    made = ours(Objective(case, Table.load(table_path(case)), _TRIALS), seed)
    found = experience_of(space, space, case.built.space, insight_of(case), made.trials)
    assert found is not None, "a trial has run"
    return Experience.from_json(json.loads(json.dumps(found.to_json())))


def _run(directory: Path, source: str | None, target: str, seed: int) -> dict[str, Any]:
    learned = [] if source is None else [_first(directory, source, seed % _FIRST_JOBS)]
    case = Case(target, directory / target)
    known = Table.load(table_path(case))
    objective = Objective(case, known, _TRIALS, _CLOSE * known.best)
    # Not the seed of the first: that would be the same search where spaces are equal.
    made = ours(objective, 1000 + seed, experiences=learned)
    reached = objective.incumbents[-1] <= _CLOSE * known.best
    trials = max(0, len(objective.incumbents) - made.baselines)
    return {
        "source": source,
        "target": target,
        "seed": seed,
        "table": known.identity(target),
        "trials": trials if reached else None,
        "weights": made.weights,
    }


def run_pairs(directory: Path, seeds: int, runs: Path) -> None:
    """Makes the runs that a file does not hold yet, and adds each to it."""
    arms: dict[tuple[str | None, str], None] = dict.fromkeys((None, p.target) for p in PAIRS)
    arms |= dict.fromkeys((pair.source, pair.target) for pair in PAIRS)
    wanted = [(source, target, seed) for seed in range(seeds) for source, target in arms]
    known = {(one["source"], one["target"], one["seed"]) for one in _runs(runs)}
    with runs.open("a") as file, in_process():
        for source, target, seed in wanted:
            if (source, target, seed) in known:
                continue
            run = _run(directory, source, target, seed)
            file.write(json.dumps(run) + "\n")
            file.flush()
            print(f"{source or 'nothing'} -> {target}, seed {seed}: {run['trials']}", flush=True)


def _runs(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def results_of(runs: Path) -> dict[str, Any]:
    """What the runs come to, with what they were made by."""
    by_arm: dict[tuple[str | None, str], dict[int, dict[str, Any]]] = {}
    for run in _runs(runs):
        by_arm.setdefault((run["source"], run["target"]), {})[run["seed"]] = run
    pairs = []
    for pair in PAIRS:
        alone = by_arm.get((None, pair.target), {})
        learned = by_arm.get((pair.source, pair.target), {})
        seeds = sorted(alone.keys() & learned.keys())
        if not seeds:
            continue
        without = [_counted(alone[seed]) for seed in seeds]
        with_it = [_counted(learned[seed]) for seed in seeds]
        pairs.append(
            {
                **asdict(pair),
                "table": alone[seeds[0]]["table"],
                "without": without,
                "with": with_it,
                "weight": statistics.mean(
                    run["weights"][0] for run in learned.values() if run["weights"]
                ),
            }
        )
    return {
        **measured_now(),
        "simulator": simulator_version(),
        "python": platform.python_version(),
        "most_trials": _TRIALS,
        "first_jobs": _FIRST_JOBS,
        "pairs": pairs,
    }


def _counted(run: dict[str, Any]) -> int:
    """Search trials to within 1%; one more than a run has where it did not get there."""
    return _TRIALS + 1 if run["trials"] is None else int(run["trials"])


def _share(without: Sequence[int], with_it: Sequence[int]) -> list[float]:
    """Mean trials with learning over those without, and its 95% interval (bootstrap of seeds)."""
    one, other = np.array(without, dtype=float), np.array(with_it, dtype=float)
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(one), size=(_RESAMPLES, len(one)))
    shares = other[drawn].mean(axis=1) / np.maximum(one[drawn].mean(axis=1), 1.0)
    low, high = np.percentile(shares, (2.5, 97.5))
    return [round(float(x), 3) for x in (other.mean() / max(one.mean(), 1.0), low, high)]


def table(found: dict[str, Any]) -> str:
    """The table of the documentation, in Markdown."""
    lines = [
        "| second job learns from | pair | jobs | trials without: mean, median | trials with: mean,"
        " median | share of the mean (95% interval) | bar |",
        "|---|---|---|---|---|---|---|",
    ]
    for pair in found["pairs"]:
        bar = MOST_SHARE if pair["related"] else MOST_HARM
        name = f"{pair['source']}, {pair['target']}"
        lines.append(_row(pair["relation"], name, pair["without"], pair["with"], bar))
    related = [pair for pair in found["pairs"] if pair["related"]]
    without = [trials for pair in related for trials in pair["without"]]
    with_it = [trials for pair in related for trials in pair["with"]]
    if related:
        lines.append(_row("all that are related", "", without, with_it, MOST_SHARE))
    return "\n".join(lines) + "\n"


def _row(
    relation: str, pair: str, without: Sequence[int], with_it: Sequence[int], bar: float
) -> str:
    share, low, high = _share(without, with_it)
    return (
        f"| {relation} | {pair} | {len(without)} "
        f"| {statistics.mean(without):.1f}, {statistics.median(without):.0f} "
        f"| {statistics.mean(with_it):.1f}, {statistics.median(with_it):.0f} "
        f"| {share:.2f} ({low:.2f} to {high:.2f}) "
        f"| {bar:g}: {'met' if share <= bar else 'missed'} |"
    )


def write_table_of(found: dict[str, Any]) -> None:
    """Puts the table into the documentation."""
    write_table(PAGE, TABLE, table(found))

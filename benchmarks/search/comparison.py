"""What runs on tables come to: regret by trials, and optimisers side by side."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import measured_now
from benchmarks.search.runs import MARKS, Run
from benchmarks.tables_in_docs import write_table
from workers.simulator_client import simulator_version

__all__ = ["PAGE", "RESULTS", "TABLE", "compared", "keep", "table"]

RESULTS = Path(__file__).with_name("results.json")
PAGE, TABLE = "tuner.md", "comparison"
MOST_REGRET = (2.0, 0.3, 0.1)
"""The bars, in per cent, after each of `MARKS`."""
MOST_AT_THE_END = 0.5
"""The bar of the 90th percentile after the last."""
LEAST_SHARE = 0.95
"""The bar of the pairs in which ours is ahead or level, after each of `MARKS`."""
MOST_BEHIND = 0.2
"""The bar of the mean regret, in per cent, by which another is better on any space."""
LEAST_RUNS = 5
"""On each space, fewer tell nothing of the bars that hold for pairs."""
_LEVEL = 0.1
"""Per cent of regret within which two optimisers are level."""
_MET = {True: "met", False: "missed"}
_RESAMPLES = 2_000
_PACKAGES = ("opentuner", "optuna", "smac", "torch")


def compared(runs: Sequence[Run], ours: Sequence[str]) -> dict[str, Any]:
    """Each optimiser by itself and by space, then ours beside every other on equal spaces, seeds.

    Args:
        runs: Of any optimisers.
        ours: The optimisers whose leads over the others are told.
    """
    found = dict.fromkeys(run.optimiser for run in runs)
    optimisers = [*(us for us in ours if us in found), *(one for one in found if one not in ours)]
    spaces = sorted({run.space for run in runs})
    others = [optimiser for optimiser in optimisers if optimiser not in ours]
    return {
        "ours": list(ours),
        "tables": {run.space: run.table for run in runs},
        "optimisers": {
            optimiser: _alone([run for run in runs if run.optimiser == optimiser], spaces)
            for optimiser in optimisers
        },
        "beside": {us: {other: _beside(runs, us, other) for other in others} for us in ours},
    }


def table(found: Mapping[str, Any]) -> str:
    """What they come to, in Markdown."""
    marks = " | ".join(f"regret at {mark}, %" for mark in MARKS)
    heads = " | ".join(f"ours ahead or level at {mark}" for mark in MARKS)
    lines = [
        f"| optimiser | runs | {marks} | 90th percentile at {MARKS[-1]}, % | infeasible | "
        "repeats | CPU ms a trial | bar of regret |",
        "|---|" + "---|" * (len(MARKS) + 6),
    ]
    for optimiser, own in found["optimisers"].items():
        means = " | ".join(f"{mean:.2f}" for mean in own["regret"])
        lines.append(
            f"| {optimiser} | {own['runs']} | {means} | {own['percentile_90']:.2f} | "
            f"{own['infeasible']:.1f} | {own['repeats']:.1f} | {own['cpu_ms']:.0f} | "
            f"{_MET[_regrets_little(own)]} |"
        )
    lines += [
        "",
        f"| ours | other | pairs | {heads} | our mean lead at {MARKS[-1]}, % (95% interval) | "
        "mean lead on the worst space, % | bar |",
        "|---|---|" + "---|" * (len(MARKS) + 4),
    ]
    spaces = len(found["tables"])
    for us, others in found["beside"].items():
        lines += [f"| {us} | {other} | {_cells(one, spaces)} |" for other, one in others.items()]
    return "\n".join(lines) + "\n"


def _regrets_little(own: Mapping[str, Any]) -> bool:
    means = all(mean <= most for mean, most in zip(own["regret"], MOST_REGRET, strict=True))
    return means and own["percentile_90"] <= MOST_AT_THE_END


def _cells(beside: Mapping[str, Any], spaces: int) -> str:
    """Pairs, shares and lead of one of ours beside another."""
    if not beside["pairs"]:
        return " | ".join(["0", *"-" * (len(MARKS) + 3)])
    shares = " | ".join(f"{share:.1%}" for share in beside["ahead_or_level"])
    lead, low, high = beside["lead"]
    worst = beside["worst_space"]
    met = min(beside["ahead_or_level"]) >= LEAST_SHARE and worst >= -MOST_BEHIND
    interval = f"{lead:.2f} ({low:.2f} to {high:.2f})"
    bar = _MET[met] if beside["pairs"] >= LEAST_RUNS * spaces else "-"
    return f"{beside['pairs']} | {shares} | {interval} | {worst:.2f} | {bar}"


def keep(runs: Sequence[Run], ours: Sequence[str]) -> None:
    """Write the standings to `RESULTS`, and their table into the documentation."""
    found = {
        **measured_now(),
        "simulator": simulator_version(),
        "python": platform.python_version(),
        "packages": {name: told for name in _PACKAGES if (told := _version(name))},
        **compared(runs, ours),
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    write_table(PAGE, TABLE, table(json.loads(RESULTS.read_text())))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _alone(runs: Sequence[Run], spaces: Sequence[str]) -> dict[str, Any]:
    regret = np.array([run.regret for run in runs])
    of_spaces = {}
    for space in spaces:
        own = [run.regret for run in runs if run.space == space]
        if own:
            of_spaces[space] = _rounded(np.array(own).mean(axis=0))
    return {
        "runs": len(runs),
        "regret": _rounded(regret.mean(axis=0)),
        "percentile_90": round(float(np.percentile(regret[:, -1], 90)), 3),
        "infeasible": round(float(np.mean([run.infeasible for run in runs])), 2),
        "repeats": round(float(np.mean([run.repeats for run in runs])), 2),
        "cpu_ms": round(float(np.mean([run.cpu_ms for run in runs])), 1),
        "spaces": of_spaces,
    }


def _beside(runs: Sequence[Run], us: str, optimiser: str) -> dict[str, Any]:
    """Pairs of runs on one space with one seed; the interval is a bootstrap of pairs."""
    ours = {(g.space, g.seed): g.regret for g in runs if g.optimiser == us}
    theirs = {(g.space, g.seed): g.regret for g in runs if g.optimiser == optimiser}
    pairs = sorted(ours.keys() & theirs.keys())
    if not pairs:
        return {"pairs": 0}
    leads = np.array([np.subtract(theirs[pair], ours[pair]) for pair in pairs])
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    low, high = np.percentile(leads[:, -1][drawn].mean(axis=1), (2.5, 97.5))
    return {
        "pairs": len(pairs),
        "ahead_or_level": _rounded((leads >= -_LEVEL).mean(axis=0)),
        "lead": _rounded(np.array([leads[:, -1].mean(), low, high])),
        "worst_space": round(
            min(
                float(leads[[p[0] == space for p in pairs]].mean(axis=0).min())
                for space, _ in pairs
            ),
            3,
        ),
    }


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 3) for value in values]

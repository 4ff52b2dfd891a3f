"""A job held against measurements: which of its trials are run, and what their times say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring.agreement import Pair, errors, quantile, regret, tau
from measuring.sampling import Sample

__all__ = ["TIE", "Candidate", "Verdict", "choose", "same_files", "verdict"]

TIE = 0.03
"""Candidates whose measured times differ by less have no order."""
_RUN_KINDS = ("search", "baseline", "refinement", "verification")
_NOT_OF_THE_CONFIGURATION = ("README.txt", "export.json")


@dataclass(frozen=True)
class Candidate:
    """What is run.

    Attributes:
        label: For people: `trial 17`, `baseline torus-2d`, `library's defaults`.
        trial: The number of the trial; None for the library's defaults.
        simulated: Seconds; None where it was not simulated.
        export: The directory of its export; None for the library's defaults.
    """

    label: str
    trial: int | None
    simulated: float | None
    export: Path | None


def choose(
    trials: Sequence[Mapping[str, Any]], *, top: int, spread: int
) -> list[Mapping[str, Any]]:
    """The best trials, the baselines, and some spread over the simulated range.

    Args:
        trials: All trials of a job, as REST shows them.
        top: How many of the best.
        spread: How many of the others, nearest to values at equal ratios between the best and the
            worst; a model is not known by its favourites alone.

    Returns:
        Trials that completed on the whole trace, no configuration twice, from the best on.
    """
    known: dict[str, Mapping[str, Any]] = {}
    for trial in sorted(trials, key=_value):
        complete = trial["state"] == "completed" and trial["fidelity"] == "full"
        if complete and trial["kind"] in _RUN_KINDS:
            known.setdefault(trial["configuration_sha256"], trial)
    ordered = list(known.values())
    chosen = {id(trial) for trial in ordered[:top]}
    chosen |= {id(trial) for trial in ordered if trial["kind"] == "baseline"}
    others = [trial for trial in ordered if id(trial) not in chosen]
    for wanted in _spread(ordered, spread):
        if others:
            nearest = min(others, key=lambda trial: abs(math.log(_value(trial) / wanted)))
            others.remove(nearest)
            chosen.add(id(nearest))
    return [trial for trial in ordered if id(trial) in chosen]


def _value(trial: Mapping[str, Any]) -> float:
    value = trial["value"]
    return math.inf if value is None else float(value)


def _spread(ordered: Sequence[Mapping[str, Any]], count: int) -> list[float]:
    if not ordered or count == 0:
        return []
    low, high = math.log(_value(ordered[0])), math.log(_value(ordered[-1]))
    return [math.exp(low + (high - low) * (step + 1) / count) for step in range(count)]


def same_files(one: Path, other: Path) -> bool:
    """Whether two exports install the same: they differ in what they tell of the trial alone."""
    return _installed(one) == _installed(other)


def _installed(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): _without_comments(path.read_bytes())
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in _NOT_OF_THE_CONFIGURATION
    }


def _without_comments(content: bytes) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join(line for line in lines if not line.startswith(b"#") or line[1:2] == b"!")


@dataclass(frozen=True)
class Verdict:
    """What the measured times say of the simulated ones.

    Attributes:
        pairs: Of the candidates that were simulated and measured.
        median: Error of the median candidate, relative; None without any.
        worst: The largest error.
        tau: Kendall's tau; None where no two candidates have an order.
        regret: Measured time of the candidate that the simulation holds for the fastest over that
            of the fastest; None without any.
        chosen: The candidate that the simulation holds for the fastest.
        fastest: The one that was measured the fastest.
    """

    pairs: Mapping[Candidate, Pair]
    median: float | None
    worst: float | None
    tau: float | None
    regret: float | None
    chosen: Candidate | None
    fastest: Candidate | None


def verdict(measured: Mapping[Candidate, Sample]) -> Verdict:
    """Hold what was measured against what was simulated.

    Args:
        measured: Of each candidate; those without a time that counts are left out.
    """
    means = {candidate: known.mean for candidate, known in measured.items()}
    pairs = {
        candidate: Pair(mean, candidate.simulated)
        for candidate, mean in means.items()
        if mean is not None and candidate.simulated is not None
    }
    timed = {candidate: mean for candidate, mean in means.items() if mean is not None}
    fastest = min(timed, key=lambda each: timed[each]) if timed else None
    if not pairs:
        return Verdict({}, None, None, None, None, None, fastest)
    off = errors(pairs.values())
    return Verdict(
        pairs,
        quantile(off, 0.5),
        max(off),
        tau(pairs.values(), TIE),
        regret(pairs.values()),
        min(pairs, key=lambda candidate: pairs[candidate].simulated),
        fastest,
    )

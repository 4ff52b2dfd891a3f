"""How a job converged: pure functions over its trials, after Hu et al. 2023, section IV.E.

Hu's quantities (speed-up, proximity) run over search trials alone, as in the paper, which has no
baselines among its tuning tests. The best of a job may also be a baseline, if it is a point of the
search space; baselines outside the space are what the best is compared with, and nothing else.
All values are simulated seconds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from storage.records import FINAL_TRIAL_STATES, TrialPoint

__all__ = [
    "CLOSE",
    "best_point",
    "convergence",
    "convergence_point",
    "figures",
    "proximity",
    "speedup",
    "trials_to_reach",
]

CLOSE = 0.9
"""The proximity that Hu et al. call near-optimal."""


def convergence(trials: Sequence[TrialPoint], *, started_at: float | None) -> dict[str, Any]:
    """All that the figures of a job show, ready for JSON.

    Args:
        trials: The trials of the job by number (`ProjectTrials.points`); open ones are left out.
        started_at: When the job started, seconds since the epoch.

    Returns:
        `points`: for each trial with an outcome `trial`, `kind`, `label`, `state`, `cached`,
        `value`, `best` (lowest value so far of points of the space), `wall_seconds` (from the start
        until it and all before it had finished) and `cpu_seconds` (of the simulator, summed).
        `best` and `initial` (the first completed search trial): `trial` and `value`, or None.
        `baselines`: the value of each completed one; `gains`: that value over the best.
        `speedup`: I. `proximity`: C(n) for n = 1, 2, ... search trials. `trials_to_reach`: the
        first n with C(n) >= `close`, and `share`, that n over all search trials.
    """
    finished = [trial for trial in trials if trial.state in FINAL_TRIAL_STATES]
    search = [trial for trial in finished if trial.kind == "search"]
    values = proximity([_value(trial) for trial in search])
    return {
        "points": _points(finished, started_at),
        "proximity": values,
        **figures(
            finished,
            best=best_point(finished),
            initial=next(filter(_completed, search), None),
            lowest=_lowest(map(_value, search)),
            reached=trials_to_reach(values, CLOSE),
            searched=len(search),
        ),
    }


def figures(
    trials: Iterable[TrialPoint],
    *,
    best: TrialPoint | None,
    initial: TrialPoint | None,
    lowest: float | None,
    reached: int | None,
    searched: int,
) -> dict[str, Any]:
    """What `convergence` answers beside points and proximity.

    Args:
        trials: Among them all baselines.
        best: The best point of the space.
        initial: The first completed search trial.
        lowest: Value of the best search trial.
        reached: After how many search trials the proximity was `CLOSE`.
        searched: How many search trials there are.
    """
    baselines = {
        trial.label: trial.value
        for trial in trials
        if trial.kind == "baseline" and _completed(trial)
    }
    return {
        "best": _shown(best),
        "initial": _shown(initial),
        "baselines": baselines,
        "gains": {
            label: speedup(value, best.value if best else None)
            for label, value in baselines.items()
        },
        "speedup": speedup(_value(initial), lowest),
        "close": CLOSE,
        "trials_to_reach": reached,
        "share": None if reached is None else reached / searched,
    }


def best_point(trials: Iterable[TrialPoint]) -> TrialPoint | None:
    """Of trials by number, what `ProjectTrials.best` defines to be the best."""
    eligible = (trial for trial in trials if _completed(trial) and trial.inside)
    return min(eligible, key=lambda trial: trial.value or 0.0, default=None)


def speedup(initial: float | None, best: float | None) -> float | None:
    """I = T_i / T_o: the first value over the best one (Hu et al. 2023, equation 5).

    None where one is missing or the best is zero.
    """
    if initial is None or best is None or best == 0.0:
        return None
    return initial / best


def proximity(values: Sequence[float | None]) -> list[float | None]:
    """C(n) = 1 - (T_n - T_o) / T_o after each trial (Hu et al. 2023, equation 6).

    Args:
        values: Of the trials in order; None for one that was not completed.

    Returns:
        For n = 1, 2, ...: how close T_n, the lowest of the first n values, is to T_o, the lowest of
        all; 1 at the end, below 0 where T_n is more than twice T_o. None before the first value.
    """
    lowest = _lowest(values)
    lowest_so_far = itertools.accumulate(values, lambda first, second: _lowest((first, second)))
    return [
        None if so_far is None or lowest is None else _proximity(so_far, lowest)
        for so_far in lowest_so_far
    ]


def trials_to_reach(values: Sequence[float | None], level: float) -> int | None:
    """The first n with C(n) >= level; None where no trial was completed."""
    reached = (n for n, close in enumerate(values, 1) if close is not None and close >= level)
    return next(reached, None)


def _proximity(so_far: float, lowest: float) -> float | None:
    if so_far == lowest:
        return 1.0
    return None if lowest == 0.0 else 1.0 - (so_far - lowest) / lowest


def _points(finished: Sequence[TrialPoint], started_at: float | None) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    best: float | None = None
    wall_seconds = cpu_seconds = 0.0
    for trial in finished:
        if trial.inside:
            best = _lowest((best, _value(trial)))
        if started_at is not None and trial.finished_at is not None:
            wall_seconds = max(wall_seconds, trial.finished_at - started_at)
        if not trial.cached:
            cpu_seconds += trial.cpu_seconds or 0.0
        points.append(convergence_point(trial, best, wall_seconds, cpu_seconds))
    return points


def convergence_point(
    trial: TrialPoint, best: float | None, wall_seconds: float, cpu_seconds: float
) -> dict[str, Any]:
    """A point of the convergence; all but the trial is what had been reached by then."""
    return {
        "trial": trial.number,
        "kind": trial.kind,
        "fidelity": trial.fidelity,
        "label": trial.label,
        "state": trial.state,
        "cached": trial.cached,
        "value": trial.value,
        "best": best,
        "wall_seconds": wall_seconds,
        "cpu_seconds": cpu_seconds,
    }


def _completed(trial: TrialPoint) -> bool:
    return trial.state == "completed" and trial.value is not None


def _value(trial: TrialPoint | None) -> float | None:
    return trial.value if trial is not None and _completed(trial) else None


def _lowest(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _shown(trial: TrialPoint | None) -> dict[str, Any] | None:
    return None if trial is None else {"trial": trial.number, "value": trial.value}

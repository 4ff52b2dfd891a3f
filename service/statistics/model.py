"""Counts and the fastest trials, of all trials of a job.

Figures of thousands of trials are drawn from a sample; what is counted is counted here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from searchspace.configuration import Configuration
from service.outcomes import comparable
from storage.records import FINAL_TRIAL_STATES, Trial

__all__ = ["EXAMPLE", "MOST_VALUES", "Statistics", "statistics"]

MOST_VALUES = 50
"""Of a parameter that took more values than that, the fastest are told."""

EXAMPLE: dict[str, Any] = {
    "trials": 120,
    "states": {"completed": 90, "censored": 28, "infeasible": 2},
    "cached": 12,
    "compared": 87,
    "workers": [
        {
            "worker": "node7-4121",
            "trials": 118,
            "evaluated": 106,
            "busy_seconds": 140.5,
            "longest_seconds": 2.1,
        },
        {
            "worker": None,
            "trials": 2,
            "evaluated": 0,
            "busy_seconds": 0.0,
            "longest_seconds": 0.0,
        },
    ],
    "parameters": [
        {
            "name": "topology",
            "different": 2,
            "values": [
                {"value": "random", "trials": 60, "trial": 88, "seconds": 0.0712},
                {"value": "torus-2d", "trials": 27, "trial": 3, "seconds": 0.084},
            ],
        }
    ],
}


class WorkerStatistics(BaseModel):
    """What one worker did."""

    worker: str | None = Field(
        description="None: no worker took it, since it breaks a constraint or was cancelled before."
    )
    trials: int
    evaluated: int = Field(description="Of these, not answered from the cache.")
    busy_seconds: float = Field(description="Sum of its own evaluations, of the clock.")
    longest_seconds: float = Field(description="Of one evaluation.")


class ValueStatistics(BaseModel):
    """What became of one value of a parameter."""

    value: Any
    trials: int = Field(description="Of those that are compared, with this value.")
    trial: int = Field(description="The fastest of them, the first one of equals.")
    seconds: float = Field(description="Its simulated time.")


class ParameterStatistics(BaseModel):
    """What became of the values of a parameter."""

    name: str
    different: int = Field(description="How many values it took.")
    values: list[ValueStatistics] = Field(description=f"The fastest first, {MOST_VALUES} at most.")


class Statistics(BaseModel):
    """Counts of all trials of a job that have an outcome."""

    trials: int
    states: dict[str, int] = Field(description="Trials by outcome, the most frequent first.")
    cached: int = Field(description="Answered from the cache.")
    compared: int = Field(
        description="Completed trials of the search space whose times are of one trace, truncated "
        "or whole: what `parameters` are of."
    )
    workers: list[WorkerStatistics] = Field(description="By name.")
    parameters: list[ParameterStatistics] = Field(
        description="Those that took several values, in the order of the configurations; no "
        "permutations."
    )


def statistics(trials: Iterable[Trial]) -> Statistics:
    """Count trials, in the order of their numbers; those without an outcome are left out."""
    ended = [trial for trial in trials if trial.state in FINAL_TRIAL_STATES]
    compared = comparable(ended)
    return Statistics(
        trials=len(ended),
        states=dict(Counter(trial.state for trial in ended).most_common()),
        cached=sum(trial.cached for trial in ended),
        compared=len(compared),
        workers=_workers(ended),
        parameters=_parameters(compared),
    )


def _workers(trials: Iterable[Trial]) -> list[WorkerStatistics]:
    by_worker: dict[str | None, list[Trial]] = {}
    for trial in trials:
        by_worker.setdefault(trial.worker, []).append(trial)
    found = []
    for worker in sorted(by_worker, key=lambda name: (name is None, name)):
        own = by_worker[worker]
        took = [
            trial.wall_seconds
            for trial in own
            if worker is not None and not trial.cached and trial.wall_seconds is not None
        ]
        found.append(
            WorkerStatistics(
                worker=worker,
                trials=len(own),
                evaluated=len(took),
                busy_seconds=math.fsum(took),
                longest_seconds=max(took, default=0.0),
            )
        )
    return found


def _parameters(trials: Iterable[Trial]) -> list[ParameterStatistics]:
    by_value: dict[str, dict[Any, ValueStatistics]] = {}
    for trial in trials:
        if trial.value is None:
            continue
        for name, chosen in Configuration.from_json(trial.configuration).items():
            if isinstance(chosen, tuple):  # a permutation, which hardly two trials have in common
                continue
            values = by_value.setdefault(name, {})
            known = values.get(chosen)
            if known is None:
                values[chosen] = ValueStatistics(
                    value=chosen, trials=1, trial=trial.number, seconds=trial.value
                )
                continue
            known.trials += 1
            if trial.value < known.seconds:
                known.trial, known.seconds = trial.number, trial.value
    return [
        ParameterStatistics(
            name=name,
            different=len(values),
            values=sorted(values.values(), key=lambda one: (one.seconds, one.trial))[:MOST_VALUES],
        )
        for name, values in by_value.items()
        if len(values) > 1
    ]

"""What OpenTuner is told of a trial, and what later trials are measured against.

The objective is the simulated makespan in seconds, to be minimised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from storage.records import Trial
from tuner.opentuner_session import Status

__all__ = ["TrialResult", "cutoff", "result_of"]


@dataclass(frozen=True)
class TrialResult:
    """What the search is told of a trial: its value, or why it has none.

    Attributes:
        value: The objective of a completed trial, None for all others: the lower bound of a
            censored trial is not told, since it is better than the values of worse trials that ran
            to their end, and next to the incumbent's.
        status: What became of the trial.
        bound: What a censored trial takes at least: for techniques that know what to do with it.
    """

    value: float | None
    status: Status
    bound: float | None = None


def result_of(trial: Trial) -> TrialResult:
    """The result of a finished trial, to be told to the search.

    A completed trial whose value is not a finite number is told as failed.

    Raises:
        ValueError: The trial has no outcome.
    """
    match trial.state:
        case "completed":
            if trial.value is None or not math.isfinite(trial.value):
                return TrialResult(None, "failed")
            return TrialResult(trial.value, "completed")
        case "censored":
            return TrialResult(None, "censored", trial.value)
        case "failed" | "infeasible":
            return TrialResult(None, trial.state)
    raise ValueError(f"trial {trial.number} is {trial.state}; there is nothing to tell")


def cutoff(best: float | None, factor: float | None) -> float | None:
    """The simulated seconds at which a trial may be stopped as no better than the incumbent.

    Args:
        best: The value of the incumbent, if there is one.
        factor: Multiplies it; None never stops a trial.
    """
    if best is None or factor is None or best <= 0.0:
        return None
    return best * factor

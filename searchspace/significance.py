"""When a gain is one: differences smaller than the error of a model, or than noise, are none."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from searchspace.machine import Machine

__all__ = ["ERRORS", "ModelError", "error_of", "separated", "shown_error", "within_error"]

ERRORS: Mapping[str, float] = {"fluid": 0.45, "packets": 0.09, "calibration": 0.05}
"""Relative errors of the ratio of two simulated times: the median over pairs of algorithms that
were measured with Open MPI and MPICH on emulated clusters (docs/studies/trust.md), under each model
and for packets on a calibrated machine."""

_LEAST_PAIRS = 3
_NORMAL_95 = 1.96


@dataclass(frozen=True)
class ModelError:
    """How far off simulated ratios are, relative, and how that is known."""

    value: float
    known_from: Literal["fluid", "packets", "calibration", "measurements"]


def error_of(machine: Machine, measured: Sequence[tuple[float, float]] = ()) -> ModelError:
    """The error of a job's model.

    Args:
        machine: Of the job. Where it was calibrated, the median error of what was measured for
            that counts if it is larger than what calibrated machines have in general.
        measured: Measured and simulated seconds of the job's configurations; with three or more
            they tell better than anything else.
    """
    shown = shown_error(measured)
    if shown is not None:
        return ModelError(shown, "measurements")
    if machine.calibration is not None:
        return ModelError(max(ERRORS["calibration"], machine.calibration.median), "calibration")
    model = machine.trial_model
    return ModelError(ERRORS[model], model)


def shown_error(measured: Sequence[tuple[float, float]]) -> float | None:
    """The median error of ratios that measurements show; None of fewer than three pairs.

    What all configurations share, such as the start of a program, is no error of a ratio.
    """
    ratios = [simulated / real for real, simulated in measured if real > 0.0 and simulated > 0.0]
    # Of absurd times: the quotient is then beyond what a float holds.
    ratios = [ratio for ratio in ratios if 0.0 < ratio < math.inf]
    if len(ratios) < _LEAST_PAIRS:
        return None
    middle = statistics.median(ratios)
    return statistics.median(abs(ratio / middle - 1.0) for ratio in ratios)


def within_error(value: float, reference: float, error: float) -> bool:
    """Whether two simulated times are too close to say that one is the better.

    Example:
        >>> within_error(1.0, 1.04, 0.05), within_error(1.0, 1.2, 0.05)
        (True, False)
    """
    low, high = sorted((value, reference))
    return high <= low * (1.0 + error)


def separated(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether the means of two samples differ by more than chance, at 95%.

    With fewer than two runs of either nobody knows.
    """
    if min(len(one), len(other)) < 2:
        return False
    variance = sum(statistics.variance(runs) / len(runs) for runs in (one, other))
    distance = abs(statistics.fmean(one) - statistics.fmean(other))
    return distance > _NORMAL_95 * math.sqrt(variance)

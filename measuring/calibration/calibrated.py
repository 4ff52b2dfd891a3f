"""What a calibration came to: a machine, and each measurement beside its simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from measuring.agreement import quantile
from measuring.calibration.experiments import Experiment
from searchspace.machine import Machine, Residual

__all__ = ["Calibrated", "Compared", "residual", "residuals_by_kind", "whole_messages"]

_OF_CALLS = ("gap", "unexpected", "send returns")
"""Kinds that time how long a rank is kept by its calls, not when messages have arrived."""


@dataclass(frozen=True)
class Compared:
    """An experiment as it was measured, and as the calibrated machine has it.

    Attributes:
        experiment: Which.
        measured: Median seconds.
        low: A quarter of the repetitions took less.
        high: A quarter took more.
        simulated: Seconds.
    """

    experiment: Experiment
    measured: float
    low: float
    high: float
    simulated: float

    @property
    def is_of_whole_messages(self) -> bool:
        """Whether it lasts until messages have arrived, as what applications wait for."""
        return self.experiment.kind not in _OF_CALLS

    @property
    def error(self) -> float:
        """How far the simulated time is off, relative to the measured one, without sign."""
        return abs(self.simulated / self.measured - 1.0)


@dataclass(frozen=True)
class Calibrated:
    """A calibrated machine and what it rests on.

    Attributes:
        machine: With `calibration`.
        compared: Every experiment that both sides know.
        notes: What the user should know, a sentence each.
    """

    machine: Machine
    compared: Sequence[Compared]
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def unexplained(self) -> float:
        """The part of the measured time of whole messages by which simulated times differ."""
        whole = whole_messages(self.compared)
        differing = sum(abs(each.simulated - each.measured) for each in whole)
        return differing / sum(each.measured for each in whole)


def residual(compared: Sequence[Compared]) -> Residual:
    """What is left of some experiments, at least one."""
    errors = [each.error for each in compared]
    return Residual(points=len(errors), median=quantile(errors, 0.5), error=quantile(errors, 0.9))


def whole_messages(compared: Sequence[Compared]) -> list[Compared]:
    """Those experiments that last until messages have arrived."""
    return [each for each in compared if each.is_of_whole_messages]


def residuals_by_kind(compared: Sequence[Compared]) -> dict[str, Residual]:
    """What is left of each kind of experiment."""
    kinds = dict.fromkeys(each.experiment.kind for each in compared)
    return {
        kind: residual([each for each in compared if each.experiment.kind == kind])
        for kind in kinds
    }

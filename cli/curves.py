"""The course of a job as its figures need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["UNITS", "Axis", "Curve", "unit_for"]

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What the trials of a curve are counted by.

    Attributes:
        label: What stands below the axis.
        values: Where each trial stands on it, never decreasing.
    """

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Best simulated time of a job after each trial.

    Attributes:
        name: The job's name.
        axis: Trials, wall seconds or CPU seconds.
        states: State of each trial.
        values: Simulated seconds of each trial; a lower bound where censored, None without one.
        best: Best simulated seconds up to each trial; None before the first completed one.
        baselines: Simulated seconds of the named baselines, in trial order.
    """

    name: str
    axis: Axis
    states: tuple[str, ...]
    values: tuple[float | None, ...]
    best: tuple[float | None, ...]
    baselines: dict[str, float]

    @property
    def final(self) -> float | None:
        """The best simulated time of the job, seconds."""
        return self.best[-1] if self.best else None

    @property
    def proximity(self) -> tuple[float | None, ...]:
        """C(n) = 1 - (T_n - T_best) / T_best after each trial (Hu 2023, equation 6)."""
        final = self.final
        if final is None:
            return tuple(None for _ in self.best)
        return tuple(None if best is None else 1 - (best - final) / final for best in self.best)

    @property
    def best_baseline(self) -> tuple[str, float] | None:
        """The baseline to beat: label and simulated seconds."""
        if not self.baselines:
            return None
        label = min(self.baselines, key=lambda name: self.baselines[name])
        return label, self.baselines[label]

    @property
    def reference(self) -> float | None:
        """What a speed-up is counted from: the best baseline, else the first completed trial."""
        if self.best_baseline is not None:
            return self.best_baseline[1]
        return next((value for value in self.best if value is not None), None)


def unit_for(seconds: Sequence[float]) -> tuple[float, str]:
    """The unit that shows these durations with digits before the point: (its seconds, name)."""
    largest = max(seconds, default=1.0)
    for scale, name in UNITS:
        if largest >= scale:
            return scale, name
    return UNITS[-1]

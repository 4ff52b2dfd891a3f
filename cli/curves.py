"""The convergence of a job as its figures need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["AXES", "POINTS", "UNITS", "Axis", "Curve", "unit_for"]

POINTS = 2000
"""How many points of a job a curve is drawn with; of a longer one the service leaves some out."""

AXES = {
    "trial": ("trial", "trial"),
    "wall": ("wall time (s)", "wall_seconds"),
    "cpu": ("CPU time of the simulator (s)", "cpu_seconds"),
}
"""What a curve can be drawn by: label of the axis, and its key in the service's answer."""

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


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
            Baselines outside the search space do not count.
        baselines: Simulated seconds of the named baselines, in trial order.
        proximity: C(n) of Hu 2023, equation 6, after trials of the search.
        proximity_at: After how many trials each of these is; after each of them where left out.
    """

    name: str
    axis: Axis
    states: tuple[str, ...]
    values: tuple[float | None, ...]
    best: tuple[float | None, ...]
    baselines: dict[str, float]
    proximity: tuple[float | None, ...]
    proximity_at: tuple[int, ...] | None = None

    @classmethod
    def of(cls, name: str, convergence: Mapping[str, Any], by: str = "trial") -> Curve:
        """The curve in what the service answers at `/jobs/{id}/convergence`.

        Args:
            name: The job's name.
            convergence: The answer.
            by: A key of `AXES`.
        """
        label, key = AXES[by]
        # Comparisons are told by another network model, which is another yardstick.
        points = [point for point in convergence["points"] if point["kind"] != "comparison"]
        return cls(
            name=name,
            axis=Axis(label=label, values=tuple(float(point[key]) for point in points)),
            states=tuple(point["state"] for point in points),
            values=tuple(point["value"] for point in points),
            best=tuple(point["best"] for point in points),
            baselines=dict(convergence["baselines"]),
            proximity=tuple(convergence["proximity"]),
            proximity_at=convergence.get("proximity_at") and tuple(convergence["proximity_at"]),
        )

    @property
    def final(self) -> float | None:
        """The best simulated time of the job, seconds."""
        return self.best[-1] if self.best else None

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

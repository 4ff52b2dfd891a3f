"""Numbers refined by the judge itself: simulated times of the very experiments, least squares.

What is made small is the difference of the logarithms of simulated and measured times, each over
what it is known to, with a loss that outliers do not dominate (soft L1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from measuring.calibration.fits.numbers import (
    Numbers,
    Parameter,
    Vector,
    bounds,
    from_vector,
    to_vector,
)

__all__ = ["Point", "Refined", "cost", "refine", "residuals"]

SHORTEST = 5e-6
"""Seconds added to both sides: what is shorter differs by no factor that matters."""
_EVALUATIONS = 20
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Point:
    """What was measured of an experiment.

    Attributes:
        seconds: The median.
        uncertainty: How far that may be off, and the model with it, relative.
    """

    seconds: float
    uncertainty: float


@dataclass(frozen=True)
class Refined:
    """What a refinement came to.

    Attributes:
        numbers: The best ones.
        cost: What is left; less is better.
        intervals: Of each number, between which values it lies with 95% confidence.
    """

    numbers: Numbers
    cost: float
    intervals: Mapping[str, tuple[float, float]]


Simulate = Callable[[Numbers], Sequence[float]]
"""Seconds of every point under some numbers."""


def residuals(points: Sequence[Point], simulated: Sequence[float]) -> Vector:
    """How far simulated times are off, each over what it is known to."""
    return np.array(
        [
            np.log((seconds + SHORTEST) / (point.seconds + SHORTEST)) / point.uncertainty
            for point, seconds in zip(points, simulated, strict=True)
        ]
    )


def refine(
    parameters: Sequence[Parameter],
    first: Numbers,
    points: Sequence[Point],
    simulate: Simulate,
    say: Callable[[str], None] = lambda _: None,
) -> Refined:
    """Find the numbers under which simulated times are nearest to measured ones.

    Args:
        parameters: What is changed.
        first: Where to begin.
        points: What was measured.
        simulate: Gives seconds of each point.
        say: Told how it goes.
    """
    evaluations = 0

    def off(vector: Vector) -> Vector:
        return residuals(points, simulate(from_vector(parameters, first, vector)))

    def slopes(vector: Vector) -> Vector:
        nonlocal evaluations
        evaluations += 1
        here = off(vector)
        say(f"fitting: step {evaluations}, remaining {cost(here):.1f}")
        columns = []
        for at, parameter in enumerate(parameters):
            changed = vector.copy()
            changed[at] += parameter.step if vector[at] + parameter.step <= most[at] else -1e-2
            columns.append((off(changed) - here) / (changed[at] - vector[at]))
        return np.array(columns).T

    least, most = bounds(parameters, first)
    begin = np.clip(to_vector(parameters, first, first), least + 1e-9, most - 1e-9)
    found = optimize.least_squares(
        off,
        begin,
        jac=slopes,
        bounds=(least, most),
        method="dogbox",  # which numbers that are 0 do not hold up
        x_scale="jac",
        loss="soft_l1",
        max_nfev=_EVALUATIONS,
        ftol=1e-3,
        xtol=1e-3,
    )
    return Refined(
        from_vector(parameters, first, found.x),
        cost(found.fun),
        _intervals(parameters, first, found.x, found.fun, np.asarray(found.jac)),
    )


def cost(off: Vector) -> float:
    """What is left, by the loss; less is better."""
    return float(np.sum(2 * (np.sqrt(1 + off**2) - 1)))


def _intervals(
    parameters: Sequence[Parameter], first: Numbers, best: Vector, off: Vector, jac: Vector
) -> dict[str, tuple[float, float]]:
    """From the curvature at the best numbers; residuals as they are scattered there."""
    degrees = max(1, len(off) - len(best))
    # Outliers scatter no more than the loss lets them count.
    scatter = float(np.sum(np.minimum(off**2, np.abs(off)))) / degrees
    spread = np.sqrt(np.maximum(np.diag(np.linalg.pinv(jac.T @ jac)) * scatter, 0.0))
    reach = float(stats.t.ppf(0.5 + _CONFIDENCE / 2, degrees)) * spread
    low, high = bounds(parameters, first)
    lows = from_vector(parameters, first, np.maximum(best - reach, low))
    highs = from_vector(parameters, first, np.minimum(best + reach, high))
    return {each.name: (lows[each.name], highs[each.name]) for each in parameters}

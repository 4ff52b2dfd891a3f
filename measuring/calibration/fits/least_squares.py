"""Numbers fitted by least squares: simulated times of the very experiments to the measured ones.

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

__all__ = ["LeastSquaresFit", "Point", "cost", "fit_least_squares", "residuals"]

SHORTEST = 5e-6
"""Seconds added to both sides: what is shorter differs by no factor that matters."""
_FIRST_STEP = 0.3
"""Of a number, relative, and at least so many of the steps by which its effect is seen."""
_STEPS = 3
_GROWS = 1.3
_SHRINKS = 0.5
_EVALUATIONS = 10
_SWEEPS = 20
_LEAST_SWEEPS = 4
_SETTLED = 2e-3
"""Part of what remains by which a sweep has to make it less."""
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
class LeastSquaresFit:
    """What a fit came to.

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


def fit_least_squares(
    parameters: Sequence[Parameter],
    first: Numbers,
    points: Sequence[Point],
    simulate: Simulate,
    say: Callable[[str], None] = lambda _: None,
) -> LeastSquaresFit:
    """Find the numbers under which simulated times are nearest to measured ones.

    Args:
        parameters: What is changed.
        first: Where to begin.
        points: What was measured.
        simulate: Gives seconds of each point.
        say: Told how it goes.
    """
    least, most = bounds(parameters, first)

    def off(vector: Vector) -> Vector:
        return residuals(points, simulate(from_vector(parameters, first, vector)))

    def slopes(vector: Vector) -> Vector:
        here = off(vector)
        columns = []
        for at, parameter in enumerate(parameters):
            changed = vector.copy()
            changed[at] += parameter.step if vector[at] + parameter.step <= most[at] else -1e-2
            columns.append((off(changed) - here) / (changed[at] - vector[at]))
        return np.array(columns).T

    begin = np.clip(to_vector(parameters, first, first), least, most)
    steps = _first_steps(parameters, begin)
    best = _search(lambda vector: cost(off(vector)), begin, steps, (least, most), say)
    # Along valleys between the axes slopes lead on.
    polished = optimize.least_squares(
        off,
        np.clip(best, least + 1e-9, most - 1e-9),
        jac=slopes,
        bounds=(least, most),
        method="dogbox",  # which numbers that are 0 do not hold up
        x_scale="jac",
        loss="soft_l1",
        max_nfev=_EVALUATIONS,
        ftol=1e-3,
        xtol=1e-3,
    )
    found = off(best)
    if cost(polished.fun) < cost(found):
        best, found = polished.x, polished.fun
        say(f"fitting: remaining {cost(found):.1f}")
    return LeastSquaresFit(
        from_vector(parameters, first, best),
        cost(found),
        _intervals(parameters, first, best, found, slopes(best)),
    )


def _first_steps(parameters: Sequence[Parameter], begin: Vector) -> Vector:
    return np.array(
        [
            max(_FIRST_STEP * abs(value), _STEPS * each.step)
            if each.unit is not None
            else 2 * each.step
            for each, value in zip(parameters, begin, strict=True)
        ]
    )


def _search(
    value: Callable[[Vector], float],
    begin: Vector,
    steps: Vector,
    limits: tuple[Vector, Vector],
    say: Callable[[str], None],
) -> Vector:
    """Walks along one axis after the other; steps grow where they help and shrink elsewhere.

    Simulated times jump where the order of messages changes, so slopes lead astray (direct search,
    Hooke and Jeeves 1961).
    """
    best, least = begin, value(begin)
    for sweep in range(1, _SWEEPS + 1):
        before = least
        for axis in range(len(best)):
            for way in (1.0, -1.0):
                tried = best.copy()
                tried[axis] = np.clip(
                    best[axis] + way * steps[axis], limits[0][axis], limits[1][axis]
                )
                found = value(tried) if tried[axis] != best[axis] else least
                if found < least:
                    best, least = tried, found
                    steps[axis] *= _GROWS * way
                    break
            else:
                steps[axis] *= _SHRINKS
        say(f"fitting: step {sweep}, remaining {least:.1f}")
        if before - least < _SETTLED * before and sweep >= _LEAST_SWEEPS:
            break
    return best


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

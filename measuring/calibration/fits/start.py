"""Where a fit begins: the best of many guesses, for from a bad one it stays where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import qmc

from measuring.calibration.fits.least_squares import Point, Simulate, cost, residuals
from measuring.calibration.fits.numbers import Numbers

__all__ = ["best_starts"]

GUESSED: Mapping[str, tuple[float, float]] = {
    "link_latency": (0.125, 1.5),
    "send_overhead.seconds": (0.25, 4.0),
    "isend_overhead.seconds": (0.25, 4.0),
    "receive_overhead.seconds": (0.25, 4.0),
}
"""Numbers that explain each other's part of a short message, and the factors of their first guesses
between which they are looked for."""
_GUESSES = 5
"""Two to the power of this are drawn."""


def best_starts(
    first: Numbers, points: Sequence[Point], simulate: Simulate, *, count: int, seed: int = 1
) -> list[Numbers]:
    """The best of many guesses that cover the numbers evenly (Sobol 1967), the best one first.

    Args:
        first: A first guess, which is one of them.
        points: What was measured.
        simulate: Gives seconds of each point.
        count: How many are wanted.
        seed: Of the scrambling.
    """
    least, most = (np.log(factors) for factors in zip(*GUESSED.values(), strict=True))
    drawn = qmc.Sobol(len(GUESSED), seed=seed).random_base2(_GUESSES)
    guesses = [first]
    for factors in np.exp(least + drawn * (most - least)):
        changed = zip(GUESSED, factors, strict=True)
        guesses.append({**first, **{name: first[name] * float(by) for name, by in changed}})
    costs = [cost(residuals(points, simulate(guess))) for guess in guesses]
    return [guesses[at] for at in np.argsort(costs, kind="stable")[:count]]

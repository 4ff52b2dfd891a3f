"""Which candidate would widen a front most: the choice of a search with two objectives.

The price of a candidate is known, or follows from its time where it is energy; of the time a model
gives a lower confidence bound. Chosen is what would widen the hypervolume of the front most if it
were as fast as that (Ponweiser, Wagner, Biermann, Vincze, "Multiobjective optimization on a limited
budget of evaluations using model-assisted S-metric selection", PPSN X (2008)). Both are taken by
their logarithms, so that halving either counts alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from searchspace.front import Point, hypervolume_gains, pareto_front

__all__ = ["log_seconds", "prices_at", "widest"]

_BEYOND = 0.1
"""By so much of what is between the least and the greatest the reference lies beyond these: what is
as dear as the dearest, and faster, widens a front too."""
_LEAST_PRICE = 1e-9
_LEAST_SECONDS = 1e-300


def widest(
    front_prices: NDArray[np.float64],
    front_times: NDArray[np.float64],
    prices: NDArray[np.float64],
    times: NDArray[np.float64],
) -> int:
    """The index of the candidate that would widen the front most; where none does, the nearest.

    Args:
        front_prices: Of points that are known, shape (points,); not finite where one is not.
        front_times: The logarithms of their seconds (`log_seconds`), shape (points,).
        prices: Of candidates, shape (candidates,); one that is not finite is not known, and taken
            to be the dearest that is.
        times: Bounds of the logarithms of their seconds, shape (candidates,).
    """
    finite = [price for price in (*prices, *front_prices) if np.isfinite(price)]
    dearest = float(max(finite, default=0.0))
    known, own = _logs(front_prices, dearest), _logs(prices, dearest)
    front: list[Point] = list(zip(known.tolist(), front_times.tolist(), strict=True))
    corner = (_beyond(np.append(known, own)), _beyond(np.append(front_times, times)))
    points = np.column_stack([own, times])
    gains = hypervolume_gains(front, points, corner)
    if gains.max() > 0:
        return int(np.argmax(gains))
    return int(np.argmin(times - _to_beat(front, own, corner[1])))


def log_seconds(seconds: Sequence[float]) -> NDArray[np.float64]:
    """The logarithms of seconds, shape (points,); a program that takes no time has one too."""
    logs: NDArray[np.float64] = np.log(np.maximum(seconds, _LEAST_SECONDS))
    return logs


def prices_at(weights: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is weighed against times, shape (points,), nan where it is not known.

    Args:
        weights: What it is whatever the time, and what each second adds, shape (points, 2).
        times: Logarithms of seconds, shape (points,).
    """
    prices: NDArray[np.float64] = weights[:, 0] + weights[:, 1] * np.exp(times)
    return prices


def _logs(prices: NDArray[np.float64], dearest: float) -> NDArray[np.float64]:
    known = np.where(np.isfinite(prices), prices, dearest)
    logs: NDArray[np.float64] = np.log(np.maximum(known, _LEAST_PRICE))
    return logs


def _beyond(values: NDArray[np.float64]) -> float:
    span = float(values.max() - values.min())
    return float(values.max()) + (_BEYOND * span if span > 0 else 1.0)


def _to_beat(
    front: list[Point], prices: NDArray[np.float64], nothing: float
) -> NDArray[np.float64]:
    """The least time of what costs no more than each price; `nothing` where nothing does."""
    steps = [front[index] for index in pareto_front(front)]
    levels = np.array([nothing, *(time for _, time in steps)])
    return levels[np.searchsorted([price for price, _ in steps], prices, side="right")]

"""Means, intervals and correlations that several studies report."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from scipy import stats

__all__ = ["geometric_mean", "half_interval", "line_fit"]


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios."""
    return math.exp(statistics.fmean(map(math.log, values)))


def half_interval(values: Sequence[float]) -> float | None:
    """Half the 95% confidence interval of the mean (Student's t); None for a single value."""
    if len(values) < 2:
        return None
    spread = statistics.stdev(values) / math.sqrt(len(values))
    return float(stats.t.ppf(0.975, len(values) - 1)) * spread


def line_fit(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Intercept, slope and Pearson correlation of y over x."""
    fit = stats.linregress(x, y)
    return float(fit.intercept), float(fit.slope), float(fit.rvalue)

"""How long the search itself takes, beside the evaluations that it asks for."""

from __future__ import annotations

__all__ = ["BEGIN_SECONDS", "TRIAL_SECONDS", "search_seconds"]

BEGIN_SECONDS = 3.0
"""Roughly, on the clock, until OpenTuner and the model are loaded and the first trial is asked."""
TRIAL_SECONDS = 0.02
"""Roughly, on the clock, for each trial: to learn of those before, and to propose it."""


def search_seconds(trials: int) -> float:
    """A rough number, not a measured one: seconds on the clock that a search takes for itself.

    Args:
        trials: How many it proposes.

    Example:
        >>> search_seconds(40)
        3.8
    """
    return BEGIN_SECONDS + TRIAL_SECONDS * trials

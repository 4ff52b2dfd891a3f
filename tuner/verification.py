"""Verifying the best estimates on the whole trace: a race that ends when no other can win any more.

Estimates from a truncated trace are off, but most of it by the same factor for every configuration.
The factors seen so far tell how much the next best estimate could still come to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from searchspace.configuration import Configuration
from storage.records import Trial

__all__ = ["IN_FLIGHT", "MOST", "TOLERANCE", "Drift", "Entrant", "Race"]

MOST = 5
"""Evaluations of the whole trace that a race comes to at most."""
IN_FLIGHT = 2
"""How many of them at once: each that ends may make the next needless."""
TOLERANCE = 0.01
"""By how much a configuration that is not verified may be better, as far as the drift tells."""


class Drift:
    """How whole values compare with the estimates of the same configurations."""

    def __init__(self) -> None:
        self._exact = 0
        self._lowest = float("inf")
        self._highest = 0.0

    def enter(self, estimate: float, value: float, *, exact: bool) -> None:
        """Enter a configuration that has both.

        Args:
            estimate: From the truncated trace, above 0.
            value: From the whole one.
            exact: Otherwise the value is a lower bound, from a run that was stopped.
        """
        factor = value / estimate
        self._highest = max(self._highest, factor)
        if exact:
            self._exact += 1
            self._lowest = min(self._lowest, factor)

    def least(self, estimate: float) -> float | None:
        """The least that the whole trace is expected to take where so much is estimated.

        That is with a factor as far below the lowest one seen as that is below the highest.

        Returns:
            None where fewer than two configurations have both values.
        """
        if self._exact < 2:
            return None
        return estimate * self._lowest * (self._lowest / self._highest)


@dataclass(frozen=True)
class Entrant:
    """A configuration that may be verified.

    Attributes:
        estimate: Simulated seconds by the truncated trace.
        number: Of the trial that estimated it; of equals the first comes first.
        configuration: What is verified.
        label: The name of a baseline.
        inside: Whether it is a point of the search space.
    """

    estimate: float
    number: int
    configuration: Configuration
    label: str | None = None
    inside: bool = True


class Race:
    """Which configurations to verify, best estimate first.

    Args:
        drift: Of all that is known; what this race finds out is entered too.
        entrants: Those with the best estimates take part, `MOST` at most.
        best: A whole value that is known already. The best estimate is verified all the same: it
            may still be better by less than the tolerance.
    """

    def __init__(
        self, drift: Drift, entrants: Iterable[Entrant], *, best: float | None = None
    ) -> None:
        self._drift = drift
        ordered = sorted(entrants, key=lambda entrant: (entrant.estimate, entrant.number))
        self._waiting = deque(ordered[:MOST])
        self._started = False
        self.best = best

    @property
    def over(self) -> bool:
        """Whether nobody is left who might be better than the best by more than `TOLERANCE`."""
        if not self._waiting or not self._started:
            return not self._waiting
        least = self._drift.least(self._waiting[0].estimate)
        if self.best is None or least is None:
            return False
        return least >= (1.0 - TOLERANCE) * self.best

    def start(self) -> Entrant:
        """The next to verify; the race must not be over."""
        self._started = True
        return self._waiting.popleft()

    def finish(self, entrant: Entrant, trial: Trial) -> None:
        """Enter the outcome on the whole trace of one that was started."""
        if trial.value is None or trial.state not in ("completed", "censored"):
            return
        completed = trial.state == "completed"
        if entrant.estimate > 0.0:
            self._drift.enter(entrant.estimate, trial.value, exact=completed)
        if completed and (self.best is None or trial.value < self.best):
            self.best = trial.value

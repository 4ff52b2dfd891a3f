"""What a truncated trace estimated, and what of it was verified on the whole one."""

from __future__ import annotations

from searchspace.configuration import Configuration
from searchspace.space import SearchSpace
from storage.records import Trial
from tuner.parameters import point_of
from tuner.verification import Drift, Entrant, Race

__all__ = ["MOST_REFINED", "Estimates"]

MOST_REFINED = 2
"""Refined mappings that may be verified: they differ little."""


class Estimates:
    """Who may take part in the races of verifications, and how good the best verified one is.

    Attributes:
        best_verified: The best value on the whole trace, of points of the space.

    Args:
        space: Of the job.
    """

    def __init__(self, space: SearchSpace) -> None:
        self.best_verified: float | None = None
        self._space = space
        self._drift = Drift()
        self._baselines: list[Entrant] = []
        self._points: list[Entrant] = []
        self._refined: list[Entrant] = []
        self._verified: set[str] = set()  # digests of points evaluated on the whole trace

    def enter(self, trial: Trial, configuration: Configuration, value: float) -> None:
        """Remember what decides on who is verified, and the best that was."""
        point = point_of(self._space, configuration)
        if any(entrant.configuration == configuration for entrant in self._refined):
            point = configuration
        if trial.fidelity == "full":
            if point is not None:
                self._verified.add(point.sha256)
                if self.best_verified is None or value < self.best_verified:
                    self.best_verified = value
            return
        if trial.kind == "estimate":
            inside = point is not None
            entrant = Entrant(value, trial.number, configuration, trial.label, inside=inside)
            self._baselines.append(entrant)
        if point is not None:
            self._points.append(Entrant(value, trial.number, point))

    def enter_refined(self, trial: Trial, configuration: Configuration) -> None:
        """Remember a refined mapping."""
        if trial.value is not None:
            self._refined.append(Entrant(trial.value, trial.number, configuration))

    def race_of_baselines(self) -> Race:
        """A race of the baselines that were estimated."""
        return Race(self._drift, self._baselines)

    def race_of_points(self) -> Race:
        """A race of the points and refined mappings that are not verified yet."""
        refined = sorted(self._refined, key=lambda entrant: (entrant.estimate, entrant.number))
        entrants = [*self._points, *refined[:MOST_REFINED]]
        unverified = [e for e in entrants if e.configuration.sha256 not in self._verified]
        return Race(self._drift, unverified, best=self.best_verified)

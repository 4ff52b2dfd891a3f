"""Evaluating the best trials with the fluid model as well, where packets decided.

The two models are different yardsticks; what a second one says of the best few is worth knowing,
but it costs: the time of the fluid model grows with the cube of the ranks. So finalists are
evaluated one after the other, best first, and no more once it has become dear.
"""

from __future__ import annotations

from collections import deque

from searchspace.configuration import Configuration
from storage.records import Trial

__all__ = ["MOST", "MOST_RANKS", "Comparison"]

MOST = 3
"""Configurations that are evaluated with both models."""
MOST_RANKS = 512
"""Of an application. The fluid model ends for hardly a larger one in a tenth of the time of a
search: ten iterations of a stencil take 20 CPU seconds on 512 ranks, and minutes on 1,024."""


class Comparison:
    """Which of the best trials are evaluated with the other model."""

    def __init__(self) -> None:
        self._left = 0.0
        self._finalists: dict[str, tuple[float, int, Configuration]] = {}  # by digest
        self._waiting: deque[Configuration] = deque()

    def enter(self, value: float, number: int, configuration: Configuration) -> None:
        """Enter a completed trial that may be the best; the lowest values take part."""
        entrant = (value, number, configuration)
        digest = configuration.sha256
        others = [one for known, one in self._finalists.items() if known != digest]
        mine = min(entrant, self._finalists.get(digest, entrant), key=_rank)
        ranked = sorted([*others, mine], key=_rank)[:MOST]
        self._finalists = {one[2].sha256: one for one in ranked}

    def begin(self, seconds: float) -> None:
        """Nothing is entered from now on.

        Args:
            seconds: Of wall time; when comparisons have taken as long together, none is begun.
        """
        self._left = seconds
        self._waiting = deque(configuration for _, _, configuration in self._finalists.values())

    @property
    def over(self) -> bool:
        """Whether no further one is evaluated."""
        return not self._waiting or self._left <= 0.0

    def start(self) -> Configuration:
        """The next to evaluate; there must be one."""
        return self._waiting.popleft()

    def finish(self, trial: Trial) -> None:
        """Enter what became of one: where it failed, the others would cost as much for nothing."""
        if trial.state == "failed":
            self._waiting.clear()
        if not trial.cached:
            self._left -= trial.wall_seconds or 0.0


def _rank(entrant: tuple[float, int, Configuration]) -> tuple[float, int]:
    return entrant[:2]

"""What a process counts of its own work, for whoever asks it for metrics. Costs next to nothing."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["BOUNDS", "METRICS", "Histogram", "Metrics"]

BOUNDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Upper bounds of the classes of a histogram, seconds."""

Labels = tuple[tuple[str, str], ...]


@dataclass
class Histogram:
    """How often values fell into each class of `BOUNDS` and beyond, and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    sum: float = 0.0


class Metrics:
    """Counters and histograms by name and labels. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: Counter[tuple[str, Labels]] = Counter()
        self._histograms: dict[tuple[str, Labels], Histogram] = {}

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        with self._lock:
            self._counters[name, _key(labels)] += amount  # type: ignore[assignment]

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add a value to a histogram."""
        with self._lock:
            histogram = self._histograms.setdefault((name, _key(labels)), Histogram())
            histogram.counts[bisect_left(BOUNDS, seconds)] += 1
            histogram.sum += seconds

    def counters(self) -> Sequence[tuple[str, Labels, float]]:
        """All counters."""
        with self._lock:
            return [(name, labels, value) for (name, labels), value in self._counters.items()]

    def histograms(self) -> Sequence[tuple[str, Labels, Histogram]]:
        """All histograms, copied."""
        with self._lock:
            return [
                (name, labels, Histogram(list(one.counts), one.sum))
                for (name, labels), one in self._histograms.items()
            ]


def _key(labels: Mapping[str, str]) -> Labels:
    return tuple(sorted(labels.items()))


METRICS = Metrics()
"""Those of this process."""

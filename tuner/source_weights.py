"""How much each job counts that a job learns from, written down for people to see."""

from __future__ import annotations

from collections.abc import Sequence

from storage.storage import Storage
from tuner.lease import Lease

__all__ = ["SourceWeights"]

_NEWS = 0.05
"""A change of a weight that is worth a transaction."""
_DIGITS = 3


class SourceWeights:
    """Stores weights as they change. No decision rests on what is stored.

    Args:
        storage: Where the job is.
        lease: Under which it is driven.
    """

    def __init__(self, storage: Storage, lease: Lease) -> None:
        self._storage = storage
        self._lease = lease
        self._stored: list[float] = []

    def note(self, weights: Sequence[float] | None) -> None:
        """Store weights, unless they are about those that are stored; None: nothing is known.

        Raises:
            LeaseLost: Another coordinator holds the job.
        """
        if weights is None:
            return
        rounded = [round(weight, _DIGITS) for weight in weights]
        if self._stored and not any(map(_differ, self._stored, rounded)):
            return
        self._storage.jobs.weigh_sources(self._lease.job.id, self._lease.token, rounded)
        self._stored = rounded


def _differ(stored: float, now: float) -> bool:
    """Also when one comes to count nothing."""
    return abs(stored - now) >= _NEWS or (stored == 0.0) != (now == 0.0)

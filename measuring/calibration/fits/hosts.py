"""How fast hosts compute, and whether they are alike."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from searchspace.errors import HamtuneError

__all__ = ["common_speed"]

_DIFFER = 1.3
"""By which factor the fastest and the slowest host may differ."""


def common_speed(seconds: Mapping[int, Sequence[float]], flops: float) -> float:
    """Flop/s of a core of hosts that are alike.

    Args:
        seconds: Of each repetition of the same computation, by the rank that made it.
        flops: Of the computation.

    Raises:
        HamtuneError: Hosts differ.
    """
    # The least time: what else a host does only adds. So a host is slow where its best time is
    # clearly longer than what another one takes as a rule.
    best = {rank: min(times) for rank, times in seconds.items()}
    usual = {rank: statistics.median(times) for rank, times in seconds.items()}
    slow, fast = max(best, key=best.__getitem__), min(usual, key=usual.__getitem__)
    if best[slow] > _DIFFER * usual[fast]:
        raise HamtuneError(
            f"hosts differ: rank {fast} computes {best[slow] / usual[fast]:.1f} times as fast "
            f"as rank {slow}; calibrate hosts that are alike by themselves, and write the others' "
            "host_speeds into the machine"
        )
    return flops / statistics.median(best.values())

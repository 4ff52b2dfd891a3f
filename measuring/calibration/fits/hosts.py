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
    # The least time: what else a host does only adds.
    speeds = {rank: flops / min(times) for rank, times in seconds.items()}
    slow, fast = min(speeds, key=speeds.__getitem__), max(speeds, key=speeds.__getitem__)
    if speeds[fast] > _DIFFER * speeds[slow]:
        raise HamtuneError(
            f"hosts differ: rank {fast} computes {speeds[fast] / speeds[slow]:.1f} times as fast "
            f"as rank {slow}; calibrate hosts that are alike by themselves, and write the others' "
            "host_speeds into the machine"
        )
    return statistics.median(speeds.values())

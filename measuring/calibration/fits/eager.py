"""Up to which size a message is sent without its receiver: the eager limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = ["FIRST_SIZES", "LATE", "LATER_SIZES", "find_limit"]

LATE = 0.03
"""Seconds that a receiver comes late."""
FIRST_SIZES = tuple(1 << power for power in range(8, 19))
LATER_SIZES = tuple(1 << power for power in range(19, 22))
"""Tried where no message of the first sizes waits."""
_POINTS = 9
_MOST_STEPS = 5

Ask = Callable[[int, Sequence[int]], Mapping[int, float]]
"""Measures, in a numbered step, how long a blocking send of each size takes, seconds."""


def find_limit(ask: Ask) -> tuple[int, int | None]:
    """Find the limit between messages that are sent at once and those that wait.

    Args:
        ask: Measures a late receiver.

    Returns:
        The largest size, bytes, that did not wait, 0 where all did; and the smallest one that did,
        None where none did.
    """
    low, high = 0, None
    for step in range(_MOST_STEPS + 2):
        sizes = _next_sizes(step, low, high)
        if not sizes:
            break
        waits = {size: seconds > LATE / 2 for size, seconds in ask(step, sizes).items()}
        low = max((size for size in sizes if not waits[size]), default=low)
        above = [size for size in sizes if waits[size] and size > low]
        high = min(above, default=high)
    return low, high


def _next_sizes(step: int, low: int, high: int | None) -> Sequence[int]:
    if step == 0:
        return FIRST_SIZES
    if high is None:
        return LATER_SIZES if low == FIRST_SIZES[-1] else ()
    between = high - low - 1
    if between <= 0:
        return ()
    points = min(_POINTS, between)
    return sorted({low + round((high - low) * at / (points + 1)) for at in range(1, points + 1)})

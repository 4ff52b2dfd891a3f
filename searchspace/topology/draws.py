"""Random choices that every release of Python makes alike."""

from __future__ import annotations

import random

__all__ = ["draw_below"]


def draw_below(rng: random.Random, limit: int) -> int:
    """Draws from 0 to limit - 1.

    Only `random()` is promised to give the same sequence in every Python release, and a seed must
    mean the same network for ever.
    """
    return int(rng.random() * limit)

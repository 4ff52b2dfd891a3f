"""Curves through the points of a grid that keep neighbours close."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["CURVES", "along"]

Points = NDArray[np.int64]


def along(curve: str, points: Points) -> NDArray[np.int64]:
    """The points in the order of a curve: their numbers.

    Args:
        curve: One of `CURVES`.
        points: Coordinates from 0 on, shape (points, axes).
    """
    bits = max(1, int(points.max(initial=0)).bit_length())
    match curve:
        case "hilbert":
            keys = _interleaved(_hilbert(points, bits), bits)
        case "morton":
            keys = _interleaved(points, bits)
        case "snake":
            keys = _snaking(points)
        case _:
            keys = points
    return np.lexsort(keys.T[::-1])


CURVES = ("hilbert", "morton", "snake", "row")


def _interleaved(points: Points, bits: int) -> Points:
    """One column a bit of the curve's index, the highest first."""
    return np.concatenate([(points >> bit) & 1 for bit in range(bits - 1, -1, -1)], axis=1)


def _hilbert(points: Points, bits: int) -> Points:
    """Skilling, "Programming the Hilbert curve" (2004): coordinates to the transposed index."""
    x = points.copy()
    axes = x.shape[1]
    bit = 1 << (bits - 1)
    while bit > 1:
        mask = bit - 1
        for axis in range(axes):
            inverted = (x[:, axis] & bit) != 0
            swapped = np.where(inverted, 0, (x[:, 0] ^ x[:, axis]) & mask)
            x[:, 0] ^= np.where(inverted, mask, swapped)
            x[:, axis] ^= swapped
        bit >>= 1
    for axis in range(1, axes):
        x[:, axis] ^= x[:, axis - 1]
    turn = np.zeros(len(x), dtype=np.int64)
    bit = 1 << (bits - 1)
    while bit > 1:
        turn ^= np.where((x[:, axes - 1] & bit) != 0, bit - 1, 0)
        bit >>= 1
    return x ^ turn[:, None]


def _snaking(points: Points) -> Points:
    """Row by row, every other one backwards."""
    keys = points.copy()
    backwards = np.zeros(len(points), dtype=np.int64)
    for axis in range(points.shape[1]):
        last = points[:, axis].max(initial=0)
        keys[:, axis] = np.where(backwards % 2 == 1, last - points[:, axis], points[:, axis])
        backwards += points[:, axis]
    return keys

"""What the ranks of traces exchange."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from searchspace.kernels import traffic_matrix
from searchspace.traffic import Traffic

__all__ = ["traffic_of_traces"]


def traffic_of_traces(paths: Sequence[Path]) -> Traffic:
    """Adds up the payload of all point-to-point messages of applications that run at once.

    The ranks of each follow those of the one before. Collectives are left out: which messages they
    become depends on the algorithm.

    Raises:
        InvalidInput: A file is no trace, one that cannot be replayed, or has more than 16,384
            ranks.
    """
    ranks = 0
    one, other, size = [], [], []
    for path in paths:
        sent = traffic_matrix(path)
        rows, columns = np.nonzero(sent)
        one.append(rows + ranks)
        other.append(columns + ranks)
        size.append(sent[rows, columns])
        ranks += len(sent)
    return Traffic.from_pairs(
        ranks, np.concatenate(one), np.concatenate(other), np.concatenate(size)
    )

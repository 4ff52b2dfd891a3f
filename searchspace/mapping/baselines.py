"""How the simple mappers deal ranks to hosts: so many in turn, over and over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from searchspace.hop_machine import HopMachine

__all__ = ["deal"]


def deal(
    machine: HopMachine, ranks: int, *, turn: int, parts: NDArray[np.uint32] | None = None
) -> NDArray[np.uint32]:
    """Deals ranks to the parts of a machine, `turn` in a row to each, until all have a place.

    Args:
        machine: Where; its places are used in order within each part.
        ranks: At most as many as there are places.
        turn: Ranks in a row, at least 1.
        parts: The part of each place; hosts if left out.
    """
    part = machine.place_hosts if parts is None else parts
    order = np.argsort(part, kind="stable")
    _, first, counts = np.unique(part[order], return_index=True, return_counts=True)
    within = np.empty(len(part), dtype=np.int64)
    within[order] = np.arange(len(part)) - np.repeat(first, counts)
    dealt = np.lexsort((within, part, within // turn))
    return dealt[:ranks].astype(np.uint32)

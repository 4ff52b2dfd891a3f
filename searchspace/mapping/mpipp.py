"""MPIPP: random mappings, improved by exchanging ranks until no exchange helps.

Chen et al., "MPIPP: an automatic profile-guided parallel process placement toolset", ICS 2006, as
Jeannot and Mercier (2010, section 5) ran it: MPIPP.1 from one start, MPIPP.5 from five.
"""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine
from searchspace.kernels._native import bytes_by_hops, descend_by_swaps
from searchspace.mapping.mapper import Mapper, Places
from searchspace.options import Whole
from searchspace.traffic import Traffic

__all__ = ["MPIPP"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int, starts: int) -> Places:
    arrays = (traffic.first, traffic.partner, traffic.size, machine.hops)
    random = np.random.default_rng(seed)
    best, least = None, 0
    for _ in range(starts):
        start = random.permutation(machine.places)[: traffic.ranks].astype(np.uint32)
        places = np.asarray(descend_by_swaps(*arrays, start), dtype=np.uint32)
        cost = sum(hops * size for hops, size in enumerate(bytes_by_hops(*arrays, places)))
        if best is None or cost < least:
            best, least = places, cost
    assert best is not None
    return best


MPIPP = Mapper(
    "mpipp",
    "exchanges ranks of random mappings until none helps (Chen 2006)",
    _place,
    options=(Whole("starts", "random mappings to begin with (Jeannot: 1 or 5)", 1, 1000, 1),),
    uses_seed=True,
)

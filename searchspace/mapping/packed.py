"""All cores of a host, then the next host (Jeannot 2010, section 5: Packed)."""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine
from searchspace.mapping.mapper import Mapper, Places
from searchspace.traffic import Traffic

__all__ = ["PACKED"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int) -> Places:
    return np.arange(traffic.ranks, dtype=np.uint32)


PACKED = Mapper("packed", "fill all cores of a host before the next", _place, uses_traffic=False)

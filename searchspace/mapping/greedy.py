"""Greedy mapping: ranks one after another, each close to the one it exchanges most with.

Hoefler and Snir, "Generic topology mapping strategies for large-scale parallel architectures",
ICS 2011 (the greedy heuristic of LibTopoMap), on hops.
"""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine
from searchspace.kernels._native import greedy_mapping
from searchspace.mapping.mapper import Mapper, Places
from searchspace.traffic import Traffic

__all__ = ["GREEDY"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int) -> Places:
    places = greedy_mapping(traffic.first, traffic.partner, traffic.size, machine.hops)
    return np.asarray(places, dtype=np.uint32)


GREEDY = Mapper(
    "greedy",
    "each rank as close as can be to the one it exchanges most with (Hoefler and Snir 2011)",
    _place,
)

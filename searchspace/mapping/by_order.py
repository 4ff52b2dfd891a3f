"""Rank n on host n; consecutive ranks share a host when there are more ranks than hosts."""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine
from searchspace.mapping.baselines import deal
from searchspace.mapping.mapper import Mapper, Places
from searchspace.traffic import Traffic

__all__ = ["BY_ORDER"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int) -> Places:
    cores = np.asarray(machine.cores_per_host)
    block = -(-traffic.ranks // int(np.count_nonzero(cores)))
    while np.minimum(cores, block).sum() < traffic.ranks:
        block += 1
    return np.sort(deal(machine, int(np.minimum(cores, block).sum()), turn=block))[: traffic.ranks]


BY_ORDER = Mapper(
    "by-order",
    "rank n on host n; equal blocks of consecutive ranks when ranks exceed hosts",
    _place,
    uses_traffic=False,
)

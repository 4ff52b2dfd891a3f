"""Every rank on a place drawn at random."""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine
from searchspace.mapping.mapper import Mapper, Places
from searchspace.traffic import Traffic

__all__ = ["RANDOM"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int) -> Places:
    shuffled = np.random.default_rng(seed).permutation(machine.places)
    return shuffled[: traffic.ranks].astype(np.uint32)


RANDOM = Mapper(
    "random", "ranks on cores drawn at random", _place, uses_traffic=False, uses_seed=True
)

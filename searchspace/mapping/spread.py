"""Ranks spread over a machine: no part of it has more of them than another.

Fewest hops means ranks side by side, which is slow where cores share a way into the network or to
memory. Here only as many cores are used as there are ranks, at even distances, and `auto` maps onto
these.
"""

from __future__ import annotations

import numpy as np

from searchspace.hop_machine import HopMachine
from searchspace.mapping.auto import improve
from searchspace.mapping.mapper import Places
from searchspace.traffic import Traffic

__all__ = ["spread_out"]


def spread_out(traffic: Traffic, machine: HopMachine, *, seed: int = 0) -> Places:
    """Maps ranks onto every so many cores of a machine, hop-bytes low.

    Args:
        traffic: What ranks exchange.
        machine: With at least as many places as there are ranks.
        seed: Of the random choices.

    Returns:
        The place of each rank.
    """
    used = np.arange(traffic.ranks, dtype=np.int64) * machine.places // traffic.ranks
    cores = np.bincount(machine.place_hosts[used], minlength=machine.hosts)
    part = HopMachine(machine.shape, tuple(cores.tolist()))
    return used[improve(traffic, part, seed=seed)].astype(np.uint32)

"""Blocks of consecutive ranks, dealt to hosts in turn (Soryani 2013, section 1.1: Blocked)."""

from __future__ import annotations

from searchspace.hop_machine import HopMachine
from searchspace.mapping.baselines import deal
from searchspace.mapping.mapper import Mapper, Places
from searchspace.options import Whole
from searchspace.traffic import Traffic

__all__ = ["BLOCKED"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int, block: int) -> Places:
    return deal(machine, traffic.ranks, turn=block or max(machine.cores_per_host))


BLOCKED = Mapper(
    "blocked",
    "blocks of consecutive ranks on hosts in turn, as large as hosts by default",
    _place,
    options=(Whole("block", "ranks of a block; 0 for all cores of a host", 0, default=0),),
    uses_traffic=False,
)

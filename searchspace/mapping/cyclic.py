"""One rank in turn on each part of the machine (Soryani 2013, section 1.1: Cyclic)."""

from __future__ import annotations

from searchspace.hop_machine import HopMachine
from searchspace.mapping.baselines import deal
from searchspace.mapping.mapper import Mapper, Places
from searchspace.mapping.parts import levels
from searchspace.options import Whole
from searchspace.traffic import Traffic

__all__ = ["CYCLIC"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int, level: int) -> Places:
    hierarchy = levels(machine)
    if level == 0 or not hierarchy:
        return deal(machine, traffic.ranks, turn=1)
    parts = hierarchy[min(level, len(hierarchy)) - 1]
    return deal(machine, traffic.ranks, turn=1, parts=parts)


CYCLIC = Mapper(
    "cyclic",
    "ranks in turn on the hosts, or on larger or smaller parts of the machine",
    _place,
    options=(
        Whole(
            "level",
            "which parts of a hierarchy: 1 for the largest, 2 for those within; 0 for hosts",
            0,
            64,
            0,
        ),
    ),
    uses_traffic=False,
)

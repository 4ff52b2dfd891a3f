"""One rank a host in turn, starting over at host 0 (Jeannot 2010, section 5: Round Robin)."""

from __future__ import annotations

from searchspace.hop_machine import HopMachine
from searchspace.mapping.baselines import deal
from searchspace.mapping.mapper import Mapper, Places
from searchspace.traffic import Traffic

__all__ = ["ROUND_ROBIN"]


def _place(traffic: Traffic, machine: HopMachine, *, seed: int) -> Places:
    return deal(machine, traffic.ranks, turn=1)


ROUND_ROBIN = Mapper("round-robin", "rank r on host r modulo hosts", _place, uses_traffic=False)

"""The energy of a run: what hosts and network draw while it lasts, and what computing adds.

SimGrid has the same models as plugins, `host_energy` and `link_energy` (Heinrich et al.,
"Predicting the energy consumption of MPI applications at scale using a single node", IEEE Cluster
2017), with cables and switches that draw the same idle or busy, as those of clusters nearly do.
"""

from __future__ import annotations

from searchspace.bills import Bill
from searchspace.machine import Machine
from searchspace.parts import Parts

__all__ = ["computing_joules", "drawn_watts"]


def drawn_watts(bill: Bill, parts: Parts) -> float:
    """What a network and its hosts draw with all cores idle, in watts."""
    return bill.power + bill.hosts * parts.hosts.watts


def computing_joules(flops: float, machine: Machine, parts: Parts) -> float:
    """What the cores draw more while they compute, in joules, the same for all configurations.

    Args:
        flops: Of all ranks together.
        machine: Whose cores compute. Where its hosts differ in speed, their mean counts: which
            rank computes how much is not told.
        parts: What a core draws.
    """
    speeds = machine.host_speeds or [machine.host_speed]
    return flops / (sum(speeds) / len(speeds)) * parts.hosts.core_watts

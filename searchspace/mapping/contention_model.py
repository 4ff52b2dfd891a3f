"""Waiting times at the network interface and the memory of a host, as queues.

Soryani, Analoui and Zarrinchian, "Improving inter-node communications in multi-core clusters using
a contention-free process mapping algorithm", 2013, sections 2 and 4.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["LARGE", "MEDIUM", "Hardware", "Load", "best_hosts", "slowdown", "waiting_time"]

LARGE = 1_000_000
"""Bytes of the smallest large message (section 4.1)."""

MEDIUM = 2_000
"""Bytes of the smallest medium message."""

_COPIES = 2
"""Memory accesses of a message within a host (section 4.2)."""


@dataclass(frozen=True)
class Hardware:
    """Bandwidths, bytes/s (section 3: 4 GB/s and 1 GB/s)."""

    memory: float = 4e9
    interface: float = 1e9


@dataclass(frozen=True)
class Load:
    """What the processes of a job send.

    Attributes:
        processes: Of the job.
        adjacency: Mean number of processes that one exchanges messages with.
        rate: Mean messages/s from a process to one of these.
        length: Bytes of a message.
        variation: Coefficient of variation of the time between messages.
    """

    processes: int
    adjacency: float
    rate: float
    length: float
    variation: float = 1.0


def slowdown(length: float, variation: float) -> float:
    """How much more a stream of messages demands because it is irregular (equation 13).

    Args:
        length: Bytes of a message.
        variation: Coefficient of variation of the time between messages.
    """
    if length >= LARGE:
        percent = 0.85 * variation**2 + 0.01 * variation
    elif length >= MEDIUM:
        percent = 0.12 * variation**2
    else:
        percent = 0.0
    return 1 + percent / 100


def waiting_time(rate: float, service: float, variation: float) -> float:
    """Mean seconds in the queue of a server (equation 6); infinite when it cannot keep up.

    Args:
        rate: Arrivals/s.
        service: Mean seconds of one.
        variation: Coefficient of variation of the time between arrivals.
    """
    busy = rate * service
    if busy >= 1:
        return math.inf
    return (variation**2 + busy**2) / (1 + busy**2) * busy * service / (1 - busy)


def best_hosts(load: Load, hardware: Hardware, least: int, most: int) -> int:
    """On how many hosts messages wait least (equations 14 to 23).

    Where some server cannot keep up on any number of hosts, the one with the fewest arrivals. Of
    equals the most hosts: the equations round the processes of a host down, so that only the last
    number of hosts of those that look alike has no host with more.

    Args:
        load: What the job sends.
        hardware: What serves it.
        least: Hosts that the job needs at least, at least 1.
        most: Hosts that there are.
    """
    choices = range(least, max(least, min(most, load.processes)) + 1)
    waits = {hosts: _waiting(load, hardware, hosts) for hosts in choices}
    if math.isfinite(min(waits.values())):
        return min(choices, key=lambda hosts: (waits[hosts], -hosts))
    return min(choices, key=lambda hosts: (sum(_arrivals(load, hosts)), -hosts))


def _waiting(load: Load, hardware: Hardware, hosts: int) -> float:
    interface, memory = _arrivals(load, hosts)
    return waiting_time(interface, load.length / hardware.interface, load.variation) + waiting_time(
        memory, load.length / hardware.memory, load.variation
    )


def _arrivals(load: Load, hosts: int) -> tuple[float, float]:
    """Arrivals/s at the interface and at the memory of a host."""
    here = load.processes // hosts
    outside = max(0.0, load.adjacency - (here - 1))
    within = load.adjacency - outside
    sent = here * outside * load.rate
    copied = here * within * load.rate * _COPIES
    others = max(1, load.processes - 1)
    received = (load.processes - here) * load.adjacency / others * here * load.rate
    return sent, copied + sent + received

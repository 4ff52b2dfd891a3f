"""How good a mapping is, in hops: hop-bytes, dilation and congestion."""

from __future__ import annotations

from dataclasses import dataclass

from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.kernels import edge_array
from searchspace.kernels._native import bytes_by_hops, edge_loads
from searchspace.mapping.mapper import Places
from searchspace.traffic import Traffic

__all__ = ["MappingMetrics", "cable_loads", "metrics_of"]


@dataclass(frozen=True)
class MappingMetrics:
    """Measures of a mapping.

    Attributes:
        hop_bytes: Sum over unordered pairs of ranks of bytes x hops.
        dilation: Longest shortest path of a pair that communicates, hops (Hu 2023, eq. 1-2).
        congestion: Bytes over the most loaded cable between hosts and switches, both ways together,
            with every message on the route of tie rule `lowest-id` (Hu 2023, eq. 3-4); a cable that
            stands for several shares its load among them.
    """

    hop_bytes: int
    dilation: int
    congestion: int


def metrics_of(traffic: Traffic, machine: HopMachine, places: Places) -> MappingMetrics:
    """Judge a mapping.

    Args:
        traffic: What the ranks exchange.
        machine: Where they run.
        places: The place of each rank.

    Raises:
        InvalidInput: The network is not connected.
    """
    by_hops = bytes_by_hops(traffic.first, traffic.partner, traffic.size, machine.hops, places)
    return MappingMetrics(
        hop_bytes=sum(hops * size for hops, size in enumerate(by_hops)),
        dilation=max(0, len(by_hops) - 1),
        congestion=max(cable_loads(traffic, machine, places), default=0),
    )


def cable_loads(traffic: Traffic, machine: HopMachine, places: Places) -> list[int]:
    """Bytes over each cable of `machine.network`, both ways together, on routes of `lowest-id`.

    Raises:
        InvalidInput: The network is not connected.
    """
    network = machine.network
    if not network.connected:
        raise InvalidInput(network.why_apart)
    loads = edge_loads(
        traffic.first,
        traffic.partner,
        traffic.size,
        machine.place_hosts[places],
        network.nodes,
        edge_array(network.edges),
        network.hosts,
    )
    return [-(-load // network.width(index)) for index, load in enumerate(loads)]

"""An assignment of ranks to places with the loads of all cables: behind searches that swap ranks.

The kernel is `searchspace/kernels/mapping/congestion_assignment.hpp`.
"""

from __future__ import annotations

import math

from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.kernels import edge_array
from searchspace.kernels._native import CongestionAssignment
from searchspace.mapping.mapper import Places
from searchspace.traffic import Traffic

__all__ = ["LOWEST_ID", "congestion_assignment", "few_steps", "too_many_routes"]

LOWEST_ID = "lowest-id"
"""The tie rule that congestion is defined with (`searchspace.mapping.metrics`)."""

_MOST_ROUTES = 2**26
"""Pairs of a host and a node between which routes are kept, 4 bytes each."""

_STEPS_A_RANK = 500
_WORK = 1e7
"""What a short annealing may take, in updates of a cable's load."""


def too_many_routes(machine: HopMachine) -> str | None:
    """Says that a network is too large for its routes to be kept, or returns None."""
    pairs = machine.network.hosts * machine.network.nodes
    if pairs <= _MOST_ROUTES:
        return None
    return f"keeps routes for at most {_MOST_ROUTES} pairs of a host and a node, not {pairs}"


def congestion_assignment(
    traffic: Traffic, machine: HopMachine, places: Places, *, tie_rule: str = LOWEST_ID
) -> CongestionAssignment:
    """The assignment of ranks to places, whose measures follow swaps.

    Args:
        traffic: What they exchange.
        machine: Where they run.
        places: The place of each rank, all distinct.
        tie_rule: Which of several shortest routes messages take (`kernels/routes.hpp`).

    Raises:
        InvalidInput: The network is not connected, or too large for its routes to be kept.
    """
    network = machine.network
    if not network.connected:
        raise InvalidInput(network.why_apart)
    reason = too_many_routes(machine)
    if reason is not None:
        raise InvalidInput(f"a search over swaps {reason}")
    return CongestionAssignment(
        traffic.first,
        traffic.partner,
        traffic.size,
        machine.hops,
        network.nodes,
        edge_array(network.edges),
        network.hosts,
        tie_rule,
        [network.width(index) for index in range(len(network.edges))],
        places,
    )


def few_steps(traffic: Traffic, machine: HopMachine, hop_bytes: int) -> int:
    """Steps of a short annealing: a swap moves the messages of two ranks away and back."""
    partners = max(1.0, len(traffic.partner) / traffic.ranks)
    hops = 1.0 + hop_bytes / max(1, traffic.total)
    levels = math.log2(2 + len(machine.network.edges))
    return max(1, int(min(_STEPS_A_RANK * traffic.ranks, _WORK / (4 * partners * hops * levels))))

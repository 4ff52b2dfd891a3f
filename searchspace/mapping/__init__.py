"""Mapping methods: which host runs which rank."""

from __future__ import annotations

from searchspace.errors import InvalidInput
from searchspace.mapping.by_order import BY_ORDER
from searchspace.mapping.mapping import Mapping
from searchspace.mapping.packed import PACKED
from searchspace.mapping.round_robin import ROUND_ROBIN

__all__ = ["MAPPINGS", "Mapping", "map_ranks"]

MAPPINGS: dict[str, Mapping] = {method.name: method for method in (BY_ORDER, PACKED, ROUND_ROBIN)}


def map_ranks(name: str, ranks: int, hosts: int, cores_per_host: int) -> tuple[int, ...]:
    """Places ranks by a method: the host of rank 0, 1, ...

    Raises:
        InvalidInput: There is no such method, or there are more ranks than cores.
    """
    if name not in MAPPINGS:
        raise InvalidInput(f"unknown mapping '{name}'; allowed: {', '.join(MAPPINGS)}")
    if not 1 <= ranks <= hosts * cores_per_host:
        raise InvalidInput(
            f"{ranks} ranks do not fit on {hosts} hosts of {cores_per_host} cores "
            f"(1 to {hosts * cores_per_host} ranks do)"
        )
    return MAPPINGS[name].place(ranks, hosts, cores_per_host)

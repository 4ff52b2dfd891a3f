"""Rank n on host n; consecutive ranks share a host when there are more ranks than hosts."""

from __future__ import annotations

from searchspace.mapping.mapping import Mapping

__all__ = ["BY_ORDER"]


def _place(ranks: int, hosts: int, cores: int) -> tuple[int, ...]:
    block = -(-ranks // hosts)
    return tuple(rank // block for rank in range(ranks))


BY_ORDER = Mapping(
    "by-order", "rank n on host n; blocks of ceil(ranks / hosts) when ranks exceed hosts", _place
)

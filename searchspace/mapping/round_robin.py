"""One rank a host in turn, starting over at host 0."""

from __future__ import annotations

from searchspace.mapping.mapping import Mapping

__all__ = ["ROUND_ROBIN"]


def _place(ranks: int, hosts: int, cores: int) -> tuple[int, ...]:
    return tuple(rank % hosts for rank in range(ranks))


ROUND_ROBIN = Mapping("round-robin", "rank r on host r modulo hosts", _place)

"""All cores of a host, then the next host."""

from __future__ import annotations

from searchspace.mapping.mapping import Mapping

__all__ = ["PACKED"]


def _place(ranks: int, hosts: int, cores: int) -> tuple[int, ...]:
    return tuple(rank // cores for rank in range(ranks))


PACKED = Mapping("packed", "fill all cores of a host before the next", _place)

"""What every mapping method offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Mapping"]


@dataclass(frozen=True)
class Mapping:
    """A method that places ranks on hosts.

    Attributes:
        name: The name in job files.
        description: One line for people.
        place: Takes (ranks, hosts, cores a host) and returns the host of each rank; only called
            when there are enough cores.
    """

    name: str
    description: str
    place: Callable[[int, int, int], tuple[int, ...]]

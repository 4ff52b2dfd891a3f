"""What every topology family offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from searchspace.graph import Graph

__all__ = ["Family"]


class _Generate(Protocol):
    def __call__(self, nodes: int, *, degree: int | None, seed: int) -> Graph: ...


class _Obstacle(Protocol):
    def __call__(self, nodes: int, degree: int | None) -> str | None: ...


@dataclass(frozen=True)
class Family:
    """A topology family.

    Attributes:
        name: The name in job files.
        description: One line for people.
        uses_degree: Whether the machine's degree decides the network.
        uses_seed: Whether the seed decides the network.
        obstacle: Says why there is no such network for a node count and degree, or None.
        generate: Builds the network; only called where `obstacle` is None.
    """

    name: str
    description: str
    uses_degree: bool
    uses_seed: bool
    obstacle: _Obstacle
    generate: _Generate

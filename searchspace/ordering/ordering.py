"""What every ordering method offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from searchspace.graph import Graph

__all__ = ["Ordering"]


class _Order(Protocol):
    def __call__(self, graph: Graph, *, seed: int) -> tuple[int, ...]: ...


@dataclass(frozen=True)
class Ordering:
    """A method that renumbers the nodes of a network without moving a cable.

    Attributes:
        name: The name in job files.
        description: One line for people.
        order: Returns the old id of the new node 0, 1, ...
    """

    name: str
    description: str
    order: _Order

"""Ordering methods: numberings of a network's nodes that bring neighbouring numbers together."""

from __future__ import annotations

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.ordering.hamorder import HAMORDER
from searchspace.ordering.ordering import Ordering
from searchspace.ordering.original import ORIGINAL

__all__ = ["ORDERINGS", "Ordering", "order"]

ORDERINGS: dict[str, Ordering] = {method.name: method for method in (ORIGINAL, HAMORDER)}


def order(name: str, graph: Graph, *, seed: int = 0) -> tuple[int, ...]:
    """Orders the nodes of a network by a method: the old id of the new node 0, 1, ...

    Raises:
        InvalidInput: There is no such method.
    """
    if name not in ORDERINGS:
        raise InvalidInput(f"unknown ordering '{name}'; allowed: {', '.join(ORDERINGS)}")
    return ORDERINGS[name].order(graph, seed=seed)

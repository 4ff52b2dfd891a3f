"""Ordering methods: numberings of a network's nodes that bring neighbouring numbers together."""

from __future__ import annotations

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.ordering.bfs import BFS
from searchspace.ordering.blocks import BLOCKS
from searchspace.ordering.dbg import DBG
from searchspace.ordering.degree import DEGREE
from searchspace.ordering.dfs import DFS
from searchspace.ordering.fiedler import FIEDLER
from searchspace.ordering.gorder import GORDER
from searchspace.ordering.hamiltonian import HAMILTONIAN
from searchspace.ordering.hamorder import HAMORDER
from searchspace.ordering.hubsort import HUBSORT
from searchspace.ordering.ordering import Ordering
from searchspace.ordering.original import ORIGINAL
from searchspace.ordering.rabbit import RABBIT
from searchspace.ordering.rcm import RCM

__all__ = ["ORDERINGS", "Ordering", "order"]

ORDERINGS: dict[str, Ordering] = {
    method.name: method
    for method in (
        ORIGINAL,
        HAMORDER,
        HAMILTONIAN,
        GORDER,
        RABBIT,
        RCM,
        BFS,
        DFS,
        DBG,
        HUBSORT,
        DEGREE,
        FIEDLER,
        BLOCKS,
    )
}


def order(name: str, graph: Graph, *, seed: int = 0, **options: Scalar) -> tuple[int, ...]:
    """Orders the nodes of a network by a method: the old id of the new node 0, 1, ...

    Raises:
        InvalidInput: There is no such method, or it has no such option, or it cannot order this
            network.
    """
    if name not in ORDERINGS:
        raise InvalidInput(f"unknown ordering '{name}'; allowed: {', '.join(ORDERINGS)}")
    return ORDERINGS[name].order(graph, seed=seed, **options)

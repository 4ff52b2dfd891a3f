"""A Hamiltonian cycle of the network: what Hamorder approximates (Hu 2023, section III A)."""

from __future__ import annotations

from typing import Any

from searchspace.graph import Graph
from searchspace.kernels.orderings import hamiltonian_walk
from searchspace.options import Whole
from searchspace.ordering.ordering import Ordering

__all__ = ["HAMILTONIAN", "cable_walk"]


def cable_walk(graph: Graph, *, seed: int, restarts: int) -> tuple[int, ...]:
    """Walks along cables through all nodes, with as few jumps as rotations and restarts find.

    Almost every random regular network of degree 3 or more has a Hamiltonian cycle, and then the
    walk is one. Where none is found, the longest path met comes first and the nodes that it leaves
    out are walked in the same way after it.
    """
    walk: list[int] = []
    left = list(range(graph.nodes))
    while left:
        new_id = {node: index for index, node in enumerate(left)}
        part = Graph(
            len(left),
            tuple((new_id[u], new_id[v]) for u, v in graph.edges if u in new_id and v in new_id),
        )
        walk += [left[index] for index in hamiltonian_walk(part, seed=seed, restarts=restarts)]
        walked = set(walk)
        left = [node for node in left if node not in walked]
    return tuple(walk)


def _order(graph: Graph, *, seed: int, **options: Any) -> tuple[int, ...]:
    return cable_walk(graph, seed=seed, restarts=options["restarts"])


HAMILTONIAN = Ordering(
    "hamiltonian",
    "a Hamiltonian cycle by rotations (Posa 1976): neighbouring numbers share a cable",
    _order,
    (Whole("restarts", "nodes to start from before a cycle is given up", 1, default=100),),
)

"""Hamorder, algorithm 1 of Hu, "Accelerating Parallel Applications Based on Graph Reordering for
Random Network Topologies", IEEE Access 11, 2023."""  # noqa: D205, D209

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["HAMORDER"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    """Walks from node to node, each time to an unvisited one at the least cost.

    A cable costs 1 and any other pair of nodes MAX_INT (the complement network), so the walk takes
    a cable to an unvisited neighbour while there is one and jumps when there is none. The paper
    leaves open where to start and which of several equally cheap nodes to take: we start at node 0
    and take the lowest id. The result is seldom a Hamiltonian cycle of the network.
    """
    visited = [False] * graph.nodes
    first_unvisited = 0
    walk = [0]
    visited[0] = True
    while len(walk) < graph.nodes:
        node = next((n for n in graph.neighbors[walk[-1]] if not visited[n]), None)
        if node is None:
            while visited[first_unvisited]:
                first_unvisited += 1
            node = first_unvisited
        visited[node] = True
        walk.append(node)
    return tuple(walk)


HAMORDER = Ordering(
    "hamorder", "greedy walk along cables, so that neighbouring numbers are near (Hu 2023)", _order
)

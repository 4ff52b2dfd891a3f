"""The kernels of the ordering methods."""

from __future__ import annotations

from collections.abc import Sequence

from searchspace.graph import Graph
from searchspace.kernels import _native, edge_array

__all__ = ["block_order", "gorder", "hamiltonian_walk"]


def hamiltonian_walk(graph: Graph, *, seed: int, restarts: int) -> list[int]:
    """Looks for a Hamiltonian cycle by Posa's rotations ("Hamiltonian circuits in random graphs",
    1976).

    Args:
        graph: The network.
        seed: Of the random choices.
        restarts: How many nodes to start from at most.

    Returns:
        The nodes in the order of the cycle; where none was found, those of the longest path met.
    """  # noqa: D205
    return _native.hamiltonian_walk(graph.nodes, edge_array(graph.edges), seed, restarts)


def gorder(graph: Graph, *, window: int) -> list[int]:
    """Orders nodes so that those with common neighbours come close (Wei et al., SIGMOD 2016).

    Args:
        graph: The network.
        window: How many of the last nodes the next one is compared with.

    Returns:
        The node of the new number 0, 1, ...
    """
    return _native.gorder(graph.nodes, edge_array(graph.edges), window)


def block_order(
    graph: Graph,
    start: Sequence[int],
    *,
    sizes: Sequence[int],
    adjacent_share: float,
    moves: int,
    seed: int,
) -> list[int]:
    """Anneals an order so that blocks of consecutive numbers lie close together.

    Args:
        graph: A connected network.
        start: The first order: the node of the number 0, 1, ...
        sizes: Block sizes whose mean hops are added up; each divides the next.
        adjacent_share: Least share of consecutive numbers that share a cable, where `start` or the
            search attains it.
        moves: Moves of the annealing.
        seed: Of the random choices.

    Returns:
        The best order met: the node of the new number 0, 1, ...
    """
    return _native.block_order(
        graph.nodes, edge_array(graph.edges), list(start), list(sizes), adjacent_share, moves, seed
    )

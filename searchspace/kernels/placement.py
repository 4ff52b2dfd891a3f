"""The kernel that places ranks on hosts by swaps."""

from __future__ import annotations

from collections.abc import Sequence

from searchspace.graph import Graph
from searchspace.kernels import _native, edge_array

__all__ = ["anneal_swaps"]


def anneal_swaps(
    pairs: Sequence[tuple[int, int]],
    weights: Sequence[int],
    network: Graph,
    start: Sequence[int],
    *,
    free_hops: int,
    moves: int,
    seed: int,
) -> tuple[list[int], int]:
    """Lowers the sum over pairs of ranks of weight x (hops above `free_hops`), one rank a host.

    Args:
        pairs: Pairs (u, v) of ranks that exchange messages, u < v, each once.
        weights: Of each pair.
        network: Its nodes are the hosts; connected.
        start: The host of each rank, all distinct.
        free_hops: Hops that cost nothing.
        moves: Moves of the annealing.
        seed: Of the random choices.

    Returns:
        The host of each rank and the cost.
    """
    return _native.anneal_swaps(
        len(start),
        edge_array(pairs),
        list(weights),
        network.nodes,
        edge_array(network.edges),
        list(start),
        free_hops,
        moves,
        seed,
    )

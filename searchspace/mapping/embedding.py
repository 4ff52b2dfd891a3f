"""Embeddings of bounded dilation: ranks that exchange messages are at most k hops apart.

Hu (2023, section IV B and table 2) embeds applications in random networks with dilations of 1 to 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import hop_distances
from searchspace.kernels.placement import anneal_swaps
from searchspace.ordering.hamiltonian import cable_walk

__all__ = ["Embedding", "embed", "embed_closest"]

_TRIES = 4
_WALK_RESTARTS = 100


@dataclass(frozen=True)
class Embedding:
    """A placement of a virtual topology's ranks on the nodes of a network.

    Attributes:
        hosts: The node of each rank, all distinct.
        dilation: The most hops between the hosts of two ranks that are joined in the virtual
            topology (Hu 2023, equations 1 and 2); 0 when none are.
        stretched: How many joined pairs are further apart than was asked for.
    """

    hosts: tuple[int, ...]
    dilation: int
    stretched: int


def embed(
    virtual: Graph,
    network: Graph,
    dilation: int,
    *,
    seed: int = 0,
    effort: int = 4000,
    start: Sequence[int] | None = None,
) -> Embedding:
    """Looks for an embedding of dilation at most `dilation`.

    Annealing by swaps lowers the hops above the bound, summed over the joined pairs, from a
    Hamiltonian walk of the network on (so a ring or a path is embedded at once), or from `start`.

    Args:
        virtual: Ranks, and which of them exchange messages.
        network: Connected, with at least as many nodes.
        dilation: The bound, at least 1.
        seed: Of the random choices.
        effort: Moves for each node, in each of several tries.
        start: The node of each rank to begin with; None for the walk.

    Returns:
        The first embedding within the bound, or the one with the least excess that was met
        (`stretched` > 0).

    Raises:
        InvalidInput: The bound is below 1, there are more ranks than nodes, or the network is not
            connected.
    """
    if dilation < 1:
        raise InvalidInput(f"a dilation is at least 1, not {dilation}", field="dilation")
    if virtual.nodes > network.nodes:
        raise InvalidInput(f"{virtual.nodes} ranks do not fit on {network.nodes} nodes")
    if not network.connected:
        raise InvalidInput("the network is not connected")
    if start is None:
        start = cable_walk(network, seed=seed, restarts=_WALK_RESTARTS)[: virtual.nodes]
    weights = [1] * len(virtual.edges)
    tries = []
    for attempt in range(_TRIES):
        tries.append(
            anneal_swaps(
                virtual.edges,
                weights,
                network,
                start,
                free_hops=dilation,
                moves=effort * network.nodes,
                seed=seed + attempt,
            )
        )
        if tries[-1][1] == 0:
            break
    hosts, _ = min(tries, key=lambda found: found[1])
    ends = np.asarray(virtual.edges, dtype=np.int64).reshape(-1, 2)
    place = np.asarray(hosts)
    hops = hop_distances(network.nodes, network.edges)[place[ends[:, 0]], place[ends[:, 1]]]
    return Embedding(
        hosts=tuple(hosts),
        dilation=int(hops.max(initial=0)),
        stretched=int((hops > dilation).sum()),
    )


def embed_closest(
    virtual: Graph, network: Graph, *, seed: int = 0, effort: int = 4000
) -> Embedding:
    """The embedding of the least dilation that is found: bounds are tried from 1 upwards.

    Raises:
        InvalidInput: As for `embed`.
    """
    bound = 1
    while True:
        found = embed(virtual, network, bound, seed=seed, effort=effort)
        if found.stretched == 0:
            return found
        bound += 1

"""How good a mapping is, in hops: hop-bytes, dilation and congestion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import hop_distances, routes

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True)
class Judgement:
    """Measures of a mapping.

    Attributes:
        hop_bytes: Sum over unordered pairs of ranks of bytes x hops.
        dilation: Longest shortest path of a pair that communicates, hops (Hu 2023, eq. 1-2).
        congestion: Bytes over the most loaded cable, both ways together, with every message on
            the route of tie rule `lowest-id` (Hu 2023, eq. 3-4).
    """

    hop_bytes: int
    dilation: int
    congestion: int


def judge(traffic: NDArray[np.int64], hosts: Sequence[int], network: Graph) -> Judgement:
    """Judge a mapping.

    Args:
        traffic: Bytes that each pair of ranks exchanges both ways, symmetric.
        hosts: The host of each rank, a node of the network.
        network: Hosts and switches and the cables between them.

    Raises:
        InvalidInput: The network is not connected.
    """
    if not network.connected:
        raise InvalidInput("the network is not connected")
    place = np.asarray(hosts, dtype=np.int64)
    rows, columns = np.nonzero(np.triu(traffic, k=1))
    sizes = traffic[rows, columns]
    sources, targets = place[rows], place[columns]
    hops = hop_distances(network.nodes, network.edges)[sources, targets].astype(np.int64)
    paths = routes(network.nodes, network.edges)
    load = np.zeros(len(network.edges), dtype=np.int64)
    for source, target, size in zip(
        sources.tolist(), targets.tolist(), sizes.tolist(), strict=True
    ):
        for edge, _ in paths.path(source, target):
            load[edge] += size
    return Judgement(
        hop_bytes=int((sizes * hops).sum()),
        dilation=int(hops.max(initial=0)),
        congestion=int(load.max(initial=0)),
    )

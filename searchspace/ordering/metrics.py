"""How well a numbering serves tasks on consecutive nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import hop_distances

__all__ = ["TaskDilation", "adjacency", "aspl_of_blocks", "gorder_score", "task_dilation"]


def adjacency(graph: Graph) -> float:
    """The share of consecutive numbers i, i + 1 that share a cable (1.0 for a single node)."""
    consecutive = sum(1 for u, v in graph.edges if v == u + 1)
    return consecutive / (graph.nodes - 1) if graph.nodes > 1 else 1.0


def aspl_of_blocks(graph: Graph) -> dict[int, float]:
    """Mean hop distance of two nodes of one block of consecutive numbers, by block size.

    Blocks are those that jobs of 2, 4, 8, ... nodes get when they are placed one after the other;
    the last size is the whole network. A node count that the size does not divide leaves its rest
    out. Distances are those of the whole network: messages may leave the block.

    Raises:
        InvalidInput: The network is not connected.
    """
    distances = _distances(graph)
    sizes = []
    size = 2
    while size < graph.nodes:
        sizes.append(size)
        size *= 2
    if graph.nodes > 1:
        sizes.append(graph.nodes)
    result = {}
    for size in sizes:
        blocks = range(0, graph.nodes - size + 1, size)
        total = sum(
            int(distances[at : at + size, at : at + size].sum(dtype=np.int64)) for at in blocks
        )
        result[size] = total / (len(blocks) * size * (size - 1))
    return result


def gorder_score(graph: Graph, window: int = 5) -> int:
    """Gorder's objective F: scores of all pairs of numbers at most `window` apart, added up.

    The score of two nodes counts their common neighbours and the arcs between them, two for a
    cable (Wei et al., SIGMOD 2016, equations 1 and 2).
    """
    near = [set(neighbors) for neighbors in graph.neighbors]
    score = 0
    for u in range(graph.nodes):
        for v in range(u + 1, min(u + window + 1, graph.nodes)):
            score += len(near[u] & near[v]) + (2 if v in near[u] else 0)
    return score


@dataclass(frozen=True)
class TaskDilation:
    """How far apart the ranks of a task are that is dispatched by order at a free block.

    The task may start at any node whose block is inside the network (Hu 2023, figures 1 and 2).

    Attributes:
        neighbors_mean: Hops between the hosts of consecutive ranks, mean over ranks and blocks.
        neighbors_worst: The most hops between the hosts of consecutive ranks in any block.
        pairs_mean: Hops between the hosts of two ranks, mean over pairs and blocks (the ASPL of the
            task's embedding).
        pairs_worst: The most hops between the hosts of two ranks in any block.
    """

    neighbors_mean: float
    neighbors_worst: int
    pairs_mean: float
    pairs_worst: int


def task_dilation(graph: Graph, ranks: int) -> TaskDilation:
    """Places a task of `ranks` ranks on every block of consecutive nodes.

    Raises:
        InvalidInput: The network is not connected, or the task has fewer than 2 ranks or more than
            the network has nodes.
    """
    if not 2 <= ranks <= graph.nodes:
        raise InvalidInput(f"a task has 2 to {graph.nodes} ranks here, not {ranks}")
    distances = _distances(graph)
    blocks = list(_blocks(distances, ranks))
    neighbors = np.array([np.diagonal(block, 1) for block in blocks])
    return TaskDilation(
        neighbors_mean=float(neighbors.mean()),
        neighbors_worst=int(neighbors.max()),
        pairs_mean=float(
            np.mean([block.sum(dtype=np.int64) / (ranks * (ranks - 1)) for block in blocks])
        ),
        pairs_worst=max(int(block.max()) for block in blocks),
    )


def _blocks(distances: NDArray[np.uint16], size: int) -> Iterator[NDArray[np.uint16]]:
    for at in range(len(distances) - size + 1):
        yield distances[at : at + size, at : at + size]


def _distances(graph: Graph) -> NDArray[np.uint16]:
    if not graph.connected:
        raise InvalidInput("the network is not connected")
    return hop_distances(graph.nodes, graph.edges)

"""How close the nodes with neighbouring numbers are."""

from __future__ import annotations

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import hop_distances

__all__ = ["aspl_of_blocks"]


def aspl_of_blocks(graph: Graph) -> dict[int, float]:
    """Mean hop distance of two nodes of one block of consecutive numbers, by block size.

    Blocks are those that jobs of 2, 4, 8, ... nodes get when they are placed one after the other;
    the last size is the whole network. A node count that the size does not divide leaves its rest
    out. Distances are those of the whole network: messages may leave the block.

    Raises:
        InvalidInput: The network is not connected.
    """
    if not graph.connected:
        raise InvalidInput("the network is not connected")
    distances = hop_distances(graph.nodes, graph.edges).astype(float)
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
        total = sum(distances[at : at + size, at : at + size].sum() for at in blocks)
        result[size] = float(total) / (len(blocks) * size * (size - 1))
    return result

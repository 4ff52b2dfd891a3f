"""What a network is made of and what it survives: degrees, girth, connectivity, hop distances."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import UNREACHABLE, hop_distances

if TYPE_CHECKING:
    import igraph

__all__ = [
    "attachments",
    "degree_distribution",
    "edge_connectivity",
    "girth",
    "hop_histogram",
    "node_connectivity",
    "switch_network",
]


def _igraph(graph: Graph) -> igraph.Graph:
    import igraph  # takes a second, since it brings matplotlib

    return igraph.Graph(n=graph.nodes, edges=graph.edges)


def switch_network(graph: Graph) -> Graph:
    """The switches and the cables between them: the network itself when it is direct."""
    if not graph.switches:
        return graph
    hosts = graph.hosts
    between = [(u - hosts, v - hosts) for u, v in graph.edges if u >= hosts]
    widths = [graph.width(i) for i, (u, _) in enumerate(graph.edges) if u >= hosts]
    return Graph(
        graph.switches, tuple(between), 0, tuple(widths) if max(widths, default=1) > 1 else ()
    )


def degree_distribution(graph: Graph) -> dict[int, int]:
    """How many nodes have how many neighbours, by number of neighbours."""
    return dict(sorted(Counter(graph.degrees).items()))


def girth(graph: Graph) -> int | None:
    """The length of the shortest cycle, None when there is none."""
    found = _igraph(graph).girth()
    return None if found in (0, float("inf")) else int(found)


def edge_connectivity(graph: Graph) -> int:
    """The fewest cables whose loss can split the network; 0 for one that is split."""
    if graph.nodes < 2:
        return 0
    if graph.widths:
        return int(_igraph(graph).mincut(capacity=list(graph.widths)).value)
    return int(_igraph(graph).edge_connectivity())


def node_connectivity(graph: Graph) -> int:
    """The fewest nodes whose loss can split the network; nodes - 1 where none can.

    Method of Esfahanian and Hakimi (1984): a smallest cut either misses a node v of least degree,
    and then parts it from some other node, or contains v, and then parts two of its neighbours.
    """
    degrees = graph.degrees
    if graph.nodes < 2:
        return 0
    least = min(range(graph.nodes), key=lambda node: degrees[node])
    near = set(graph.neighbors[least])
    pairs = [(least, node) for node in range(graph.nodes) if node != least and node not in near]
    pairs += [
        (u, v)
        for u, v in itertools.combinations(graph.neighbors[least], 2)
        if v not in graph.neighbors[u]
    ]
    network = _igraph(graph)
    best = min(degrees[least], graph.nodes - 1)
    for source, target in pairs:
        if best == 0:
            break
        best = min(best, int(network.vertex_connectivity(source, target, checks=False)))
    return best


def hop_histogram(graph: Graph) -> dict[int, int]:
    """How many unordered pairs of hosts are how many hops apart.

    Raises:
        InvalidInput: The network is not connected, or too large for a matrix of distances.
    """
    if not graph.switches:
        counts = _counted(graph, np.ones(graph.nodes, dtype=np.int64))
        del counts[0]
        return counts
    classes = attachments(graph)
    inner = switch_network(graph)
    if all(len(switches) == 1 for switches in classes):
        weights = np.zeros(graph.switches, dtype=np.int64)
        for (switch,), hosts in classes.items():
            weights[switch] = hosts
        counts = {hops + 2: count for hops, count in _counted(inner, weights).items()}
    else:
        counts = _counted_classes(inner, classes)
    return {hops: count for hops, count in counts.items() if count}


def attachments(graph: Graph) -> dict[tuple[int, ...], int]:
    """How many hosts are plugged into which switches (numbered from 0)."""
    return Counter(
        tuple(switch - graph.hosts for switch in near) for near in graph.neighbors[: graph.hosts]
    )


_MOST_NODES = 16_384


def _matrix(graph: Graph) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
    if graph.nodes > _MOST_NODES:
        raise InvalidInput(f"distances are tabulated for at most {_MOST_NODES} switches")
    return hop_distances(graph.nodes, graph.edges)


def _counted(
    graph: Graph, weights: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> dict[int, int]:
    """Counts the unordered pairs of distinct hosts by distance, `weights` hosts on each node."""
    used = np.flatnonzero(weights)
    counts: Counter[int] = Counter()
    distances = _matrix(graph)
    for node in used.tolist():
        row = distances[node, used]
        far = int(row.max(initial=0))
        if far == UNREACHABLE:
            raise InvalidInput("the network is not connected")
        found = np.bincount(row, weights=weights[used] * weights[node], minlength=far + 1)
        for hops, count in enumerate(found.tolist()):
            counts[hops] += round(count)
    counts[0] -= int(weights.sum())  # a host and itself
    return {hops: count // 2 for hops, count in sorted(counts.items())}


def _counted_classes(graph: Graph, classes: dict[tuple[int, ...], int]) -> dict[int, int]:
    """The same for hosts with several switches: they take the nearest two of theirs."""
    distances = _matrix(graph)
    counts: Counter[int] = Counter()
    for first, second in itertools.combinations_with_replacement(classes, 2):
        hops = int(distances[np.ix_(first, second)].min(initial=UNREACHABLE))
        if hops == UNREACHABLE:
            raise InvalidInput("the network is not connected")
        hosts = classes[first]
        pairs = hosts * (hosts - 1) // 2 if first == second else hosts * classes[second]
        counts[hops + 2] += pairs
    return dict(sorted(counts.items()))

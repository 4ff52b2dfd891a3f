"""Random regular networks: every node has `degree` cables, otherwise anything may be joined.

Method: the pairing process of Steger and Wormald ("Generating random regular graphs quickly",
1999), which keeps the graph simple while it pairs the free ends of cables and is asymptotically
uniform for a fixed degree; then 10 random double-edge swaps an edge, the Markov chain of Cooper,
Dyer and Greenhill ("Sampling regular graphs and a peer-to-peer network", 2007), whose limit is
uniform. A network that is not connected is drawn again, so the distribution is uniform over the
connected ones. Degree 2 is a uniform random ring; a degree above half the nodes is drawn as the
complement of a sparse network.
"""

from __future__ import annotations

import random

from searchspace.graph import Graph
from searchspace.topology.draws import draw_below
from searchspace.topology.family import Family, NetworkSpec

__all__ = ["RANDOM"]

_SWAPS_PER_EDGE = 10


def _obstacle(spec: NetworkSpec) -> str | None:
    nodes, degree = spec.nodes, spec.degree
    if degree is None:
        return "a random network needs the machine's degree"
    if degree >= nodes:
        return f"the degree ({degree}) must be less than the number of nodes ({nodes})"
    if nodes * degree % 2:
        return f"nodes x degree must be even, not {nodes} x {degree}"
    if degree < 2 and nodes > degree + 1:
        return f"no connected network of {nodes} nodes has degree {degree}; use 2 or more"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    nodes, degree = spec.nodes, spec.degree
    if degree is None:
        raise ValueError("a random network needs a degree")
    rng = random.Random(spec.seed)  # noqa: S311 - reproducibility is wanted, not secrecy
    if degree == 2:
        return _ring(nodes, rng)
    while True:
        sparse_degree = min(degree, nodes - 1 - degree)
        adjacency = _paired(nodes, sparse_degree, rng)
        _swap_edges(adjacency, rng)
        if sparse_degree != degree:
            everyone = set(range(nodes))
            adjacency = [everyone - near - {node} for node, near in enumerate(adjacency)]
        graph = Graph.from_edges(nodes, _edges(adjacency))
        if graph.connected:
            return graph


def _edges(adjacency: list[set[int]]) -> list[tuple[int, int]]:
    return [(u, v) for u, near in enumerate(adjacency) for v in sorted(near) if u < v]


def _ring(nodes: int, rng: random.Random) -> Graph:
    """Draws a ring through all nodes in random order (Fisher-Yates)."""
    order = list(range(nodes))
    for last in range(nodes - 1, 0, -1):
        other = draw_below(rng, last + 1)
        order[last], order[other] = order[other], order[last]
    return Graph.from_edges(nodes, zip(order, order[1:] + order[:1], strict=True))


def _paired(nodes: int, degree: int, rng: random.Random) -> list[set[int]]:
    """Pairs free ends at random, never joining a node with itself or the same two nodes twice."""
    while True:
        adjacency: list[set[int]] = [set() for _ in range(nodes)]
        free = [node for node in range(nodes) for _ in range(degree)]
        while free and _pair_once(free, adjacency, rng):
            pass
        if not free:
            return adjacency


def _pair_once(free: list[int], adjacency: list[set[int]], rng: random.Random) -> bool:
    """Joins two suitable free ends; returns whether there were any."""
    for _ in range(len(free) + 10):
        i, j = draw_below(rng, len(free)), draw_below(rng, len(free))
        if _suitable(free[i], free[j], adjacency):
            break
    else:
        # Nearly stuck: look at all pairs, so that the choice among the suitable stays uniform.
        pairs = [
            (i, j)
            for i in range(len(free))
            for j in range(i)
            if _suitable(free[i], free[j], adjacency)
        ]
        if not pairs:
            return False
        i, j = pairs[draw_below(rng, len(pairs))]
    adjacency[free[i]].add(free[j])
    adjacency[free[j]].add(free[i])
    for index in sorted((i, j), reverse=True):
        free[index] = free[-1]
        free.pop()
    return True


def _suitable(u: int, v: int, adjacency: list[set[int]]) -> bool:
    return u != v and v not in adjacency[u]


def _swap_edges(adjacency: list[set[int]], rng: random.Random) -> None:
    """Tries double-edge swaps: a-b, c-d become a-d, c-b where both are new."""
    edges = _edges(adjacency)
    for _ in range(_SWAPS_PER_EDGE * len(edges)):
        i, j = draw_below(rng, len(edges)), draw_below(rng, len(edges))
        (a, b), (c, d) = edges[i], edges[j]
        if rng.random() < 0.5:
            c, d = d, c
        if len({a, b, c, d}) < 4 or d in adjacency[a] or b in adjacency[c]:
            continue
        for u, v in ((a, b), (c, d)):
            adjacency[u].remove(v)
            adjacency[v].remove(u)
        for u, v in ((a, d), (c, b)):
            adjacency[u].add(v)
            adjacency[v].add(u)
        edges[i], edges[j] = (a, d), (c, b)


RANDOM = Family(
    name="random",
    description="random regular network: every node has `degree` cables; chosen by a seed",
    uses_degree=True,
    uses_seed=True,
    obstacle=_obstacle,
    generate=_generate,
)

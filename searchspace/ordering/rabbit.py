"""Rabbit order (Arai et al., "Rabbit order: just-in-time parallel reordering for fast graph
analysis", IPDPS 2016), with one thread."""  # noqa: D205, D209

from __future__ import annotations

from searchspace.graph import Graph
from searchspace.ordering.ordering import Ordering

__all__ = ["RABBIT"]


def _order(graph: Graph, *, seed: int) -> tuple[int, ...]:
    """Merges nodes into communities, then numbers each community's tree depth first.

    Incremental aggregation: by increasing degree, each node is merged into the neighbouring
    community that gains the most modularity; a node that gains none stays the root of its own.
    Ties go to the lowest id. Depth first, a node comes before what was merged into it, latest
    first, so that communities of every level of the hierarchy get consecutive numbers.
    """
    total = max(1, len(graph.edges))
    # Cables between communities, by the two roots; a root's weight counts its cable ends.
    links: list[dict[int, int]] = [dict.fromkeys(near, 1) for near in graph.neighbors]
    weight = list(graph.degrees)
    merged: list[list[int]] = [[] for _ in range(graph.nodes)]
    roots = []
    for node in sorted(range(graph.nodes), key=lambda n: (weight[n], n)):

        def gain(other: int, node: int = node) -> float:
            return links[node][other] / total - weight[node] * weight[other] / (2 * total * total)

        best = max(sorted(links[node]), key=gain, default=None)
        if best is None or gain(best) <= 0:
            roots.append(node)
            continue
        for other, cables in links[node].items():
            del links[other][node]
            if other != best:
                links[best][other] = links[best].get(other, 0) + cables
                links[other][best] = links[best][other]
        links[node] = {}
        weight[best] += weight[node]
        merged[best].append(node)

    found: list[int] = []
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(merged[node])
    return tuple(found)


RABBIT = Ordering("rabbit", "communities get consecutive numbers (Arai et al. 2016)", _order)

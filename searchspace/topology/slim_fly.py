"""Slim Fly: the McKay-Miller-Siran networks of diameter 2, near the Moore bound.

Besta and Hoefler, "Slim Fly: a cost effective low-diameter network topology" (2014), section II:
2 q ** 2 switches of degree (3 q - delta) / 2 for a prime power q = 4 w + delta.
"""

from __future__ import annotations

import functools
import math

from searchspace.graph import Graph
from searchspace.topology.family import Family, NetworkSpec
from searchspace.topology.finite_field import field_of, prime_power

__all__ = ["SLIM_FLY"]

_LARGEST_FIELD = 181
"""65,522 switches: more than any machine of ours has."""


def _order(nodes: int) -> int | None:
    """The order of the field, or None when there is no Slim Fly of that many switches."""
    q = math.isqrt(nodes // 2)
    fits = 2 * q * q == nodes and 3 <= q <= _LARGEST_FIELD and q % 4 != 2
    return q if fits and prime_power(q) else None


def _obstacle(spec: NetworkSpec) -> str | None:
    if _order(spec.nodes) is None:
        return f"{spec.nodes} is not 2 q ** 2 for a prime power q from 3 to {_LARGEST_FIELD}"
    return None


def _generate(spec: NetworkSpec) -> Graph:
    q = _order(spec.nodes)
    if q is None:
        raise ValueError(_obstacle(spec))
    return _network(q)


def _generators(q: int, powers: list[int]) -> tuple[set[int], set[int]]:
    """The differences that join switches of the first and of the second half."""
    if q % 4 == 3:  # delta = -1: the two sets share one pair of opposite elements
        w = (q + 1) // 4
        return (
            {powers[i] for i in (*range(0, 2 * w, 2), *range(2 * w - 1, 4 * w - 2, 2))},
            {powers[i % (q - 1)] for i in (*range(1, 2 * w, 2), *range(2 * w, 4 * w, 2))},
        )
    return set(powers[0 : q - 1 : 2]), set(powers[1 : q - 1 : 2]) | (
        {powers[-1]} if q % 2 == 0 else set()
    )


@functools.lru_cache(maxsize=8)
def _network(q: int) -> Graph:
    field = field_of(q)
    first, second = _generators(q, field.powers())
    edges = set()
    for group in range(q):
        for low in range(q):
            for high in range(low + 1, q):
                difference = field.sums[high][field.negatives[low]]
                if difference in first:
                    edges.add((group * q + low, group * q + high))
                if difference in second:
                    edges.add((q * q + group * q + low, q * q + group * q + high))
    for x in range(q):
        for m in range(q):
            for c in range(q):
                y = field.sums[field.products[m][x]][c]
                edges.add((x * q + y, q * q + m * q + c))
    return Graph.from_edges(2 * q * q, edges)


SLIM_FLY = Family(
    name="slim-fly",
    description="Slim Fly (McKay-Miller-Siran): 2 q ** 2 switches at most 2 hops apart",
    obstacle=_obstacle,
    generate=_generate,
)

"""A network to start from that joins the hosts which exchange most."""

from __future__ import annotations

import random

from searchspace.graph import Graph
from searchspace.topology.family import Wanted
from searchspace.topology.random_regular import RANDOM
from searchspace.traffic import Traffic

__all__ = ["join_heaviest"]


def join_heaviest(traffic: Traffic, degree: int, seed: int) -> Graph:
    """A connected regular network in which the heaviest pairs are neighbours, while cables last.

    Pairs are joined by decreasing volume, equal ones in random order, while both hosts have free
    cables; what is free then is joined at random. Where that leaves a network in parts, cables of
    two parts exchange their ends; where it leaves ends that nothing can be joined with, as in a
    network that is almost complete, the network is a random one.

    Args:
        traffic: Of the hosts.
        degree: Cables a host; such a network has to exist (`check_size`).
        seed: Of the random choices.
    """
    rng = random.Random(seed)  # noqa: S311 - reproducibility is wanted, not secrecy
    near: list[set[int]] = [set() for _ in range(traffic.ranks)]
    one, other, size = (values.tolist() for values in traffic.pairs)
    drawn = [rng.random() for _ in size]
    for pair in sorted(range(len(size)), key=lambda pair: (-size[pair], drawn[pair])):
        if len(near[one[pair]]) < degree and len(near[other[pair]]) < degree:
            _join(near, one[pair], other[pair])
    free = [host for host in range(len(near)) for _ in range(degree - len(near[host]))]
    while free:
        if not _join_free(near, free, rng):
            return RANDOM.generate(Wanted(traffic.ranks, degree, seed))
    while len(parts := _parts(near)) > 1:
        for one, other in zip(parts[::2], parts[1::2], strict=False):
            _exchange_between(near, one, other, rng)
    return Graph.from_edges(len(near), [(u, v) for u in range(len(near)) for v in near[u] if u < v])


def _below(rng: random.Random, limit: int) -> int:
    """Draws from 0 to limit - 1; only `random()` is the same in every release of Python."""
    return int(rng.random() * limit)


def _join(near: list[set[int]], u: int, v: int) -> None:
    near[u].add(v)
    near[v].add(u)


def _part(near: list[set[int]], u: int, v: int) -> None:
    near[u].remove(v)
    near[v].remove(u)


def _join_free(near: list[set[int]], free: list[int], rng: random.Random) -> bool:
    """Uses two free ends, for a cable of their own or in the place of another; false: cannot."""
    for _ in range(4 * len(free)):
        i, j = _below(rng, len(free)), _below(rng, len(free))
        u, v = free[i], free[j]
        if u != v and v not in near[u]:
            _join(near, u, v)
            break
    else:
        i, j = 0, 1
        if not _insert(near, free[i], free[j], rng):
            return False
    for end in sorted((i, j), reverse=True):
        free[end] = free[-1]
        free.pop()
    return True


def _insert(near: list[set[int]], u: int, v: int, rng: random.Random) -> bool:
    """Cuts a cable x-y for u-x and v-y, of which neither is there; u and v may be the same."""
    cables = [(x, y) for x in range(len(near)) for y in sorted(near[x])]
    fit = [
        (x, y) for x, y in cables if not {u, v} & {x, y} and x not in near[u] and y not in near[v]
    ]
    if not fit:
        return False
    x, y = fit[_below(rng, len(fit))]
    _part(near, x, y)
    _join(near, u, x)
    _join(near, v, y)
    return True


def _parts(near: list[set[int]]) -> list[list[int]]:
    """The hosts of each part of the network."""
    seen = [False] * len(near)
    parts = []
    for host in range(len(near)):
        if seen[host]:
            continue
        seen[host] = True
        part = [host]
        for member in part:
            fresh = [other for other in sorted(near[member]) if not seen[other]]
            for other in fresh:
                seen[other] = True
            part += fresh
        parts.append(part)
    return parts


def _exchange_between(
    near: list[set[int]], one: list[int], other: list[int], rng: random.Random
) -> None:
    """Cables a-b and c-d of two parts become a-c and b-d: never more parts than before."""
    a, c = one[_below(rng, len(one))], other[_below(rng, len(other))]
    b, d = (sorted(near[end])[_below(rng, len(near[end]))] for end in (a, c))
    _part(near, a, b)
    _part(near, c, d)
    _join(near, a, c)
    _join(near, b, d)

"""A network to start from that joins the hosts which exchange most."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from searchspace.graph import Graph
from searchspace.topology.draws import draw_below
from searchspace.topology.family import NetworkSpec
from searchspace.topology.random_regular import RANDOM
from searchspace.traffic import Traffic

__all__ = ["join_heaviest"]

_CHUNK = 1 << 16
_GOLDEN = 0x9E3779B97F4A7C15


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
    _join_by_volume(near, traffic, degree, seed)
    free = [host for host in range(len(near)) for _ in range(degree - len(near[host]))]
    while free:
        if not _join_free(near, free, rng):
            return RANDOM.generate(NetworkSpec(traffic.ranks, degree, seed))
    while len(parts := _parts(near)) > 1:
        for one, other in zip(parts[::2], parts[1::2], strict=False):
            _exchange_between(near, one, other, rng)
    return Graph.from_edges(len(near), [(u, v) for u in range(len(near)) for v in near[u] if u < v])


def _join_by_volume(near: list[set[int]], traffic: Traffic, degree: int, seed: int) -> None:
    one, other, size = traffic.pairs
    order = np.lexsort((_scattered(len(size), seed), -size))
    is_open = np.ones(traffic.ranks, dtype=bool)
    for begin in range(0, len(order), _CHUNK):
        pairs = order[begin : begin + _CHUNK]
        pairs = pairs[is_open[one[pairs]] & is_open[other[pairs]]]
        for u, v in zip(one[pairs].tolist(), other[pairs].tolist(), strict=True):
            if is_open[u] and is_open[v]:
                _join(near, u, v)
                for end in (u, v):
                    is_open[end] = len(near[end]) < degree
        if np.count_nonzero(is_open) < 2:
            return


def _scattered(count: int, seed: int) -> NDArray[np.uint64]:
    """A number for each index by which equal ones are in random order: SplitMix64."""
    with np.errstate(over="ignore"):
        mixed = np.arange(count, dtype=np.uint64) + np.uint64(seed % 2**64) * np.uint64(_GOLDEN)
        mixed *= np.uint64(_GOLDEN)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def _join(near: list[set[int]], u: int, v: int) -> None:
    near[u].add(v)
    near[v].add(u)


def _part(near: list[set[int]], u: int, v: int) -> None:
    near[u].remove(v)
    near[v].remove(u)


def _join_free(near: list[set[int]], free: list[int], rng: random.Random) -> bool:
    """Uses two free ends, for a cable of their own or in the place of another; false: cannot."""
    for _ in range(4 * len(free)):
        i, j = draw_below(rng, len(free)), draw_below(rng, len(free))
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
    x, y = fit[draw_below(rng, len(fit))]
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
    a, c = one[draw_below(rng, len(one))], other[draw_below(rng, len(other))]
    b, d = (sorted(near[end])[draw_below(rng, len(near[end]))] for end in (a, c))
    _part(near, a, b)
    _part(near, c, d)
    _join(near, a, c)
    _join(near, b, d)

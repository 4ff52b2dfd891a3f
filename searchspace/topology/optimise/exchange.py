"""Exchanging the ends of two cables, which keeps every degree."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from searchspace.graph import Graph
from searchspace.topology.draws import draw_below
from searchspace.topology.family import NetworkSpec
from searchspace.topology.optimise.search import Problem, check_exchanges_suffice, check_size
from searchspace.topology.random_regular import RANDOM

__all__ = ["Edge", "edge_array", "random_exchange", "starting_graph"]

Edge = tuple[int, int]


def starting_graph(problem: Problem) -> Graph:
    """The network to start from: the given one, or a random regular one.

    Raises:
        InvalidInput: There is no such network, or the problem asks for what only annealing has.
    """
    check_exchanges_suffice(problem)
    if problem.start is not None:
        return problem.start
    check_size(problem.nodes, problem.degree)
    return RANDOM.generate(NetworkSpec(problem.nodes, problem.degree, problem.seed))


def edge_array(edges: list[Edge]) -> NDArray[np.uint32]:
    """Edges as the kernels take them."""
    return np.asarray([(min(edge), max(edge)) for edge in edges], dtype=np.uint32).reshape(-1, 2)


def random_exchange(
    edges: list[Edge], present: set[frozenset[int]], rng: random.Random
) -> tuple[int, int, Edge, Edge] | None:
    """Draws an exchange: which two edges go and which two come; None when these cannot.

    From a-b and c-d come a-c and b-d, or a-d and b-c.
    """
    i, j = draw_below(rng, len(edges)), draw_below(rng, len(edges))
    (a, b), (c, d) = edges[i], edges[j]
    if rng.random() < 0.5:
        c, d = d, c
    if len({a, b, c, d}) < 4 or {frozenset((a, c)), frozenset((b, d))} & present:
        return None
    return i, j, (a, c), (b, d)

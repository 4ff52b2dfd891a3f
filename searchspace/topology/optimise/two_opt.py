"""Hu's Opt-minASPL and Opt-maxBisec: 2-opt until so many exchanges in a row bring nothing.

Hu, "Accelerating Parallel Applications Based on Graph Reordering for Random Network Topologies"
(2023), algorithm 2. Every iteration exchanges two cables of the best network so far and keeps the
result if it is strictly better; after I iterations without success (`Problem.patience`) it ends.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from searchspace.graph import Graph
from searchspace.kernels import _native, aspl_diameter
from searchspace.topology.optimise.exchange import (
    Edge,
    edge_array,
    random_exchange,
    starting_graph,
)
from searchspace.topology.optimise.search import Optimiser, Point, Problem

__all__ = ["TWO_OPT", "TwoOptSearch"]

_MOST_MOVES_A_STEP = 100
_BISECTION_STARTS = 30
_MOST_DRAWS = 10_000  # of an exchange that leaves the network simple


class TwoOptSearch:
    """Algorithm 2 under way. Implements `Search`."""

    def __init__(self, problem: Problem, state: Mapping[str, Any] | None = None) -> None:
        self._problem = problem
        start = starting_graph(problem)
        self._edges: list[Edge] = (
            list(start.edges) if state is None else [(u, v) for u, v in state["edges"]]
        )
        self._moves: int = 0 if state is None else state["moves"]
        self._failures: int = 0 if state is None else state["failures"]
        self._stuck: bool = False if state is None else state["stuck"]
        self._present = {frozenset(edge) for edge in self._edges}
        self._cost = self._evaluate()

    @property
    def finished(self) -> bool:
        """Whether patience or the iterations are used up."""
        limit = self._problem.iterations
        return (
            self._stuck
            or self._failures >= self._problem.patience
            or (limit is not None and self._moves >= limit)
        )

    @property
    def best(self) -> Point:
        """The network of the moment, which is the best one."""
        graph = Graph.from_edges(self._problem.nodes, self._edges)
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
        width = -round(self._cost) if self._problem.objective == "bisection" else None
        return Point(graph, aspl=aspl, diameter=diameter, bisection_width=width)

    @property
    def moves(self) -> int:
        """Networks evaluated so far."""
        return self._moves

    def step(self) -> None:
        """Propose some exchanges, a hundred at most."""
        for _ in range(self._moves_a_step()):
            if self.finished:
                return
            self._propose(random.Random(f"{self._problem.seed}:{self._moves}"))  # noqa: S311

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON."""
        return {
            "edges": [list(edge) for edge in self._edges],
            "moves": self._moves,
            "failures": self._failures,
            "stuck": self._stuck,
        }

    def _moves_a_step(self) -> int:
        """As many as take some tenths of a second, by the sizes alone."""
        ends = 2 * len(self._edges)
        if self._problem.objective == "bisection":
            moves = 2_000_000 // (_BISECTION_STARTS * max(1, ends))
        else:
            moves = 3_000_000_000 // max(1, ends * self._problem.nodes)
        return min(_MOST_MOVES_A_STEP, max(1, moves))

    def _propose(self, rng: random.Random) -> None:
        draws = (random_exchange(self._edges, self._present, rng) for _ in range(_MOST_DRAWS))
        change = next((found for found in draws if found is not None), None)
        if change is None:
            self._stuck = True  # a complete network, or one close to it
            return
        i, j, first, second = change
        before = self._edges[i], self._edges[j]
        self._replace(i, j, first, second)
        cost = self._evaluate()
        self._moves += 1
        if cost < self._cost:
            self._cost = cost
            self._failures = 0
        else:
            self._replace(i, j, *before)
            self._failures += 1

    def _replace(self, i: int, j: int, first: Edge, second: Edge) -> None:
        self._present -= {frozenset(self._edges[i]), frozenset(self._edges[j])}
        self._edges[i], self._edges[j] = first, second
        self._present |= {frozenset(first), frozenset(second)}

    def _evaluate(self) -> float:
        """The sum of distances, or minus the bisection width; infinite when in parts."""
        nodes = self._problem.nodes
        edges = edge_array(self._edges)
        if self._problem.objective == "bisection":
            width, _ = _native.bisect(nodes, edges, _BISECTION_STARTS, self._problem.seed)
            return -float(width) if width else float("inf")
        total, pairs, _ = _native.distance_summary(nodes, edges)
        return float(total) if pairs == nodes * (nodes - 1) else float("inf")


TWO_OPT = Optimiser(
    name="2opt",
    description="local search that keeps strictly better exchanges (Hu 2023, algorithm 2)",
    objectives=("aspl", "bisection"),
    begin=TwoOptSearch,
    resume=TwoOptSearch,
)

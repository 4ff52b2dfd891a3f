"""Networks for one application: annealing by how far its traffic goes and how evenly it spreads.

The cost of a network is the mean of two numbers of hops, weighted by what pairs of hosts exchange:
how far a byte goes, and how far it would go if every cable carried what the fourth power mean of
them carries. The second punishes busy cables; it equals the first where all carry the same. A
hundredth of all volume is added evenly to all pairs, since start-up and barriers reach everyone.

The start joins the pairs that exchange most (`join_heaviest`); moves exchange the ends of two
cables, half of them so that two hosts which exchange something become neighbours. With a rotational
symmetry, as in Deng et al. (2019, section 3.1), the start is a dense circulant network, and every
exchange is made at all turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import edge_array
from searchspace.kernels._native import TrafficAnnealing
from searchspace.topology.optimise.heaviest_pairs import join_heaviest
from searchspace.topology.optimise.search import (
    Optimiser,
    Point,
    Problem,
    check_size,
    check_symmetry,
)
from searchspace.topology.rotation import free_orbits, orbits_of, unroll

__all__ = ["BY_TRAFFIC", "MOST_NODES", "TrafficSearch", "too_symmetric", "usual_moves"]

MOST_NODES = 4096
"""Of an annealing: every move looks at the routes between all pairs."""

_BACKGROUND = 0.01
_FEWEST = 128
_STEP = 1 << 23
"""Pairs of nodes that the evaluations of a step may look at: some tenths of a second."""


def usual_moves(nodes: int) -> int:
    """Moves of an annealing of some CPU seconds; 0 where they are too few to be worth it."""
    moves = min(100_000, (1 << 29) // nodes**2)
    return moves if moves >= _FEWEST else 0


def too_symmetric(nodes: int, degree: int, symmetry: int) -> bool:
    """Whether turns make all cables of each other, so that there is nothing to exchange."""
    bases = nodes // symmetry
    return symmetry > 1 and degree // 2 * bases + degree % 2 * (bases // 2) < 2


class TrafficSearch:
    """One annealing after the other, each as long as the problem says. Implements `Search`.

    With `Problem.iterations` there is one; else each has twice the moves of the one before.
    """

    def __init__(self, problem: Problem, state: Mapping[str, Any] | None = None) -> None:
        traffic = problem.traffic
        if traffic is None:
            raise InvalidInput("a network for traffic needs the traffic", field="traffic")
        if problem.ring == "keep" or problem.diameter_first:
            raise InvalidInput(
                "--ring keep and --diameter-first belong to method sa", field="method"
            )
        self._symmetry = 1 if problem.symmetry is None else problem.symmetry
        if problem.start is None:
            check_size(problem.nodes, problem.degree)
            check_symmetry(problem.nodes, self._symmetry)
        else:
            orbits_of(problem.start, self._symmetry)
        if too_symmetric(problem.nodes, problem.degree, self._symmetry):
            raise InvalidInput(
                f"a symmetry of {self._symmetry} leaves no cables to exchange; use a smaller one",
                field="symmetry",
            )
        if problem.nodes > MOST_NODES:
            raise InvalidInput(
                f"a network for traffic has at most {MOST_NODES} nodes, not {problem.nodes}",
                field="nodes",
            )
        self._problem = problem
        self._traffic = traffic.on_hosts(problem.nodes)
        self._round = 0
        self._done = 0
        self._best: list[tuple[int, int]] | None = None
        self._terms = (0.0, 0.0)
        if state is not None:
            self._round, self._done = state["round"], state["moves"]
            self._best = None if state["best"] is None else [(u, v) for u, v in state["best"]]
            self._terms = (float(state["terms"][0]), float(state["terms"][1]))
        self._annealing = self._begin()
        if state is not None:
            under_way = state["annealing"]
            self._annealing.resume(
                under_way["epoch"],
                np.asarray(under_way["cables"], dtype=np.uint32),
                np.asarray(under_way["best"], dtype=np.uint32),
            )

    @property
    def finished(self) -> bool:
        """Whether the moves are done, or there are none since every host is joined with all."""
        complete = 2 * len(self._annealing.cables) == self._problem.nodes * (
            self._problem.nodes - 1
        )
        return complete or (self._problem.iterations is not None and self._annealing.finished)

    @property
    def best(self) -> Point:
        """The best network of all annealings; `note` says what it does to the traffic."""
        cables, (distance, loaded) = self._best_of_all()
        note = f"{distance:.4f} hops a byte, {loaded:.4f} with the weight of busy cables"
        graph = Graph.from_edges(self._problem.nodes, cables)
        return Point(graph, symmetry=self._symmetry, note=note)

    @property
    def moves(self) -> int:
        """Networks evaluated so far."""
        return self._done + self._annealing.evaluations

    def step(self) -> None:
        """Go on for some tenths of a second at most."""
        if self._annealing.finished:
            self._best, self._terms = self._best_of_all()
            self._done += self._annealing.evaluations
            self._round += 1
            self._annealing = self._begin()
        self._annealing.run(max(1, _STEP // (TrafficAnnealing.EPOCH * self._problem.nodes**2)))

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON."""
        return {
            "round": self._round,
            "moves": self.moves,
            "best": self._best,
            "terms": list(self._terms),
            "annealing": {
                "epoch": self._annealing.epoch,
                "cables": self._annealing.cables.tolist(),
                "best": self._annealing.best.tolist(),
            },
        }

    def _best_of_all(self) -> tuple[list[tuple[int, int]], tuple[float, float]]:
        found = self._annealing.terms
        if self._best is not None and sum(self._terms) <= sum(found):
            return self._best, self._terms
        return [(u, v) for u, v in self._annealing.best.tolist()], found

    def _begin(self) -> TrafficAnnealing:
        problem, seed = self._problem, self._problem.seed + self._round
        planned = max(_FEWEST, usual_moves(problem.nodes)) << min(self._round, 30)
        start = problem.start or self._start(seed)
        one, other, size = self._traffic.pairs
        return TrafficAnnealing(
            problem.nodes,
            self._symmetry,
            edge_array(start.edges),
            one.astype(np.uint32),
            other.astype(np.uint32),
            size.astype(np.float64),
            _BACKGROUND,
            problem.iterations or planned,
            seed % 2**64,
        )

    def _start(self, seed: int) -> Graph:
        nodes, degree = self._problem.nodes, self._problem.degree
        if self._symmetry == 1:
            return join_heaviest(self._traffic, degree, seed)
        return unroll(nodes, self._symmetry, free_orbits(nodes, degree, self._symmetry))


BY_TRAFFIC = Optimiser(
    name="traffic",
    description="annealing by the hops and the busy cables of an application's traffic",
    objectives=("traffic",),
    begin=TrafficSearch,
    resume=TrafficSearch,
)

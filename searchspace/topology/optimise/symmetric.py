"""Wide bisections among many symmetric networks: short annealings, ranked by width.

Networks annealed for a low ASPL under a rotation have much the same ASPL, but bisections that
differ by ten percent and more from one symmetry and one seed to the next. So each move anneals a
new network for some milliseconds (Deng et al. 2019, section 3.1, with symmetries in turn) and
looks for a split that shows it is no wider than the best one. The search for such a split becomes
more thorough as long as there is none; a network that withstands it goes to all verifiers.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import _native, aspl_diameter
from searchspace.topology.bisection import bisection_width
from searchspace.topology.optimise.exchange import edge_array
from searchspace.topology.optimise.sa import starting_orbits, temperatures
from searchspace.topology.optimise.search import Optimiser, Point, Problem, check_size
from searchspace.topology.rotation import Orbit, orbit_array, ring_orbits, unroll

__all__ = ["SYMMETRIC", "SymmetricSearch"]

_MOST_NODES = 1024
_MOST_BASES = 64
"""Base nodes: a lower symmetry costs more and has not given wider bisections."""

_ANNEALING_MOVES = 3000
_VERIFICATIONS = 3
_STARTS = (4, 30, 300, 1500)
"""Starts of our heuristic, each time that the network still seems wider than the best."""


class SymmetricSearch:
    """Short annealings ranked by width, under way. Implements `Search`."""

    def __init__(self, problem: Problem, state: Mapping[str, Any] | None = None) -> None:
        _check(problem)
        self._problem = problem
        self._symmetries = _symmetries(problem)
        self._moves = 0
        if state is not None:
            self._moves = state["moves"]
            self._set_best(
                Graph.from_edges(problem.nodes, [(u, v) for u, v in state["best"]]),
                state["width"],
                state["symmetry"],
            )
        elif problem.start is not None:
            self._set_best(problem.start, bisection_width(problem.start).width, 1)
        else:
            symmetry = self._symmetries[0]
            orbits = starting_orbits(problem.nodes, problem.degree, symmetry)
            graph = unroll(problem.nodes, symmetry, orbits)
            self._set_best(graph, bisection_width(graph).width, symmetry)

    @property
    def finished(self) -> bool:
        """Whether the iterations are used up."""
        limit = self._problem.iterations
        return limit is not None and self._moves >= limit

    @property
    def best(self) -> Point:
        """The network with the widest bisection."""
        return self._best

    @property
    def moves(self) -> int:
        """Networks annealed so far by each thread."""
        return self._moves

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON."""
        return {
            "moves": self._moves,
            "best": [list(edge) for edge in self._best.graph.edges],
            "width": self._width,
            "symmetry": self._best.symmetry,
        }

    def step(self) -> None:
        """Anneal one network a thread, and verify those that seem wider than the best."""
        threads = self._problem.threads
        turns = range(self._moves * threads, (self._moves + 1) * threads)
        if threads == 1:
            found = [self._candidate(turn) for turn in turns]
        else:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(self._candidate, turns))
        for candidate in found:
            if candidate is None:
                continue
            graph, symmetry = candidate
            # One seed's answer can be a percent too wide, and the search would choose just those.
            width = min(
                bisection_width(graph, seed=_VERIFICATIONS * self._moves + again).width
                for again in range(_VERIFICATIONS)
            )
            if width > self._width:
                self._set_best(graph, width, symmetry)
        self._moves += 1

    def _set_best(self, graph: Graph, width: int, symmetry: int) -> None:
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
        self._width = width
        self._best = Point(graph, aspl, diameter, width, symmetry)

    def _candidate(self, turn: int) -> tuple[Graph, int] | None:
        """Anneals a network; None when a split shows that it is no wider than the best."""
        symmetry = self._symmetries[turn % len(self._symmetries)]
        entropy = np.random.SeedSequence([self._problem.seed, turn])
        seed = int(entropy.generate_state(1, np.uint64)[0])
        graph = self._annealed(symmetry, seed)
        edges = edge_array(list(graph.edges))
        for starts in _STARTS:
            width, _ = _native.bisect(graph.nodes, edges, starts, seed)
            if width <= self._width:
                return None
        return graph, symmetry

    def _annealed(self, symmetry: int, seed: int) -> Graph:
        problem = self._problem
        orbits = starting_orbits(problem.nodes, problem.degree, symmetry)
        kept = ring_orbits(problem.nodes, symmetry) if problem.ring == "keep" else []
        fixed = set(kept)
        free = [orbit for orbit in orbits if orbit not in fixed]
        hot, cold = temperatures(problem)
        annealing = _native.Annealing(
            problem.nodes,
            problem.degree,
            symmetry,
            orbit_array(kept),
            orbit_array(free),
            hot,
            cold,
            _ANNEALING_MOVES,
            0,
            0,
            20 * len(free),
            seed,
        )
        annealing.run(_ANNEALING_MOVES // _native.Annealing.EPOCH + 1, 0)
        found: list[Orbit] = [(i, j, turn) for i, j, turn in annealing.best.tolist()]
        return unroll(problem.nodes, symmetry, [*kept, *found])


def _symmetries(problem: Problem) -> list[int]:
    nodes = problem.nodes
    if problem.symmetry is not None:
        return [problem.symmetry]
    chosen = [k for k in range(2, nodes // 2 + 1) if nodes % k == 0 and nodes // k <= _MOST_BASES]
    return [1, *chosen] if nodes <= _MOST_BASES or not chosen else chosen


def _check(problem: Problem) -> None:
    check_size(problem.nodes, problem.degree)
    if problem.nodes > _MOST_NODES:
        raise InvalidInput(
            f"the search for wide bisections takes at most {_MOST_NODES} nodes, "
            f"not {problem.nodes}",
            field="nodes",
        )
    if problem.diameter_first:
        raise InvalidInput("--diameter-first belongs to method sa", field="method")
    if problem.symmetry is not None and (problem.symmetry < 1 or problem.nodes % problem.symmetry):
        raise InvalidInput(
            f"a symmetry of {problem.symmetry} does not divide {problem.nodes} nodes",
            field="symmetry",
        )
    if problem.start is not None and (
        set(problem.start.degrees) != {problem.degree}
        or problem.ring == "keep"
        or (problem.symmetry or 1) > 1
    ):
        raise InvalidInput(
            "method symmetric takes a network to start from only if it is regular, and without "
            "--ring keep and --symmetry; use spectral or 2opt",
            field="method",
        )


SYMMETRIC = Optimiser(
    name="symmetric",
    description="many short annealings of symmetric networks, ranked by the width of bisection",
    objectives=("bisection",),
    begin=SymmetricSearch,
    resume=SymmetricSearch,
    parallel=True,
)

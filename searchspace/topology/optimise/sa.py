"""Simulated annealing of the average shortest path length by exchanging cables.

Deng et al., "Optimal low-latency network topologies for cluster performance enhancement" (2019),
section 3.1: start from a random regular network (`ring="keep"`: one with a Hamiltonian ring whose
cables stay), exchange the ends of two cables, accept by Metropolis' rule, cool geometrically. As
they do for large networks, a rotational symmetry may be imposed. Beyond the paper: when no symmetry
is given, annealings of several symmetries compete for the work (`portfolio`).
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.kernels import _native
from searchspace.topology.optimise.portfolio import (
    Candidate,
    candidates,
    evaluation_seconds,
    rounds,
)
from searchspace.topology.optimise.search import (
    Optimiser,
    Point,
    Problem,
    check_size,
    check_symmetry,
)
from searchspace.topology.rotation import (
    Orbit,
    circulant_orbits,
    orbit_array,
    orbits_of,
    ring_orbits,
    unroll,
)

__all__ = ["SA", "AnnealingSearch", "starting_orbits", "temperatures"]

_LOAD_PER_DEGREE, _COOLING = 40.0, 8.0


def temperatures(problem: Problem) -> tuple[float, float]:
    """The first and the last temperature: hops that a pair of nodes may be farther apart.

    Both are in proportion to the load of a cable, nodes x ASPL / degree: so many routes of a node
    a change of one cable touches.
    """
    hot = problem.nodes * problem.aspl_lower_bound / (_LOAD_PER_DEGREE * problem.degree)
    return hot, hot / _COOLING


PENALTY = 4
"""Hops that a pair beyond the diameter goal costs in addition."""

_STEP_SECONDS = 0.1
_PLANNED = 0.85
"""Part of the time budget that the plan fills; what is left goes to further annealings."""

_MOST_BYTES = 1 << 26
"""Of one bit matrix, of which an annealing keeps three."""


def starting_orbits(nodes: int, degree: int, symmetry: int) -> list[Orbit]:
    """A connected regular network with that symmetry and the ring: the densest circulant.

    Node v is joined with v + 1, v + 2, ..., and with the node opposite when the degree is odd.
    """
    offsets = [*range(1, degree // 2 + 1)] + ([nodes // 2] if degree % 2 else [])
    return circulant_orbits(nodes, symmetry, offsets)


@dataclass
class _Run:
    """One annealing, and what it found."""

    candidate: Candidate
    annealing: _native.Annealing
    goal: int  # the cost that nothing can beat
    arguments: dict[str, Any]  # what makes it again, as JSON

    @property
    def finished(self) -> bool:
        return self.annealing.finished(self.goal)

    def state(self) -> dict[str, Any]:
        return {
            **self.arguments,
            "orbits": self.annealing.orbits.tolist(),
            "best": self.annealing.best.tolist(),
            "epoch": self.annealing.epoch,
            "evaluations": self.evaluations,
        }

    evaluations_before: int = 0

    @property
    def evaluations(self) -> int:
        return self.evaluations_before + self.annealing.evaluations


@dataclass(frozen=True)
class _Result:
    """The best network of one annealing."""

    candidate: Candidate
    aspl: float
    diameter: int
    orbits: list[Orbit]

    def key(self, *, diameter_first: bool) -> tuple[int, float]:
        return (self.diameter if diameter_first else 0, self.aspl)


class AnnealingSearch:
    """Rounds of annealings; see `portfolio`. Implements `Search`."""

    def __init__(self, problem: Problem, state: Mapping[str, Any] | None = None) -> None:
        _check(problem)
        self._problem = problem
        self._candidates = candidates(problem)
        self._plan = rounds(len(self._candidates))
        self._goal = round(problem.aspl_lower_bound * (problem.nodes - 1))  # of one node
        self._round = 0
        self._moves = 0  # of the runs before this round
        self._results: list[_Result] = []  # the best of each candidate
        if state is None:
            self._runs = self._next_runs()
        else:
            self._restore(state)
        self._known_costs: list[int] = [-1] * len(self._runs)
        self._best = self._find_best()

    @property
    def finished(self) -> bool:
        """Whether the plan is done, where moves bound it, or the lower bound is reached."""
        if (
            self._best.aspl is not None
            and self._best.aspl <= self._problem.aspl_lower_bound + 1e-12
        ):
            return True
        return not self._runs

    @property
    def best(self) -> Point:
        """The best network so far."""
        return self._best

    @property
    def moves(self) -> int:
        """Networks evaluated so far."""
        return self._moves + sum(run.evaluations for run in self._runs)

    def step(self) -> None:
        """Run some epochs of as many annealings as there are threads."""
        active = [run for run in self._runs if not run.finished][: self._problem.threads]
        if len(active) == 1:
            self._run(active[0])
        else:
            with ThreadPoolExecutor(max(1, len(active))) as pool:
                list(pool.map(self._run, active))
        self._best = self._find_best()
        if all(run.finished for run in self._runs):
            self._end_round()

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON."""
        return {
            "round": self._round,
            "moves": self._moves,
            "runs": [run.state() for run in self._runs],
            "results": [
                {
                    "symmetry": result.candidate.symmetry,
                    "diameter_goal": result.candidate.diameter_goal,
                    "orbits": [list(orbit) for orbit in result.orbits],
                }
                for result in self._results
            ],
        }

    def _run(self, run: _Run) -> None:
        problem = self._problem
        seconds = evaluation_seconds(problem.nodes, problem.degree, run.candidate.symmetry)
        epochs = max(1, round(_STEP_SECONDS / (seconds * _native.Annealing.EPOCH)))
        run.annealing.run(epochs, run.goal)

    def _next_runs(self) -> list[_Run]:
        """Begins the annealings of the round, all of them before any runs."""
        problem = self._problem
        bounded = problem.iterations is not None
        if bounded and self._round >= len(self._plan):
            return []
        part = self._plan[min(self._round, len(self._plan) - 1)]
        chosen = self._ranked()[: part.survivors]
        runs = []
        for index, candidate in enumerate(chosen):
            for restart in range(part.restarts * problem.threads):
                share = part.share / (len(chosen) * part.restarts)
                if problem.iterations is not None:
                    iterations = int(problem.iterations * share)
                else:
                    cost = evaluation_seconds(problem.nodes, problem.degree, candidate.symmetry)
                    iterations = int(problem.seconds * _PLANNED * share / cost)
                entropy = [problem.seed, self._round, index, restart]
                seed = int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
                runs.append(self._begin(candidate, max(1, iterations), seed))
        return runs

    def _ranked(self) -> list[Candidate]:
        if not self._results:
            return self._candidates
        return [result.candidate for result in self._sorted_results()]

    def _sorted_results(self) -> list[_Result]:
        first = self._problem.diameter_first
        return sorted(self._results, key=lambda result: result.key(diameter_first=first))

    def _begin(self, candidate: Candidate, iterations: int, seed: int) -> _Run:
        arguments: dict[str, Any] = {
            "symmetry": candidate.symmetry,
            "diameter_goal": candidate.diameter_goal,
            "iterations": iterations,
            "seed": seed,
        }
        problem = self._problem
        if problem.start is None:
            orbits = starting_orbits(problem.nodes, problem.degree, candidate.symmetry)
            scramble = 20 * len(orbits)
        else:
            orbits = (
                self._sorted_results()[0].orbits
                if self._results
                else orbits_of(problem.start, candidate.symmetry)
            )
            scramble = 0
        return self._make(arguments, orbits, scramble)

    def _make(self, arguments: dict[str, Any], orbits: list[Orbit], scramble: int) -> _Run:
        problem = self._problem
        symmetry = arguments["symmetry"]
        kept = ring_orbits(problem.nodes, symmetry) if problem.ring == "keep" else []
        fixed = set(kept)
        hot, cold = temperatures(problem)
        annealing = _native.Annealing(
            problem.nodes,
            problem.degree,
            symmetry,
            orbit_array(kept),
            orbit_array(orbit for orbit in orbits if orbit not in fixed),
            hot if problem.start is None else cold,
            cold if problem.start is None else cold / 2,
            arguments["iterations"],
            arguments["diameter_goal"],
            PENALTY if arguments["diameter_goal"] else 0,
            scramble,
            arguments["seed"],
        )
        goal = self._goal * (problem.nodes // symmetry)
        candidate = Candidate(symmetry, arguments["diameter_goal"])
        return _Run(candidate, annealing, goal, arguments)

    def _end_round(self) -> None:
        self._results = self._merged_results()
        self._moves = self.moves
        self._round += 1
        self._runs = self._next_runs()
        self._known_costs = [-1] * len(self._runs)
        self._best = self._find_best()

    def _result(self, run: _Run) -> _Result:
        kept = (
            ring_orbits(self._problem.nodes, run.candidate.symmetry)
            if self._problem.ring == "keep"
            else []
        )
        found: list[Orbit] = [(i, j, turn) for i, j, turn in run.annealing.best.tolist()]
        return self._measured(run.candidate, [*kept, *found])

    def _measured(self, candidate: Candidate, orbits: list[Orbit]) -> _Result:
        problem = self._problem
        network = _native.Distances(
            problem.nodes, problem.degree, candidate.symmetry, orbit_array(orbits)
        )
        total, diameter = network.evaluate()
        pairs = problem.nodes // candidate.symmetry * (problem.nodes - 1)
        return _Result(candidate, total / pairs, diameter, orbits)

    def _merged_results(self) -> list[_Result]:
        first = self._problem.diameter_first
        best: dict[Candidate, _Result] = {}
        for result in [*self._results, *map(self._result, self._runs)]:
            known = best.get(result.candidate)
            if known is None or result.key(diameter_first=first) < known.key(diameter_first=first):
                best[result.candidate] = result
        return list(best.values())

    def _find_best(self) -> Point:
        """The best of all annealings; looks closer only where something has changed."""
        costs = [run.annealing.best_cost for run in self._runs]
        if costs == self._known_costs:
            return self._best
        self._known_costs = costs
        first = self._problem.diameter_first
        best = min(self._merged_results(), key=lambda result: result.key(diameter_first=first))
        graph = unroll(self._problem.nodes, best.candidate.symmetry, best.orbits)
        return Point(
            graph, aspl=best.aspl, diameter=best.diameter, symmetry=best.candidate.symmetry
        )

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._round = state["round"]
        self._moves = state["moves"]
        for result in state["results"]:
            candidate = Candidate(result["symmetry"], result["diameter_goal"])
            self._results.append(
                self._measured(candidate, [(*orbit,) for orbit in result["orbits"]])
            )
        self._runs = []
        for saved in state["runs"]:
            names = ("symmetry", "diameter_goal", "iterations", "seed")
            arguments = {name: saved[name] for name in names}
            run = self._make(arguments, [(*orbit,) for orbit in saved["orbits"]], 0)
            run.annealing.resume(saved["epoch"], orbit_array(saved["best"]))
            run.evaluations_before = saved["evaluations"]
            self._runs.append(run)


def _check(problem: Problem) -> None:
    if problem.start is None:
        check_size(problem.nodes, problem.degree)
    elif problem.ring == "keep":
        ring = {(v, v + 1) for v in range(problem.nodes - 1)} | {(0, problem.nodes - 1)}
        if not ring <= set(problem.start.edges):
            raise InvalidInput(
                "the network to start from does not hold the ring 0, 1, 2, ...; use --ring free",
                field="ring",
            )
    if problem.symmetry is not None:
        check_symmetry(problem.nodes, problem.symmetry)
    least = min(candidate.symmetry for candidate in candidates(problem))
    if problem.nodes // least * problem.nodes // 8 > _MOST_BYTES:
        raise InvalidInput(
            f"annealing {problem.nodes} nodes with a symmetry of {least} needs bit matrices of "
            f"more than {_MOST_BYTES >> 20} MiB; use a larger symmetry or fewer nodes",
            field="nodes",
        )


SA = Optimiser(
    name="sa",
    description="simulated annealing with exchanged cables (Deng 2019), symmetry given or chosen",
    objectives=("aspl",),
    begin=AnnealingSearch,
    resume=AnnealingSearch,
    parallel=True,
)

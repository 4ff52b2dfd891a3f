"""Wide bisections: symmetric networks whose narrow cuts are removed one after the other.

Two sources of networks take turns. Regular covers of small multigraphs, Cayley networks among them,
are drawn from random solvable groups, and their base edges changed one or two at a time
(`searchspace/kernels/network/covers.hpp`): some have bisections that are very hard to beat. And
networks with a rotation are widened (`widening.hpp`): orbits of cables are exchanged such that no
cut of a growing pool of narrow ones becomes narrower, beginning with a network annealed for a low
ASPL (Deng et al. 2019, section 3.1), with a cover or with the best one so far.
Each such run has a symmetry: at first each one in turn, then by turns the one that has gone
farthest and one of the better half. The lengths of those of a symmetry follow the sequence of Luby,
Sinclair and Zuckerman ("Optimal speedup of Las Vegas algorithms", 1993).

The best network of a run, or of those drawn, goes to all verifiers before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import _native, aspl_diameter
from searchspace.topology.bisection import VERIFIERS, Effort, narrowest_cut
from searchspace.topology.optimise.sa import starting_orbits, temperatures
from searchspace.topology.optimise.search import (
    Optimiser,
    Point,
    Problem,
    check_size,
    check_symmetry,
)
from searchspace.topology.rotation import Orbit, orbit_array, orbits_of, ring_orbits, unroll

__all__ = ["SYMMETRIC", "SymmetricSearch"]

_MOST_NODES = 1024
_MOST_BASES = 64
"""Base nodes: a lower symmetry costs more and has not given wider bisections."""

_SLICE_WORK = 1_000_000
"""Ends of cables that the searches of a slice pass over: some tenths of a second."""

_UNIT_SLICES = 6
"""The shortest run, and after how many slices its best network is verified."""

_SURVEY_SLICES = 16
"""Slices of a survey in the time of one of a widening, whose pool costs more than its searches."""

_FIRST_SURVEY = 2
"""How many times longer the first survey is, so that no time goes to verifying poor networks."""

_MOST_PATIENCE = 6
"""Steps without a wider cover, at most, before the widest one is verified, which costs as much."""

_CLOSER_A_STEP = 2
_MOST_CLOSENESS = 36
"""How many times longer than at first a survey looks at what may be a wider cover, by the steps
since it found one: while wider ones come often, a mistake costs less than the look."""

_LAST_LOOKS = 3

_RECORDS = 4
_INHERITED = 0.5
"""Part of the runs that begin with a cover or the best one, if one has the symmetry."""

_ANNEALING_MOVES = (300, 3000, 30_000)

T = TypeVar("T")


@dataclass
class _Run:
    """What decides a widening: with it, it can be made again as it was.

    Attributes:
        symmetry: Order of the rotation.
        orbits: Where it begins.
        seed: Of its random choices.
        first_aim: Width to beat when it began.
        length: Slices that it may take.
        done: Slices that it has taken.
    """

    symmetry: int
    orbits: list[Orbit]
    seed: int
    first_aim: int
    length: int
    done: int = 0


@dataclass
class _Score:
    """How far the runs of a symmetry went: the greatest width at the end of a slice."""

    runs: int = 0
    width: int = 0


@dataclass
class _Record:
    """A cover that was the widest one at its time, the number of the step."""

    width: int
    symmetry: int
    step: int
    orbits: list[Orbit] = field(default_factory=list)
    verified: bool = False


class _Widening:
    """A run under way."""

    def __init__(self, problem: Problem, run: _Run) -> None:
        kept = ring_orbits(problem.nodes, run.symmetry) if problem.ring == "keep" else []
        fixed = set(kept)
        self._problem = problem
        self._kept = kept
        self._aim = run.first_aim
        self._native = _native.Widening(
            problem.nodes,
            problem.degree,
            run.symmetry,
            orbit_array(kept),
            orbit_array(orbit for orbit in run.orbits if orbit not in fixed),
            run.seed,
        )
        self.run = run
        self._promising = False

    @property
    def width(self) -> int:
        """The narrowest cut known of the network at hand."""
        return self._native.width

    @property
    def proposals(self) -> int:
        """Changes proposed so far."""
        return self._native.proposals

    @property
    def over(self) -> bool:
        """Whether the run has its length."""
        return self.run.done >= self.run.length

    def advance(self) -> None:
        """Goes on for a slice."""
        found = self._native.run(_slice_searches(self._problem), self._aim)
        self._promising |= found > self._aim
        self._aim = found
        self.run.done += 1

    def best(self) -> Graph | None:
        """The widest network of the run, if there is one wider than at the last call."""
        if not self._promising:
            return None
        self._promising = False
        orbits = [*self._kept, *_orbit_list(self._native.best)]
        return unroll(self._problem.nodes, self.run.symmetry, orbits)


class SymmetricSearch:
    """The search for a wide bisection under way. Implements `Search`."""

    def __init__(self, problem: Problem, state: Mapping[str, Any] | None = None) -> None:
        _check(problem)
        self._problem = problem
        self._symmetries = _symmetries(problem)
        draws = problem.ring == "free" and problem.start is None
        self._surveys = [
            _native.CoverSurvey(problem.nodes, problem.degree, problem.symmetry or 1)
            for _ in range(problem.threads if draws else 0)
        ]
        self._steps = 0
        self._begun = 0
        self._moves = 0  # of runs that are over, and searches for cuts of covers
        self._scores = {symmetry: _Score() for symmetry in self._symmetries}
        self._records: list[_Record] = []
        self._widenings: list[_Widening] = []
        if state is None:
            symmetry = self._symmetries[0]
            graph = problem.start or unroll(problem.nodes, symmetry, self._first(symmetry))
            self._set_best(
                graph, narrowest_cut(graph, seed=problem.seed, effort="normal"), symmetry
            )
        else:
            self._restore(state)

    @property
    def finished(self) -> bool:
        """Whether the iterations are used up."""
        limit = self._problem.iterations
        return limit is not None and self.moves >= limit * self._problem.threads

    @property
    def best(self) -> Point:
        """The network with the widest bisection."""
        return self._best

    @property
    def moves(self) -> int:
        """Changes proposed, and searches for cuts of covers, so far."""
        return self._moves + sum(widening.proposals for widening in self._widenings)

    def step(self) -> None:
        """Draw covers, or go on with a widening, in every thread."""
        if self._surveys and self._steps % 2 == 0:
            self._survey()
        else:
            self._widen()
        self._steps += 1

    def state(self) -> dict[str, Any]:
        """Everything to go on from, as JSON; runs under way are made again from their start."""
        return {
            "steps": self._steps,
            "begun": self._begun,
            "moves": self._moves,
            "best": [list(edge) for edge in self._best.graph.edges],
            "width": self._width,
            "symmetry": self._best.symmetry,
            "scores": [[k, score.runs, score.width] for k, score in self._scores.items()],
            "records": [asdict(record) for record in self._records],
            "walkers": [
                [[*numbers, lifts.tolist()] for *numbers, lifts in survey.walkers()]
                for survey in self._surveys
            ],
            "runs": [asdict(widening.run) for widening in self._widenings],
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._steps, self._begun = state["steps"], state["begun"]
        self._moves = state["moves"]
        graph = Graph.from_edges(self._problem.nodes, [(u, v) for u, v in state["best"]])
        self._set_best(graph, state["width"], state["symmetry"])
        self._scores = {k: _Score(runs, width) for k, runs, width in state["scores"]}
        self._records = [
            _Record(**record | {"orbits": [(*orbit,) for orbit in record["orbits"]]})
            for record in state["records"]
        ]
        for survey, walkers in zip(self._surveys, state["walkers"], strict=True):
            survey.restore(
                [
                    (bases, group, hops, load, np.asarray(lifts, dtype=np.uint32))
                    for bases, group, hops, load, lifts in walkers
                ]
            )
        for saved in state["runs"]:
            done = saved["done"]
            orbits = [(*orbit,) for orbit in saved["orbits"]]
            widening = _Widening(self._problem, _Run(**saved | {"orbits": orbits, "done": 0}))
            while widening.run.done < done:
                widening.advance()
            self._widenings.append(widening)

    def _set_best(self, graph: Graph, width: int, symmetry: int) -> None:
        aspl, diameter = aspl_diameter(graph.nodes, graph.edges)
        self._width = width
        self._best = Point(graph, aspl, diameter, width, symmetry)

    def _survey(self) -> None:
        problem = self._problem
        aim = self._records[-1].width if self._records else 0
        searches = _slice_searches(problem) * _SURVEY_SLICES
        if self._steps == 0:
            searches *= _FIRST_SURVEY
        idle = self._steps - (self._records[-1].step if self._records else 0)
        closeness = min(_MOST_CLOSENESS, 1 + _CLOSER_A_STEP * idle)

        def survey(thread: int) -> tuple[int, int, Any] | None:
            seed = _seed(problem.seed, 0, self._steps, thread)
            return self._surveys[thread].run(searches, aim, seed, closeness)

        found = [one for one in _in_threads(survey, range(problem.threads)) if one is not None]
        self._moves += searches * problem.threads
        if found:
            width, symmetry, array = max(found, key=lambda one: one[0])
            verified = [record for record in self._records if record.verified]
            record = _Record(width, symmetry, self._steps, _orbit_list(array))
            self._records = [*verified, record][-_RECORDS:]
        # While wider ones may come soon, none of them is worth the time of all verifiers.
        if self._records:
            record = self._records[-1]
            patience = min(max(2, record.step), _MOST_PATIENCE)
            if self._steps - record.step >= patience or self.finished:
                self._verify(record)

    def _verify(self, record: _Record) -> None:
        if record.verified:
            return
        record.verified = True
        if record.width > self._width:
            graph = unroll(self._problem.nodes, record.symmetry, record.orbits)
            record.width = min(record.width, self._take(graph, record.symmetry, self._steps))
        if any(other.width >= record.width for other in self._records[:-1]):
            self._records.pop()

    def _widen(self) -> None:
        while len(self._widenings) < self._problem.threads:
            self._widenings.append(_Widening(self._problem, self._next_run()))
        _in_threads(_Widening.advance, self._widenings)
        for widening in self._widenings:
            score = self._scores[widening.run.symmetry]
            score.width = max(score.width, widening.width)
            if self.finished or widening.run.done % _UNIT_SLICES == 0:
                graph = widening.best()
                if graph is None:
                    continue
                self._take(graph, widening.run.symmetry, widening.run.seed)
        self._moves += sum(widening.proposals for widening in self._widenings if widening.over)
        self._widenings = [widening for widening in self._widenings if not widening.over]

    def _take(self, graph: Graph, symmetry: int, seed: int) -> int:
        """Makes a network the best one if all verifiers say so; returns the width they found."""
        width = _verified_width(graph, seed, self._width)
        if width > self._width:
            self._set_best(graph, width, symmetry)
        return width

    def _next_run(self) -> _Run:
        number = self._begun
        self._begun += 1
        rng = np.random.default_rng([self._problem.seed, 1, number])
        symmetry = self._chosen_symmetry(number)
        score = self._scores[symmetry]
        score.runs += 1
        seed = _seed(self._problem.seed, 2, number)
        starts = [
            unroll(self._problem.nodes, record.symmetry, record.orbits)
            for record in self._records
            if record.symmetry % symmetry == 0
        ]
        if self._best.symmetry % symmetry == 0:
            starts.append(self._best.graph)
        if starts and (self._problem.start is not None or rng.random() < _INHERITED):
            orbits = orbits_of(starts[int(rng.integers(len(starts)))], symmetry)
        else:
            moves = _ANNEALING_MOVES[int(rng.integers(len(_ANNEALING_MOVES)))]
            orbits = _annealed(self._problem, symmetry, moves, seed)
        return _Run(symmetry, orbits, seed, self._width, _UNIT_SLICES * _luby(score.runs))

    def _chosen_symmetry(self, number: int) -> int:
        fresh = [k for k in self._symmetries if not self._scores[k].runs]
        if fresh:
            return fresh[0]
        ranked = sorted(self._symmetries, key=lambda k: -self._scores[k].width)
        better = ranked[: (len(ranked) + 1) // 2]
        return better[number // 2 % len(better)] if number % 2 else ranked[0]

    def _first(self, symmetry: int) -> list[Orbit]:
        return starting_orbits(self._problem.nodes, self._problem.degree, symmetry)


def _verified_width(graph: Graph, seed: int, aim: int) -> int:
    """The least width that verifiers find, at first quickly; the first one of `aim` or less.

    Ours are the strongest ones, so they have the last word, and several times: at (256,8) the
    narrowest cut of a cover, a symmetric one, was found in 3 of 13 times ten thousand starts.
    """
    closest: tuple[Effort, Sequence[str]] = ("thorough", ("local-search", "annealing"))
    looks: tuple[tuple[Effort, Sequence[str]], ...] = (
        ("quick", tuple(VERIFIERS)),
        ("thorough", ("annealing",)),
        ("normal", tuple(VERIFIERS)),
        *(closest,) * _LAST_LOOKS,
    )
    width = graph.nodes * max(graph.degrees)
    for again, (effort, verifiers) in enumerate(looks):
        if width > aim:
            number = (seed + again) % (1 << 31)
            found = narrowest_cut(graph, seed=number, effort=effort, verifiers=verifiers)
            width = min(width, found)
    return width


def _annealed(problem: Problem, symmetry: int, moves: int, seed: int) -> list[Orbit]:
    """A network annealed for a low ASPL."""
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
        moves,
        0,
        0,
        20 * len(free),
        seed,
    )
    annealing.run(moves // _native.Annealing.EPOCH + 1, 0)
    return [*kept, *_orbit_list(annealing.best)]


def _orbit_list(array: Any) -> list[Orbit]:
    return [(i, j, turn) for i, j, turn in array.tolist()]


def _in_threads(work: Callable[[Any], T], items: Sequence[Any]) -> list[T]:
    if len(items) == 1:
        return [work(items[0])]
    with ThreadPoolExecutor(max(1, len(items))) as pool:
        return list(pool.map(work, items))


def _seed(*entropy: int) -> int:
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])


def _slice_searches(problem: Problem) -> int:
    return min(2000, max(50, _SLICE_WORK // (problem.nodes * problem.degree)))


def _luby(number: int) -> int:
    """1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, ... from number 1 on."""
    power = 1
    while 2 * power <= number + 1:
        power *= 2
    return power // 2 if power == number + 1 else _luby(number - power + 1)


def _symmetries(problem: Problem) -> list[int]:
    """Orders of rotations that a widening tries, the high ones first: they cost least."""
    nodes = problem.nodes
    if problem.symmetry is not None:
        return [problem.symmetry]
    if problem.start is not None:
        return [1]
    chosen = [k for k in range(nodes // 2, 1, -1) if nodes % k == 0 and nodes // k <= _MOST_BASES]
    return [*chosen, 1] if nodes <= _MOST_BASES or not chosen else chosen


def _check(problem: Problem) -> None:
    if problem.start is None:
        check_size(problem.nodes, problem.degree)
    elif problem.ring == "keep":
        raise InvalidInput(
            "method symmetric keeps a ring only in networks of its own; use --ring free or "
            "leave out --start",
            field="ring",
        )
    if problem.nodes > _MOST_NODES:
        raise InvalidInput(
            f"the search for wide bisections takes at most {_MOST_NODES} nodes, "
            f"not {problem.nodes}",
            field="nodes",
        )
    if problem.diameter_first:
        raise InvalidInput("--diameter-first belongs to method sa", field="method")
    if problem.symmetry is not None:
        check_symmetry(problem.nodes, problem.symmetry)
    if problem.start is not None:
        orbits_of(problem.start, problem.symmetry or 1)


SYMMETRIC = Optimiser(
    name="symmetric",
    description="covers and symmetric networks whose narrow cuts are removed",
    objectives=("bisection",),
    begin=SymmetricSearch,
    resume=SymmetricSearch,
    parallel=True,
)

"""Which symmetries an annealing tries, and how it divides its work among them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from searchspace.topology.metrics import diameter_lower_bound
from searchspace.topology.optimise.search import Problem

__all__ = ["Candidate", "Round", "candidates", "evaluation_seconds", "rounds"]

_MOST_SYMMETRIES = 6
_EASY_NODES = 128
"""Up to here networks without symmetry are annealed well enough to compete."""


@dataclass(frozen=True)
class Candidate:
    """A kind of annealing to compare with others.

    Attributes:
        symmetry: Order of the rotation.
        diameter_goal: Pairs farther apart are penalised; 0: none are.
    """

    symmetry: int
    diameter_goal: int = 0


@dataclass(frozen=True)
class Round:
    """Annealings of equal length for the candidates that are left.

    Attributes:
        survivors: How many of the best candidates take part.
        restarts: Annealings of each, for every thread.
        share: Part of all the work.
    """

    survivors: int
    restarts: int
    share: float


def candidates(problem: Problem) -> list[Candidate]:
    """Lists the candidates: the symmetries that promise most, each with every diameter goal."""
    if problem.symmetry is not None:
        symmetries = [problem.symmetry]
    elif problem.start is not None:
        symmetries = [1]
    else:
        symmetries = _promising_symmetries(problem.nodes)
    goals = [0]
    if problem.diameter_first:
        bound = diameter_lower_bound(problem.nodes, problem.degree)
        goals = [bound, bound + 1, bound + 2]
    return [Candidate(symmetry, goal) for symmetry in symmetries for goal in goals]


def _promising_symmetries(nodes: int) -> list[int]:
    """The divisors of `nodes` around a sixteenth of it; 1 too for small networks.

    High symmetry makes evaluation cheap and the search space small; too high, and no good network
    is left in it.
    """
    divisors = [k for k in range(2, nodes // 4 + 1) if nodes % k == 0]
    divisors.sort(key=lambda k: (abs(math.log(16 * k / nodes)), k))
    chosen = sorted(divisors[:_MOST_SYMMETRIES])
    return [1, *chosen] if nodes <= _EASY_NODES or not chosen else chosen


def rounds(count: int) -> list[Round]:
    """Plans the rounds: half of the candidates survive each, the last one is annealed long.

    Successive halving of Jamieson and Talwalkar ("Non-stochastic best arm identification and
    hyperparameter optimization", 2016), with half of the work for the final rounds.
    """
    plan = []
    survivors = count
    while survivors > 1:
        plan.append(Round(survivors, 1, 0.0))
        survivors = math.ceil(survivors / 2)
    halvings = len(plan)
    plan = [Round(part.survivors, 1, 0.5 / halvings) for part in plan]
    left = 1.0 - sum(part.share for part in plan)
    return [*plan, Round(1, 1, 0.4 * left), Round(1, 1, 0.6 * left)]


def evaluation_seconds(nodes: int, degree: int, symmetry: int) -> float:
    """Estimates the CPU seconds of a move, from sizes alone, so that plans do not depend on clocks.

    Fitted to an x86 processor of 2.5 GHz; elsewhere the plan takes longer or shorter.
    """
    bases = nodes // symmetry
    vectors = math.ceil(nodes / 8 / 32)
    levels = max(1, diameter_lower_bound(nodes, degree) - 1)
    return 150e-9 + 0.4e-9 * bases * vectors * (degree + 3) * levels

"""Decision tables that differ from another one at a single size, as simulation ranks them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, chosen, is_decided
from searchspace.collectives.equivalents import Target
from workers.decision_tables import Sizes, candidates
from workers.program_rules import (
    Cell,
    Program,
    largest_first,
    options_of,
    program_cells,
    table_of,
)

__all__ = ["NearbyRules"]

_MOST = 3
"""Alternatives in one cell."""
_LONGER = 0.15
"""So much longer than before a program may take by simulation: a cluster may see it otherwise."""
_SAME = 0.001
"""What differs by less is the same algorithm, or nothing waits for these calls."""
_EQUAL = 1e-9
"""So little tells runs apart whose messages are the same."""


class NearbyRules:
    """What may take the place of an algorithm in one cell of a program's decision table.

    Args:
        program: What is simulated, and how often it may be.
        target: The library.
        sizes: What the program calls.
        non_commutative: See `decide_collectives`.
    """

    def __init__(
        self,
        program: Program,
        target: Target,
        sizes: Sizes,
        *,
        non_commutative: Collection[str] | None = None,
    ) -> None:
        self._program = program
        self._target = target
        self._non_commutative = non_commutative
        self.cells = largest_first(program_cells(sizes, target))
        """What is decided for the program, in the order in which it is exchanged."""

    def tables(
        self, table: DecisionTable, cell: Cell, over: Callable[[], bool] = lambda: False
    ) -> Mapping[str, DecisionTable]:
        """Tables that have another algorithm in one cell, and are fast by simulation.

        Args:
            table: What it is held against.
            cell: One of `cells`.
            over: Asked before each simulation whether the time for them is over.

        Returns:
            By algorithm, the fastest first; three at most. None takes 15% longer than the table by
            simulation, and simulation tells each from the table and from the others.

        Raises:
            HamtuneError: The simulator fails.
        """
        chosen_now = {one: chosen(table.get(one[0], ()), *one[1:]) for one in self.cells}
        before = self._seconds(chosen_now)
        if math.isinf(before):  # it cannot be simulated, or not any more
            return {}
        took: dict[str, float] = {}
        for algorithm in self._others(chosen_now[cell], cell):
            if over():
                return {}
            seconds = self._seconds({**chosen_now, cell: algorithm}, before * (1 + _LONGER))
            is_told = abs(seconds / before - 1) > _SAME and not any(
                math.isclose(seconds, other, rel_tol=_EQUAL) for other in took.values()
            )
            if is_told and seconds < math.inf:
                took[algorithm] = seconds
        nearest = sorted(took, key=took.__getitem__)[:_MOST]
        return {algorithm: _said({**chosen_now, cell: algorithm}) for algorithm in nearest}

    def _seconds(self, cells: Mapping[Cell, str], than: float = math.inf) -> float:
        return self._program.seconds(options_of(cells, self._target), than)

    def _others(self, now: str, cell: Cell) -> list[str]:
        """The other algorithms, of several by which the library does the same the first."""
        collective, ranks, _ = cell
        known = {self._in_library(now, cell)}
        others = []
        offered = candidates(self._target, collective, ranks, self._non_commutative)
        for algorithm in (DEFAULT, *offered):
            own = self._in_library(algorithm, cell)
            if own not in known:
                known.add(own)
                others.append(algorithm)
        return others

    def _in_library(self, algorithm: str, cell: Cell) -> object:
        """What the library is told: nothing, or its own algorithm and the settings of it."""
        if algorithm == DEFAULT:
            return None
        found = self._target.equivalent(cell[0], algorithm, (cell[1],))
        return found.algorithm, tuple(sorted((found.settings or {}).items()))


def _said(cells: Mapping[Cell, str]) -> DecisionTable:
    """Their table, without collectives that are left to the library."""
    return {name: rows for name, rows in table_of(cells).items() if is_decided(rows)}

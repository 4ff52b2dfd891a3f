"""Decision tables that differ from another one at a single size, as simulation ranks them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import DecisionTable, chosen
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
"""Alternatives at one size."""
_LONGER = 0.15
"""So much longer than before a program may take by simulation: a cluster may see it otherwise."""
_SAME = 0.001
"""What differs by less is the same algorithm, or nothing waits for these calls."""


class NearbyRules:
    """What may take the place of an algorithm at one size of calls of a program.

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
        self.calls = largest_first(program_cells(sizes, target))
        """The sizes that the program calls, the largest first."""

    def tables(self, table: DecisionTable, call: Cell) -> Mapping[str, DecisionTable]:
        """Tables that have another algorithm at one size, and are fast by simulation.

        Args:
            table: What it is held against.
            call: One of `calls`.

        Returns:
            By algorithm, the fastest first; three at most. None that takes a seventh longer, and
            none that simulation cannot tell from the table.
        """
        cells = {one: chosen(table.get(one[0], ()), *one[1:]) for one in self.calls}
        before = self._program.seconds(options_of(cells, self._target))
        if math.isinf(before):  # no simulation is left
            return {}
        offered = candidates(self._target, *call[:2], self._non_commutative)
        others = {one: {**cells, call: one} for one in (DEFAULT, *offered) if one != cells[call]}
        took = {
            one: self._program.seconds(options_of(other, self._target), before * (1 + _LONGER))
            for one, other in others.items()
        }
        told = [one for one, seconds in took.items() if abs(seconds / before - 1) > _SAME]
        near = sorted((one for one in told if took[one] < math.inf), key=took.__getitem__)
        return {one: _said(others[one]) for one in near[:_MOST]}


def _said(cells: Mapping[Cell, str]) -> DecisionTable:
    """Their table, without collectives that are left to the library."""
    named = {name for (name, _, _), algorithm in cells.items() if algorithm != DEFAULT}
    return {name: rows for name, rows in table_of(cells).items() if name in named}

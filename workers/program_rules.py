"""A decision table for one program: found from what it calls, judged by its simulated time."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from searchspace.collectives import DEFAULT
from searchspace.collectives.decision_table import (
    DecisionTable,
    Line,
    Row,
    between,
    chosen,
    is_decided,
)
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.collectives.equivalents.decisions import decided, selected
from searchspace.errors import HamtuneError
from workers.decision_tables import Sizes, candidates
from workers.simulator_client import Simulator

__all__ = [
    "Cell",
    "Program",
    "ProgramRules",
    "largest_first",
    "options_of",
    "program_cells",
    "rules_for",
    "table_of",
]

_WORTH = 0.001
"""By which part a program has to be faster for a line to change."""

Cell = tuple[str, int, int]
"""A collective, the ranks of its communicator, and the bytes of a call."""


@dataclass(frozen=True)
class ProgramRules:
    """What was found for a program.

    Attributes:
        table: By collective; communicators that it does not use are left to the library.
        default: Simulated seconds where the library chooses.
        single: The same where one algorithm is forced for each collective, the best found.
        single_algorithms: These algorithms.
        single_table: The table that says so.
        seconds: The same under the table.
        evaluations: Simulations of the program.
    """

    table: DecisionTable
    default: float
    single: float
    single_algorithms: Mapping[str, str]
    single_table: DecisionTable
    seconds: float
    evaluations: int


class Program:
    """Simulates a program under choices of algorithms.

    Args:
        simulator: With its traces.
        request: Of the program on a machine, as the simulator takes it.
        target: The library.
        most: Simulations that it may take.
    """

    def __init__(
        self, simulator: Simulator, request: Mapping[str, Any], target: Target, most: int
    ) -> None:
        self._simulator = simulator
        self._request = {**request, "options": {**request["options"], **selected(target.selector)}}
        self._known: dict[frozenset[tuple[str, str]], tuple[float, float]] = {}
        self._most = most
        self.evaluations = 0
        """Simulations so far."""

    def seconds(self, options: Mapping[str, str], than: float = math.inf) -> float:
        """Simulated seconds; infinite where they are not less than `than`, or nothing is left.

        Args:
            options: Of collectives, whose choice is not the library's own.
            than: What has to be undercut.

        Raises:
            HamtuneError: The program fails where the library chooses.
        """
        key = frozenset(options.items())
        seconds, given_up = self._known.get(key, (math.inf, -math.inf))
        if seconds < math.inf or than <= given_up or self.evaluations >= self._most:
            return seconds
        self.evaluations += 1
        request = {**self._request, "options": {**self._request["options"], **options}}
        answer = self._simulator.evaluate(request, cutoff=None if than == math.inf else than)
        if answer["status"] == "completed":
            seconds = float(answer["simulated_time"])
        elif answer["status"] == "failed":
            if not options:
                why = answer["reason"]["message"]
                raise HamtuneError(
                    f"the program cannot be simulated as the library chooses by itself: {why}"
                )
            than = math.inf
        self._known[key] = seconds, than
        return seconds


def rules_for(
    program: Program,
    target: Target,
    sizes: Sizes,
    alone: DecisionTable,
    *,
    non_commutative: Collection[str] | None = None,
    done: Callable[[float], None] = lambda _: None,
) -> ProgramRules:
    """Find a table under which a program is fastest.

    First the best algorithm of each collective is forced, one collective after the other until no
    other is better. The better of that and of the table of single calls is where a descent begins:
    each size that the program calls gets another algorithm where that makes the program faster.

    Args:
        program: What is simulated, and how often it may be.
        target: The library.
        sizes: What the program calls.
        alone: The table of single calls (`decide_collectives`).
        non_commutative: See `decide_collectives`.
        done: Called with the seconds of the best table so far, whenever there is a better one.

    Raises:
        HamtuneError: The program cannot be simulated as the library runs it.
    """
    default = program.seconds({})
    cells = program_cells(sizes, target)
    offered = {
        (name, ranks): candidates(target, name, ranks, non_commutative) for name, ranks, _ in cells
    }
    forced, single = _singles(program, target, cells, offered, default)
    of_singles = {cell: forced.get(cell[0], DEFAULT) for cell in cells}
    of_calls = {cell: chosen(alone.get(cell[0], ()), *cell[1:]) for cell in cells}
    best, seconds = dict.fromkeys(cells, DEFAULT), default
    for start in (of_singles, of_calls):
        took = program.seconds(options_of(start, target), seconds * (1 - _WORTH))
        if took < seconds * (1 - _WORTH):
            best, seconds = start, took
    done(seconds)
    changed = True
    while changed:
        changed = False
        for cell in largest_first(cells):
            for name in (DEFAULT, *offered[cell[:2]]):
                other = {**best, cell: name}
                took = program.seconds(options_of(other, target), seconds * (1 - _WORTH))
                if took < seconds * (1 - _WORTH):
                    best, seconds, changed = other, took, True
                    done(seconds)
    return ProgramRules(
        table=table_of(best),
        default=default,
        single=single,
        single_algorithms=forced,
        single_table=table_of(of_singles),
        seconds=seconds,
        evaluations=program.evaluations,
    )


def program_cells(sizes: Sizes, target: Target) -> list[Cell]:
    """What is decided for a program.

    Args:
        sizes: What the program calls.
        target: The library; a collective at whose size it does not look has one cell of 0 bytes.
    """
    blind = DECISION_FILES[target.format].without_size
    return [
        (name, ranks, size)
        for name, of in sizes.items()
        for ranks in of
        for size in ((0,) if name in blind else of[ranks])
    ]


def largest_first(cells: Iterable[Cell]) -> list[Cell]:
    """The order in which cells are exchanged: by bytes, and last those of collectives without."""
    return sorted(cells, key=lambda cell: (-cell[2], cell[0], cell[1]))


def _singles(
    program: Program,
    target: Target,
    cells: Sequence[Cell],
    offered: Mapping[tuple[str, int], Sequence[str]],
    default: float,
) -> tuple[dict[str, str], float]:
    """The best algorithm to force for each collective, at all sizes, and what that takes."""
    forced: dict[str, str] = {}
    seconds = default
    changed = True
    while changed:
        changed = False
        for name in dict.fromkeys(cell[0] for cell in cells):
            fit = [set(names) for (collective, _), names in offered.items() if collective == name]
            for algorithm in (DEFAULT, *sorted(set.intersection(*fit))):
                other = {**forced, name: algorithm}
                tried = {cell: other.get(cell[0], DEFAULT) for cell in cells}
                took = program.seconds(options_of(tried, target), seconds * (1 - _WORTH))
                if took < seconds * (1 - _WORTH):
                    forced, seconds, changed = other, took, True
    forced = {name: algorithm for name, algorithm in forced.items() if algorithm != DEFAULT}
    return forced, seconds


def options_of(cells: Mapping[Cell, str], target: Target) -> dict[str, str]:
    """The simulator's options for the algorithms of calls."""
    table = table_of(cells)
    return {
        f"smpi/{name}": decided(rows, name, target.selector)
        for name, rows in table.items()
        if is_decided(rows)
    }


def table_of(cells: Mapping[Cell, str]) -> dict[str, tuple[Row, ...]]:
    """The table that says so of calls, and leaves other communicators to the library."""
    found: dict[str, dict[int, list[tuple[int, str]]]] = {}
    for (name, ranks, size), algorithm in sorted(cells.items()):
        found.setdefault(name, {}).setdefault(ranks, []).append((size, algorithm))
    return {name: tuple(_rows(of)) for name, of in found.items()}


def _rows(of: Mapping[int, Sequence[tuple[int, str]]]) -> Iterator[Row]:
    for ranks, calls in of.items():
        lines: list[Line] = []
        before = 0
        for size, algorithm in calls:
            if not lines or algorithm != lines[-1].algorithm:
                lines.append(Line(between(before, size), algorithm))
            before = size
        yield Row(ranks, tuple(lines))
        if ranks + 1 not in of:
            yield Row(ranks + 1, (Line(0, DEFAULT),))

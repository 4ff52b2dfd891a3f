"""`hamtune rules --job J --found`: what a job's search has found, as a library's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.output_files import write_below
from cli.rules_job import Given
from cli.rules_output import row_document, table_lines
from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.by_size import lines_of
from searchspace.collectives.decision_table import DecisionTable, Line, Row
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.errors import InvalidInput

__all__ = ["FoundRules", "found_rules"]


@dataclass(frozen=True)
class FoundRules:
    """What the best configuration of a job says of collectives, for one library.

    Attributes:
        target: The library.
        table: By collective, for communicators of the sizes that the program uses.
        unsaid: The collectives whose algorithms the library's file cannot say.
        left_out: Why the library cannot run others as they were found, by collective: it chooses
            these itself.
    """

    target: Target
    table: DecisionTable
    unsaid: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "target": self.target.name,
            "checked_on": self.target.checked_on,
            "unsaid": list(self.unsaid),
            "left_out": dict(self.left_out),
            "collectives": {
                name: {
                    "description": COLLECTIVES[name].description,
                    "rows": [row_document(self.target, name, row) for row in rows],
                }
                for name, rows in self.table.items()
            },
        }

    @property
    def text(self) -> str:
        """For people."""
        file = DECISION_FILES[self.target.format].name
        unsaid = [f"{name:15} not in {file}: 'hamtune export' forces it" for name in self.unsaid]
        return "\n".join([*table_lines(self.target, self.table), *unsaid])

    def write(self, directory: Path, library: Path | None) -> None:
        """Write the library's file, and what to do with it.

        Raises:
            InvalidInput: They cannot be written, or the library's own file is none.
        """
        file = DECISION_FILES[self.target.format]
        origin = [
            f"Hamtune: algorithms of collectives for {self.target.title},",
            "as the search of a job has found them for its program.",
        ]
        content = file.write(self.table, self.target, origin, library)
        readme = "\n".join([*origin, "", file.name, file.install])
        write_below(directory, file.name, content.encode())
        write_below(directory, "README.txt", readme.encode())


def found_rules(given: Given, target: Target) -> FoundRules:
    """The rules of the best configuration of a job.

    Args:
        given: Of the job (`of_job`).
        target: The library.

    Raises:
        InvalidInput: The library can express none, or the configuration names none.
    """
    traced = given.traced
    assert traced is not None, "a job has a program"
    table: dict[str, tuple[Row, ...]] = {}
    unsaid = []
    left_out = {}
    for name in (name for name in COLLECTIVES if name in traced.calls):
        lines = lines_of(given.configuration, name)
        if lines == (Line(0, DEFAULT),):
            continue
        if name not in DECISION_FILES[target.format].named:
            unsaid.append(name)
            continue
        sizes = sorted({len(group) or traced.ranks for group in traced.calls[name]})
        obstacle = _obstacle(name, lines, sizes, target, traced.non_commutative or frozenset())
        if obstacle is not None:
            left_out[name] = obstacle
            continue
        rows = [Row(size, lines) for size in sizes]
        rows += [Row(n + 1, (Line(0, DEFAULT),)) for n in sizes if n + 1 not in sizes]
        table[name] = tuple(sorted(rows, key=lambda row: row.ranks))
    if not table and not unsaid:
        if left_out:
            raise InvalidInput(
                f"nothing that was found can be written: {'; '.join(left_out.values())}"
            )
        raise InvalidInput("the best configuration leaves all collectives to the library")
    return FoundRules(target, table, tuple(unsaid), left_out)


def _obstacle(
    name: str,
    lines: tuple[Line, ...],
    sizes: list[int],
    target: Target,
    non_commutative: frozenset[str],
) -> str | None:
    """Why a library cannot be told of a collective's algorithms; None where it can."""
    if len(lines) > 1 and name in DECISION_FILES[target.format].without_size:
        return f"{target.title} has one algorithm of {name} for all sizes"
    for algorithm in (line.algorithm for line in lines if line.algorithm != DEFAULT):
        offered = target.equivalent(name, algorithm, sizes)
        reason = offered.note or "is not among its algorithms"
        if offered.kind != "same" or not offered.algorithm:
            return f"{target.title} cannot run {name} by {algorithm}: {reason}"
        obstacle = target.order_obstacle(name, algorithm) if name in non_commutative else None
        if obstacle is not None:
            return f"{name}: {algorithm} {obstacle}"
    return None

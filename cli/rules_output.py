"""What `hamtune rules` answers: files, tables, JSON, a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.decision_figures import gains_of, picture
from cli.output_files import write_below
from cli.rules_asked import Task
from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.decision_table import DecisionTable, Row
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.units import format_duration, format_size

if TYPE_CHECKING:
    from cli.rules_measured import MeasuredRules
    from workers.decision_tables import Decided
    from workers.program_rules import ProgramRules

__all__ = ["Answer", "draw", "in_library", "row_document", "table_lines"]


@dataclass(frozen=True)
class Answer:
    """What was found.

    Attributes:
        task: What was asked.
        decided: By single calls.
        program: For a program; None where there is none.
        measured: What that took on a cluster; None where it did not run on any.
        problem: Why it did not, where it should have.
    """

    task: Task
    decided: Decided
    program: ProgramRules | None = None
    measured: MeasuredRules | None = None
    problem: HamtuneError | None = None

    @property
    def document(self) -> dict[str, Any]:
        """As JSON."""
        document = _document_of(self.task, self.decided, self.program)
        if self.measured is not None:
            document["measured"] = self.measured.document
        return document

    @property
    def text(self) -> str:
        """For people."""
        if self.program is None:
            return _table_text(self.decided)
        these = "these rules" if self.measured is None else "the rules by simulation"
        told = [*table_lines(self.task.target, self.program.table)]
        told.append(_program_line(self.program, these))
        return "\n".join(told if self.measured is None else [*told, self.measured.text])

    def write(self, directory: Path, library: Path | None) -> None:
        """Write the library's file, what to do with it, and all times.

        Raises:
            InvalidInput: They cannot be written, or the library's own file is none.
        """
        _write_files(directory, self.task, self.decided, self.program, library)
        if self.measured is not None:
            write_below(directory, "measured.csv", self.measured.table.encode())


def _document_of(task: Task, decided: Decided, program: ProgramRules | None) -> dict[str, Any]:
    """The answer as JSON; gains are those of single calls, which tell nothing of a program."""
    target = task.target
    table = decided.table if program is None else program.table
    document: dict[str, Any] = {
        "target": target.name,
        "checked_on": target.checked_on,
        "network": task.resolved.machine.network,
        "commutative": task.non_commutative is not None and not task.non_commutative,
        "collectives": {
            name: {
                "description": COLLECTIVES[name].description,
                **(_gained(decided, name) if program is None else {}),
                "rows": [row_document(target, name, row) for row in rows],
            }
            for name, rows in table.items()
        },
        "evaluations": decided.evaluations,
        "cpu_seconds": decided.cpu_seconds,
    }
    if program is not None:
        document["program"] = _of_program(program)
    return document


def _of_program(program: ProgramRules) -> dict[str, Any]:
    return {
        "default_seconds": program.default,
        "single_seconds": program.single,
        "single_algorithms": dict(program.single_algorithms),
        "seconds": program.seconds,
        "evaluations": program.evaluations,
    }


def _gained(decided: Decided, name: str) -> dict[str, Any]:
    """How much faster calls are than by the library's own choice."""
    gains = gains_of(decided.table[name], decided.times[name])
    return {
        "mean_gain": gains.mean,
        "most_gain": dict(zip(("gain", "ranks", "bytes"), gains.most, strict=True)),
        "single": dict(zip(("mean_gain", "algorithm"), gains.single, strict=True)),
    }


def row_document(target: Target, name: str, row: Row) -> dict[str, Any]:
    """A row of a table as JSON."""
    lines = [
        {
            "bytes": line.bytes,
            "algorithm": line.algorithm,
            "library": in_library(target, name, line.algorithm, row.ranks),
        }
        for line in row.lines
    ]
    return {"ranks": row.ranks, "lines": lines}


def in_library(target: Target, collective: str, algorithm: str, ranks: int) -> str | None:
    """What a library calls an algorithm; None for its own choice."""
    if algorithm == DEFAULT:
        return None
    return target.equivalent(collective, algorithm, (ranks,)).algorithm


def _table_text(decided: Decided) -> str:
    """What single calls gain by a table."""
    lines = [f"{'collective':15} {'mean':>7} {'most':>7}  {'at':24} best that is named for all"]
    for name, rows in decided.table.items():
        one = gains_of(rows, decided.times[name])
        most, ranks, size = one.most
        at = f"{format_size(size)}, {ranks} ranks" if most > 1 else ""
        single = "the library's own choice"
        if one.single[1] != DEFAULT:
            single = f"{one.single[1]} ({one.single[0]:.2f} x)"
        lines.append(f"{name:15} {one.mean:6.2f}x {most:6.2f}x  {at:24} {single}")
    cost = f"{decided.evaluations} simulations, {decided.cpu_seconds:.1f} CPU seconds"
    return "\n".join([*lines, f"times as fast as the library's own choice; {cost}"])


def table_lines(target: Target, table: DecisionTable) -> list[str]:
    """What a table says, a line for each size from which on another algorithm holds."""
    lines = []
    for name, rows in table.items():
        for row in rows:
            for line in row.lines:
                begin = f"from {format_size(line.bytes)}"
                if line.algorithm != DEFAULT:
                    library = in_library(target, name, line.algorithm, row.ranks)
                    lines.append(f"{name:15} {row.ranks:6} ranks  {begin:16} {library}")
                elif line.bytes:
                    lines.append(f"{name:15} {row.ranks:6} ranks  {begin:16} the library's choice")
    return lines


def _program_line(program: ProgramRules, these: str) -> str:
    forced = ", ".join(f"{name} {chosen}" for name, chosen in program.single_algorithms.items())
    single = f"{format_duration(program.single)} with one algorithm each ({forced or 'none'})"
    return (
        f"program: {format_duration(program.seconds)} under {these}, {single}, "
        f"{format_duration(program.default)} as the library chooses; "
        f"{program.evaluations} simulations"
    )


def draw(drawing: Path, decided: Decided) -> None:
    """Draw what single calls gain, in a file.

    Raises:
        InvalidInput: There is nothing to draw.
    """
    from cli.figures import render

    gains = {name: gains_of(rows, decided.times[name]) for name, rows in decided.table.items()}
    known = {name: one for name, one in gains.items() if one.cells}
    if not known:
        raise InvalidInput("--picture: there is nothing to draw, no library's choice was simulated")
    drawing.write_bytes(render(picture(known), "svg" if drawing.suffix == ".svg" else "png"))


def _write_files(
    directory: Path,
    task: Task,
    decided: Decided,
    program: ProgramRules | None,
    library: Path | None,
) -> None:
    """Write the library's file, what to do with it, and the times of single calls.

    Raises:
        InvalidInput: They cannot be written, or the library's own file is none.
    """
    target, machine = task.target, task.resolved.machine
    file = DECISION_FILES[target.format]
    checked = f"checked on {target.checked_on}" if target.checked_on else "that release was not run"
    origin = [
        f"Hamtune: algorithms of collectives by size for {target.title} ({checked}),",
        f"simulated on {machine.cores} cores ({machine.model_text}).",
    ]
    if task.non_commutative is not None and not file.is_for_commutative_only:
        reducing = [name for name in target.in_order if name in task.asked]
        named = [name for name in reducing if name not in task.non_commutative]
        if named:
            names = ", ".join(named)
            origin.append(f"{names}: only for operations that commute, as all of MPI's own do.")
    table = decided.table if program is None else program.table
    content = file.write(table, target, origin, library)
    readme = "\n".join([*origin, "", f"{file.name}", file.install])
    readme += "times.csv has what single calls take, in simulated seconds.\n"
    write_below(directory, file.name, content.encode())
    write_below(directory, "README.txt", readme.encode())
    write_below(directory, "times.csv", _times(decided).encode())


def _times(decided: Decided) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["collective", "ranks", "bytes", "algorithm", "state", "seconds"])
    writer.writerows(_cells(decided))
    return buffer.getvalue()


def _cells(decided: Decided) -> Iterator[list[Any]]:
    for state, times in (("completed", decided.times), ("longer", decided.more_than)):
        for name, of in times.items():
            cells = ((ranks, size, at) for ranks, sizes in of.items() for size, at in sizes.items())
            for ranks, size, at in cells:
                for algorithm, seconds in at.items():
                    yield [name, ranks, size, algorithm, state, repr(seconds)]

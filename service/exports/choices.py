"""What a library offers for each collective choice of a result, and how files say so."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from searchspace.collectives import DECIDED_BY_ANOTHER, DEFAULT, Groups, non_commutative_reductions
from searchspace.collectives.by_size import PARAMETER, canonical, lines_of, parameter
from searchspace.collectives.decision_table import DecisionTable, Line, Row
from searchspace.collectives.equivalents import Equivalent, Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.collectives.equivalents.intelmpi_rules import adjustments
from searchspace.configuration import Configuration
from searchspace.units import format_size
from service.exports.result import Result

__all__ = [
    "Choice",
    "by_size",
    "choices",
    "choices_of",
    "communicator_sizes",
    "forced",
    "nearest_configuration",
    "table",
]

_SMPI_DEFAULTS = {"alltoall": "ompi", "bcast": "binomial_tree", "barrier": "ompi_basic_linear"}
"""What SMPI's own choice is, where that is one algorithm or table (SimGrid 3.32)."""


@dataclass(frozen=True)
class Choice:
    """A collective that the application calls.

    One with algorithms by size has a choice for each range.

    Attributes:
        collective: Its name.
        simulated: What was simulated: SMPI's algorithm, or the table that chose one.
        chosen: Whether the configuration names it, rather than leaving it to the table.
        offered: What the library has for it.
        since: The bytes from which on it holds.
        is_by_size: Whether other sizes have another choice.
    """

    collective: str
    simulated: str
    chosen: bool
    offered: Equivalent
    since: int = 0
    is_by_size: bool = False

    @property
    def line(self) -> str:
        """The choice in one line."""
        offered = self.offered
        name = f" {offered.algorithm}" if offered.algorithm else ""
        note = f" ({offered.note})" if offered.note else ""
        sizes = f" from {format_size(self.since)}" if self.is_by_size else ""
        if offered.kind == "nearest" and not name:
            return f"{self.collective}{sizes} = {self.simulated}: {offered.note}"
        return f"{self.collective}{sizes} = {self.simulated}: {offered.kind}{name}{note}"


def communicator_sizes(groups: Groups, ranks: int) -> tuple[int, ...]:
    """The sizes of the communicators that a collective is called on, each once."""
    return tuple(sorted({len(group) or ranks for group in groups}))


def choices(result: Result, target: Target) -> list[Choice]:
    """What a library offers for each collective that the application calls itself."""
    summary = result.application.summary
    found = choices_of(
        result.configuration,
        target,
        result.calls,
        result.application.ranks,
        non_commutative_reductions(summary) or (),
    )
    called = summary["calls"]
    return [choice for choice in found if choice.collective in called]


def choices_of(
    configuration: Configuration,
    target: Target,
    calls: dict[str, Groups],
    ranks: int,
    non_commutative: Collection[str] = (),
) -> list[Choice]:
    """The same of a configuration, for an application that calls these.

    Those that are `non_commutative` reduce by operations that do not commute: the library is not
    forced to what would reduce them wrongly, or what it would run another for.
    """
    mpi = str(configuration.get("mpi", DEFAULT))
    found = []
    for collective, groups in calls.items():
        decider = DECIDED_BY_ANOTHER.get(collective, collective)
        lines = lines_of(configuration, decider)
        unsaid = _unsaid(collective, target) if len(lines) > 1 else None
        for line in lines:
            simulated = mpi if line.algorithm == DEFAULT else line.algorithm
            meant = _SMPI_DEFAULTS.get(collective, DEFAULT) if simulated == DEFAULT else simulated
            offered = target.equivalent(collective, meant, communicator_sizes(groups, ranks))
            if meant == DEFAULT:
                offered = Equivalent("none", note="simulated was SMPI's own; left to the library")
            elif unsaid is not None:
                offered = Equivalent("none", note=f"{unsaid}; left to the library")
            elif collective in non_commutative:
                obstacle = target.order_obstacle(collective, meant)
                if obstacle is not None:
                    offered = Equivalent("none", note=f"{meant} {obstacle}; left to the library")
            is_chosen = line.algorithm != DEFAULT
            found.append(
                Choice(collective, simulated, is_chosen, offered, line.bytes, len(lines) > 1)
            )
    return found


def _unsaid(collective: str, target: Target) -> str | None:
    """Why a library cannot be told of a collective's algorithms by size, or None."""
    file = DECISION_FILES.get(target.format)
    if file is None:
        return f"{target.title} has no public form of ranges"
    if collective in (*file.without_size, *DECIDED_BY_ANOTHER):
        return f"{target.title} has one algorithm for all sizes"
    return None


def by_size(found: Iterable[Choice]) -> DecisionTable:
    """What the library is told by size, as a table for communicators of any size."""
    lines: dict[str, list[Line]] = {}
    for choice in found:
        if choice.is_by_size:
            algorithm = choice.simulated if choice.offered.algorithm else DEFAULT
            lines.setdefault(choice.collective, []).append(Line(choice.since, algorithm))
    return {
        collective: (Row(2, tuple(of)),)
        for collective, of in lines.items()
        if any(line.algorithm != DEFAULT for line in of)
    }


def forced(found: Iterable[Choice], target: Target) -> dict[str, str]:
    """The settings that force the choices, with those that make settings count.

    What depends on the size is left out where only a file can say so.
    """
    listed = list(found)
    settings: dict[str, str] = {}
    for choice in listed:
        if not choice.is_by_size:
            settings |= choice.offered.settings or {}
    ranges = by_size(listed)
    if target.format == "intelmpi":
        settings |= adjustments(ranges, target)
    return {**dict(target.always), **settings} if settings or ranges else {}


def nearest_configuration(result: Result, target: Target) -> Configuration:
    """The configuration that a library can run and that is nearest to the one of a result.

    Each choice that it has not is replaced by the algorithm of SMPI that its nearest one is, or
    left to the library, whose choice SMPI imitates by an old release's table.
    """
    values = {n: v for n, v in result.configuration.items() if not n.startswith(PARAMETER)}
    values |= canonical(result.configuration)
    ranks = result.application.ranks
    values["mpi"] = target.selector
    for choice in choices(result, target):
        decider = DECIDED_BY_ANOTHER.get(choice.collective, choice.collective)
        name = parameter(decider, choice.since)
        sizes = communicator_sizes(result.calls[choice.collective], ranks)
        if choice.offered.kind == "same":
            if choice.simulated == DEFAULT:
                values[name] = _SMPI_DEFAULTS[choice.collective]
            continue
        stand_in = None
        if choice.offered.algorithm:
            stand_in = target.stand_in(choice.collective, choice.simulated, sizes)
        values[name] = stand_in or DEFAULT
    return Configuration(values)


def table(found: Iterable[Choice]) -> list[str]:
    """The choices as lines for people."""
    return [choice.line for choice in found] or ["the application calls no collectives"]

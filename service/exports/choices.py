"""What a library offers for each collective choice of a result, and how files say so."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from searchspace.collectives import DECIDED_BY_ANOTHER, DEFAULT, Groups, non_commutative_reductions
from searchspace.collectives.equivalents import Equivalent, Target
from searchspace.configuration import Configuration
from service.exports.result import Result

__all__ = [
    "Choice",
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

    Attributes:
        collective: Its name.
        simulated: What was simulated: SMPI's algorithm, or the table that chose one.
        chosen: Whether the configuration names it, rather than leaving it to the table.
        offered: What the library has for it.
    """

    collective: str
    simulated: str
    chosen: bool
    offered: Equivalent

    @property
    def line(self) -> str:
        """The choice in one line."""
        offered = self.offered
        name = f" {offered.algorithm}" if offered.algorithm else ""
        note = f" ({offered.note})" if offered.note else ""
        return f"{self.collective} = {self.simulated}: {offered.kind}{name}{note}"


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
    found = []
    for collective, groups in calls.items():
        algorithm = str(configuration.get(_parameter(collective), DEFAULT))
        simulated = algorithm
        if algorithm == DEFAULT:
            simulated = str(configuration.get("mpi", DEFAULT))
        meant = _SMPI_DEFAULTS.get(collective, DEFAULT) if simulated == DEFAULT else simulated
        offered = target.equivalent(collective, meant, communicator_sizes(groups, ranks))
        if meant == DEFAULT:
            offered = Equivalent("none", note="simulated was SMPI's own; left to the library")
        elif collective in non_commutative:
            obstacle = target.order_obstacle(collective, meant)
            if obstacle is not None:
                offered = Equivalent("none", note=f"{meant} {obstacle}; left to the library")
        found.append(Choice(collective, simulated, algorithm != DEFAULT, offered))
    return found


def _parameter(collective: str) -> str:
    """The parameter that decides a collective in SMPI."""
    return f"collectives.{DECIDED_BY_ANOTHER.get(collective, collective)}"


def forced(found: Iterable[Choice], target: Target) -> dict[str, str]:
    """The settings that force the choices, without those that only make settings count."""
    settings: dict[str, str] = {}
    for choice in found:
        settings |= choice.offered.settings or {}
    return settings and {**dict(target.always), **settings}


def nearest_configuration(result: Result, target: Target) -> Configuration:
    """The configuration that a library can run and that is nearest to the one of a result.

    Each choice that it has not is replaced by the algorithm of SMPI that its nearest one is, or
    left to the library, whose choice SMPI imitates by an old release's table.
    """
    values = dict(result.configuration)
    ranks = result.application.ranks
    values["mpi"] = target.selector
    for choice in choices(result, target):
        name = _parameter(choice.collective)
        sizes = communicator_sizes(result.calls[choice.collective], ranks)
        if choice.offered.kind == "same":
            if choice.simulated == DEFAULT:
                values[name] = _SMPI_DEFAULTS[choice.collective]
            continue
        stand_in = None
        if choice.offered.algorithm:
            stand_in = target.stand_in(choice.collective, choice.simulated, sizes)
        if stand_in is None:
            values.pop(name, None)
        else:
            values[name] = stand_in
    return Configuration(values)


def table(found: Iterable[Choice]) -> list[str]:
    """The choices as lines for people."""
    return [choice.line for choice in found] or ["the application calls no collectives"]

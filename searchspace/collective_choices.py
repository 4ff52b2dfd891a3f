"""Which algorithms of collectives a job may choose from, and what stands in the way of others."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from searchspace.choices import MappingChoice
from searchspace.collectives import (
    COLLECTIVES,
    DECIDED_BY_ANOTHER,
    DEFAULT,
    LIBRARIES,
    WORLD,
    Groups,
)
from searchspace.collectives.by_size import (
    NOT_OF_A_RANGE,
    SizeBins,
    dividing,
    parameter,
    thresholds,
)
from searchspace.collectives.decision_table import SIZED
from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.configuration import Value
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import HopMachine, Network
from searchspace.jobspec import ALL, JobSpec
from searchspace.machine import Machine
from searchspace.mapping import map_ranks
from searchspace.parameters import EnumParameter, Parameter
from searchspace.platform import collective_obstacle
from searchspace.space import Constraint
from searchspace.traffic import Traffic

__all__ = ["CollectiveChoices", "differs_from"]


class CollectiveChoices:
    """Reads which algorithms a job may choose, and collects what stands in the way of others.

    Args:
        spec: The job.
        machine: Its machine.
        ranks: Of the application.
        called: What it calls, and on which communicators.
        non_commutative: The reductions that it calls with operations that do not commute.
        sizes: At which sizes it calls what (`sizes_called`); None where that is not known.
    """

    def __init__(
        self,
        spec: JobSpec,
        machine: Machine,
        ranks: int,
        called: Mapping[str, Groups],
        non_commutative: Collection[str],
        sizes: Mapping[str, SizeBins] | None,
    ) -> None:
        self._called = called
        self._non_commutative = non_commutative
        self._sizes = sizes
        self._search = spec.search
        self._ranks = ranks
        self._layouts = {
            choice.mapper: _layout(choice, ranks, machine) for choice in spec.search.mappers
        }
        # For each collective, where it can run at all: pairs of mapping and MPI implementation.
        self._runs: dict[str, set[tuple[str, str]]] = {}
        self._parameters: dict[str, tuple[str, ...]] = {}
        self.constraints: list[Constraint] = []
        self.excluded: list[dict[str, Any]] = []

    def exclude(self, collective: str, value: str | None, reason: str) -> None:
        """Tells that an algorithm of a collective is left out; None: the collective is."""
        self.leave_out(parameter(collective), value, reason)

    def leave_out(self, name: str, value: str | None, reason: str) -> None:
        """Tells that a value of a parameter is left out; None: the parameter is."""
        self.excluded.append({"parameter": name, "value": value, "reason": reason})

    def read(self, collective: str) -> list[Parameter]:
        """Makes the parameters of a collective: one, or one for each range of sizes."""
        begins = self._begins(collective)
        self._parameters[collective] = (
            parameter(collective),
            *(parameter(collective, since) for since in begins),
        )
        values = self._read_values(collective)
        if begins:
            for table in [name for name in values if name in LIBRARIES]:
                self.exclude(collective, table, NOT_OF_A_RANGE)
            values = tuple(name for name in values if name not in LIBRARIES) or (DEFAULT,)
        return [EnumParameter(name, values) for name in self._parameters[collective]]

    def _begins(self, collective: str) -> tuple[int, ...]:
        """Where the ranges of a collective begin but for the first: what divides its calls."""
        asked = self._search.by_size
        if not asked or collective not in SIZED:
            return ()
        by_another = [n for n, by in DECIDED_BY_ANOTHER.items() if by == collective]
        apart = [name for name in by_another if name in self._called]
        called = None if self._sizes is None else self._sizes.get(collective, ())
        if apart:
            reason = f"{apart[0]} runs by the same algorithm, and libraries decide it apart"
            self.leave_out(f"{parameter(collective)} by size", None, reason)
            return ()
        if asked is True:
            return () if called is None or self._has_one(collective) else thresholds(called)
        given = tuple(asked.get(collective, ()))
        kept = given if called is None else dividing(given, called)
        for since in given:
            if since not in kept:
                reason = "the application calls it at no sizes that this would divide"
                self.leave_out(parameter(collective, since), None, reason)
        return kept

    def _has_one(self, collective: str) -> bool:
        """Whether the library has one algorithm of a collective for all sizes."""
        if self._search.target is None:
            return False
        file = DECISION_FILES[TARGETS[self._search.target].format]
        return collective in file.without_size

    def _read_values(self, collective: str) -> tuple[str, ...]:
        """Returns the algorithms of a collective that some configuration can use."""
        requested = self._search.collectives[collective]
        everything: tuple[str, ...] = ()
        if ALL in requested:
            everything = (DEFAULT, *(a.name for a in COLLECTIVES[collective].offered))
        explicit = [name for name in requested if name != ALL]
        if self._search.target is not None:
            everything = self._of_target(
                TARGETS[self._search.target], collective, explicit, everything
            )
        self._runs[collective] = set()
        admitted = tuple(
            name
            for name in dict.fromkeys((*explicit, *everything))
            if self._admit(collective, name, explicit=name in explicit)
        )
        return admitted or tuple(
            n for n in (DEFAULT,) if self._admit(collective, n, explicit=False)
        )

    def _of_target(
        self, target: Target, collective: str, explicit: list[str], everything: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Returns those of all algorithms that a library has too, its own choice with them.

        Raises:
            InvalidInput: The job names one that it has not.
        """
        groups = self._called.get(collective, WORLD)
        sizes = [len(group) or self._ranks for group in groups]
        known = [
            name
            for name in target.expressible(collective, sizes)
            if all(
                target.equivalent(other, name, sizes).kind == "same"
                for other, decider in DECIDED_BY_ANOTHER.items()
                if decider == collective and other in self._called
            )
        ]
        missing = [name for name in explicit if name not in (*known, DEFAULT)]
        if missing:
            found = target.equivalent(collective, missing[0], sizes)
            nearest = f" (nearest: {found.algorithm})" if found.algorithm else ""
            raise InvalidInput(
                f"{target.title} has no '{missing[0]}'{nearest}; allowed: "
                f"{', '.join((DEFAULT, ALL, *known))}",
                field=f"search.collectives.{collective}",
            )
        offered = [name for name in everything if name == DEFAULT or name in known]
        reasons = {name: self._order_obstacle(target, collective, name) for name in offered}
        for name in explicit:
            if reason := self._order_obstacle(target, collective, name):
                raise InvalidInput(f"{name} {reason}", field=f"search.collectives.{collective}")
        for name, reason in reasons.items():
            if reason is not None:
                self.exclude(collective, name, reason)
        return tuple(name for name in offered if reasons[name] is None)

    def _order_obstacle(self, target: Target, collective: str, algorithm: str) -> str | None:
        """Why a library does not run an algorithm for all operations of the program, or None."""
        deciding = (*(n for n, by in DECIDED_BY_ANOTHER.items() if by == collective), collective)
        named = [name for name in deciding if name in self._non_commutative]
        return next(filter(None, (target.order_obstacle(n, algorithm) for n in named)), None)

    def _admit(self, collective: str, algorithm: str, *, explicit: bool) -> bool:
        """Tells whether some configuration can use an algorithm; forbids those that cannot."""
        obstacles: dict[tuple[str, str], str] = {}
        for mapping, mpi in itertools.product(self._layouts, self._search.mpi):
            reason = collective_obstacle(
                collective,
                algorithm,
                mpi,
                self._ranks,
                self._layouts[mapping],
                self._called.get(collective, WORLD),
            )
            if reason is None:
                self._runs[collective].add((mapping, mpi))
            else:
                obstacles[mapping, mpi] = reason
        if algorithm != DEFAULT and len(obstacles) == len(self._layouts) * len(self._search.mpi):
            reason = next(iter(obstacles.values()))
            if explicit:
                raise InvalidInput(reason, field=f"search.collectives.{collective}")
            self.exclude(collective, algorithm, reason.removeprefix(f"{algorithm} "))
            return False
        for (mapping, mpi), reason in obstacles.items():
            self._forbid(collective, algorithm, mapping, mpi, reason)
        return True

    def _forbid(self, collective: str, algorithm: str, mapping: str, mpi: str, reason: str) -> None:
        for name in self._parameters[collective]:
            combination = {name: algorithm, "mapping": mapping}
            if algorithm == DEFAULT:
                combination["mpi"] = mpi
            text = ", ".join(f"{name} = {value}" for name, value in combination.items())
            description = f"{text}: {reason}"
            if all(description != constraint.description for constraint in self.constraints):
                self.constraints.append(Constraint(description, differs_from(combination)))

    def check_some_run(self) -> None:
        """Refuses a space without a single configuration that can be run."""
        pairs = itertools.product(self._layouts, self._search.mpi)
        if not any(all(pair in runs for runs in self._runs.values()) for pair in pairs):
            raise InvalidInput(
                "no configuration of this space can be run: " + self.constraints[0].description,
                field="search",
            )


def _layout(choice: MappingChoice, ranks: int, machine: Machine) -> tuple[int, ...] | None:
    """The host of each rank under a mapper that looks at nothing but their number.

    None where it looks at more, or has options to choose.
    """
    if machine.cores_per_host == 1:
        return tuple(range(ranks))  # which host is whose makes no difference to any rule
    if choice.method is None or choice.method.uses_traffic or choice.method.uses_seed:
        return None
    if choice.options:
        return None
    where = HopMachine.uniform(
        Network(Graph(nodes=machine.nodes, edges=())), machine.cores_per_host
    )
    places = map_ranks(choice.mapper, Traffic.silent(ranks), where)
    return tuple(where.place_hosts[places].tolist())


def differs_from(combination: Mapping[str, Value]) -> Callable[[Mapping[str, Value]], bool]:
    """A rule that forbids one combination of values."""
    return lambda values: any(values.get(name) != value for name, value in combination.items())

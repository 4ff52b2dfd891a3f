"""From a job's description to the space that is searched and the baselines it is judged by."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.collectives import COLLECTIVES, DEFAULT, collectives_of
from searchspace.configuration import Configuration, Value
from searchspace.errors import InvalidInput
from searchspace.jobspec import ALL, JobSpec, TopologyChoice
from searchspace.machine import Machine
from searchspace.mapping import map_ranks
from searchspace.parameters import Condition, EnumParameter, IntegerParameter, Parameter
from searchspace.platform import GIVEN, collective_obstacle
from searchspace.space import Constraint, SearchSpace
from searchspace.topology import FAMILIES, obstacle

__all__ = ["BASELINE_TOPOLOGIES", "BuiltSpace", "build_space"]

BASELINE_TOPOLOGIES = ("mesh-2d", "mesh-3d", "torus-2d", "torus-3d")
"""The networks that every result is compared with, where the nodes allow them."""


@dataclass(frozen=True)
class BuiltSpace:
    """The space of a job.

    Attributes:
        space: What is searched.
        baselines: Labels and configurations to evaluate before the search.
        excluded: What the job asked for and the space leaves out: `parameter`, `value` (None for
            the whole parameter) and `reason`.
    """

    space: SearchSpace
    baselines: list[tuple[str, Configuration]]
    excluded: list[dict[str, Any]]

    def describe(self) -> dict[str, Any]:
        """Describes it as JSON."""
        return {
            **self.space.describe(),
            "baselines": [label for label, _ in self.baselines],
            "excluded": self.excluded,
        }


def build_space(
    spec: JobSpec, ranks: int, used_collectives: Iterable[str] | None = None
) -> BuiltSpace:
    """Builds the space of a job.

    Args:
        spec: The job, with a machine description in it.
        ranks: Of the application.
        used_collectives: What the application calls (the calls of a trace's summary); collectives
            that it never calls are left out. None when that is not known yet: all are kept.

    Raises:
        InvalidInput: The machine cannot run so many ranks or has no such networks, an algorithm
            named by the job cannot work, or nothing is left to choose or to run.
    """
    machine = spec.described_machine
    if not 1 <= ranks <= machine.cores:
        raise InvalidInput(
            f"{ranks} ranks do not fit on {machine.nodes} hosts with {machine.cores_per_host} "
            f"cores each (1 to {machine.cores} ranks do)",
            field="application" if spec.known_ranks is None else "application.ranks",
        )
    topologies = _topologies(spec, machine)
    choices = _CollectiveChoices(spec, machine, ranks)
    called = None if used_collectives is None else collectives_of(used_collectives)
    collectives: list[Parameter] = []
    for name in COLLECTIVES:  # in our order: the order of the job's keys may get lost in storage
        if name not in spec.search.collectives:
            continue
        if called is not None and name not in called:
            choices.exclude(name, None, "the application never calls it")
        else:
            collectives.append(EnumParameter(f"collectives.{name}", choices.read(name)))
    choices.check_some_run()

    space = SearchSpace(
        [
            *topologies,
            EnumParameter("ordering", tuple(spec.search.ordering)),
            EnumParameter("mapping", tuple(spec.search.mapping)),
            EnumParameter("mpi", tuple(spec.search.mpi)),
            *collectives,
        ],
        choices.constraints,
    )
    if space.size == 1:
        raise InvalidInput(
            "nothing to tune: every parameter has one value; use hamtune evaluate", field="search"
        )
    return BuiltSpace(space, _baselines(spec, machine, space), choices.excluded)


def _topologies(spec: JobSpec, machine: Machine) -> list[Parameter]:
    """Makes the parameters `topology` and, where a family uses seeds, `topology_seed`."""
    items = spec.search.topology
    if items is None:
        if machine.given_network is None:
            allowed = ", ".join(FAMILIES)
            raise InvalidInput(f"is required; allowed: {allowed}", field="search.topology")
        items = [GIVEN]
    instances = {
        item.family if isinstance(item, TopologyChoice) else item: (
            item.instances if isinstance(item, TopologyChoice) else 1
        )
        for item in items
    }
    for name in instances:
        reason = _topology_obstacle(name, machine)
        if reason is not None:
            raise InvalidInput(f"{name}: {reason}", field="search.topology")
    parameters: list[Parameter] = [EnumParameter("topology", tuple(instances))]
    seeded = tuple(name for name in instances if name in FAMILIES and FAMILIES[name].uses_seed)
    if seeded:
        last = spec.seed + max(instances[name] for name in seeded) - 1
        condition = Condition("topology", seeded)
        parameters.append(IntegerParameter("topology_seed", spec.seed, last, when=condition))
    return parameters


def _topology_obstacle(name: str, machine: Machine) -> str | None:
    if name == GIVEN:
        return None if machine.given_network else "machine.topology does not give a network"
    return obstacle(name, machine.nodes, degree=machine.random_degree)


class _CollectiveChoices:
    """Reads which algorithms a job may choose, and collects what stands in the way of others."""

    def __init__(self, spec: JobSpec, machine: Machine, ranks: int) -> None:
        self._search = spec.search
        self._ranks = ranks
        self._layouts = {
            name: map_ranks(name, ranks, machine.nodes, machine.cores_per_host)
            for name in spec.search.mapping
        }
        # For each collective, where it can run at all: pairs of mapping and MPI implementation.
        self._runs: dict[str, set[tuple[str, str]]] = {}
        self.constraints: list[Constraint] = []
        self.excluded: list[dict[str, Any]] = []

    def exclude(self, collective: str, value: str | None, reason: str) -> None:
        self.excluded.append(
            {"parameter": f"collectives.{collective}", "value": value, "reason": reason}
        )

    def read(self, collective: str) -> tuple[str, ...]:
        """Returns the algorithms of a collective that some configuration can use."""
        requested = self._search.collectives[collective]
        everything: tuple[str, ...] = ()
        if ALL in requested:
            everything = (DEFAULT, *(a.name for a in COLLECTIVES[collective].offered))
        explicit = [name for name in requested if name != ALL]
        self._runs[collective] = set()
        return tuple(
            name
            for name in dict.fromkeys((*explicit, *everything))
            if self._admit(collective, name, explicit=name in explicit)
        )

    def _admit(self, collective: str, algorithm: str, *, explicit: bool) -> bool:
        """Tells whether some configuration can use an algorithm; forbids those that cannot."""
        obstacles: dict[tuple[str, str], str] = {}
        for mapping, mpi in itertools.product(self._layouts, self._search.mpi):
            reason = collective_obstacle(
                collective, algorithm, mpi, self._ranks, self._layouts[mapping]
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
        combination = {f"collectives.{collective}": algorithm, "mapping": mapping}
        if algorithm == DEFAULT:
            combination["mpi"] = mpi
        text = ", ".join(f"{name} = {value}" for name, value in combination.items())
        description = f"{text}: {reason}"
        if all(description != constraint.description for constraint in self.constraints):
            self.constraints.append(Constraint(description, _differs_from(combination)))

    def check_some_run(self) -> None:
        """Refuses a space without a single configuration that can be run."""
        pairs = itertools.product(self._layouts, self._search.mpi)
        if not any(all(pair in runs for runs in self._runs.values()) for pair in pairs):
            raise InvalidInput(
                "no configuration of this space can be run: " + self.constraints[0].description,
                field="search",
            )


def _differs_from(combination: Mapping[str, str]) -> Callable[[Mapping[str, Value]], bool]:
    return lambda values: any(values.get(name) != value for name, value in combination.items())


def _baselines(
    spec: JobSpec, machine: Machine, space: SearchSpace
) -> list[tuple[str, Configuration]]:
    """Lists the baselines: meshes and tori, then the first network with each MPI implementation."""
    collectives = {p.name: DEFAULT for p in space.parameters if p.name.startswith("collectives.")}
    first = str(space.parameters[0].default)
    entries = [
        (name, name, spec.search.mpi[0])
        for name in BASELINE_TOPOLOGIES
        if obstacle(name, machine.nodes, degree=machine.random_degree) is None
    ]
    entries += [(f"{first} original {mpi}", first, mpi) for mpi in spec.search.mpi]
    baselines: dict[Configuration, str] = {}
    for label, topology, mpi in entries:
        values: dict[str, Any] = {
            "topology": topology,
            "ordering": "original",
            "mapping": "by-order",
            "mpi": mpi,
            **collectives,
        }
        if topology in FAMILIES and FAMILIES[topology].uses_seed:
            values["topology_seed"] = spec.seed
        baselines.setdefault(Configuration(values), label)
    return [(label, configuration) for configuration, label in baselines.items()]

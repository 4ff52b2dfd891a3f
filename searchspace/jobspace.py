"""From a job's description to the space that is searched and the baselines it is judged by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.choices import MappingChoice, TopologyChoice
from searchspace.collectives import COLLECTIVES, DECIDED_BY_ANOTHER, DEFAULT, WORLD, Groups
from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.configuration import Configuration, Scalar, Value
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import Grid, HopMachine, Network, Shape
from searchspace.jobspec import ALL, BuiltinApplication, JobSpec
from searchspace.machine import Machine
from searchspace.mapping import map_ranks
from searchspace.mapping.permutation import PERMUTATION
from searchspace.parameters import (
    Condition,
    EnumParameter,
    IntegerParameter,
    Parameter,
    PlacementParameter,
)
from searchspace.platform import GIVEN, MAPPER_OPTIONS, collective_obstacle
from searchspace.space import Constraint, SearchSpace
from searchspace.topology import FAMILIES, obstacle
from searchspace.traffic import Traffic
from searchspace.transport import (
    PROTOCOL,
    SETTINGS,
    changed_settings,
    offered_values,
    setting_obstacle,
)

__all__ = ["BASELINE_TOPOLOGIES", "BuiltSpace", "build_space"]

BASELINE_TOPOLOGIES = ("mesh-2d", "mesh-3d", "torus-2d", "torus-3d")
"""The networks that every result is compared with, where the nodes allow them."""

_MOST_COMBINATIONS = 1000


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
    spec: JobSpec,
    ranks: int,
    used_collectives: Mapping[str, Groups] | None = None,
    non_commutative: Collection[str] | None = None,
) -> BuiltSpace:
    """Builds the space of a job.

    Args:
        spec: The job, with a machine description in it.
        ranks: Of the application.
        used_collectives: What the application calls, and on which communicators
            (`called_collectives`); collectives that it never calls are left out, and so are
            algorithms that one of the communicators does not allow. None when that is not known
            yet: all are kept.
        non_commutative: The reductions that the application calls with operations that do not
            commute (`non_commutative_reductions`); algorithms that the job's target does not run
            for these are left out. None where that is not known: none are.

    Raises:
        InvalidInput: The machine cannot run so many ranks or has no such networks, an algorithm
            named by the job cannot work, or nothing is left to choose or to run.
    """
    machine = spec.described_machine
    if not 1 <= ranks <= machine.cores:
        raise InvalidInput(
            f"{ranks} ranks do not fit on {machine.nodes} hosts with {machine.cores_per_host} "
            f"cores each (1 to {machine.cores} ranks do)",
            field="application.ranks"
            if isinstance(spec.application, BuiltinApplication)
            else "application",
        )
    topologies, impossible = _topologies(spec, machine)
    called = used_collectives or {}
    choices = _CollectiveChoices(spec, machine, ranks, called, non_commutative or ())
    collectives: list[Parameter] = []
    for name in COLLECTIVES:  # in our order: the order of the job's keys may get lost in storage
        if name not in spec.search.collectives:
            continue
        if used_collectives is not None and name not in used_collectives:
            # A target asks for all collectives; which are not called is no news then.
            if spec.search.target is None:
                choices.exclude(name, None, "the application never calls it")
        else:
            collectives.append(EnumParameter(f"collectives.{name}", choices.read(name)))
    choices.check_some_run()
    settings = _settings(spec, machine, choices)

    space = SearchSpace(
        [
            *topologies,
            EnumParameter("ordering", tuple(spec.search.ordering)),
            *_mappings(spec, machine, ranks),
            EnumParameter("mpi", tuple(spec.search.mpi)),
            *collectives,
            *settings,
        ],
        [*impossible, *choices.constraints, *_unfit(settings, machine)],
    )
    if space.size == 1:
        raise InvalidInput(
            "nothing to tune: every parameter has one value; use hamtune evaluate", field="search"
        )
    return BuiltSpace(space, _baselines(spec, machine, space), choices.excluded)


def _topologies(spec: JobSpec, machine: Machine) -> tuple[list[Parameter], list[Constraint]]:
    """Makes the parameters of the network: `topology`, `topology_seed`, those of families.

    Returns:
        The parameters, and the combinations of them that give no network.
    """
    items = spec.search.topology
    if items is None:
        if machine.given_network is None:
            allowed = ", ".join(FAMILIES)
            raise InvalidInput(f"is required; allowed: {allowed}", field="search.topology")
        items = [GIVEN]
    choices = [
        item if isinstance(item, TopologyChoice) else TopologyChoice.model_construct(family=item)
        for item in items
    ]
    names = tuple(choice.family for choice in choices)
    parameters: list[Parameter] = [EnumParameter("topology", names)]
    constraints: list[Constraint] = []
    seeded = [c for c in choices if c.family in FAMILIES and FAMILIES[c.family].uses_seed]
    if seeded:
        last = spec.seed + max(choice.instances for choice in seeded) - 1
        condition = Condition("topology", tuple(choice.family for choice in seeded))
        parameters.append(IntegerParameter("topology_seed", spec.seed, last, when=condition))
    for choice in choices:
        constraints += _check_networks(choice, machine)
        parameters += [
            EnumParameter(
                f"{choice.family}.{name}", tuple(values), Condition("topology", (choice.family,))
            )
            for name, values in choice.options.items()
        ]
    return parameters, constraints


def _check_networks(choice: TopologyChoice, machine: Machine) -> list[Constraint]:
    """Forbids the combinations of a family's parameters that give no network of these nodes.

    Raises:
        InvalidInput: None of them does, or there are too many.
    """
    family, options = choice.family, choice.options
    if family == GIVEN:
        if machine.given_network is None:
            reason = "machine.topology does not give a network"
            raise InvalidInput(f"{family}: {reason}", field="search.topology")
        return []
    if math.prod(map(len, options.values())) > _MOST_COMBINATIONS:
        raise InvalidInput(
            f"{family}: at most {_MOST_COMBINATIONS} combinations of its parameters can be listed",
            field="search.topology",
        )
    reasons: dict[str, Mapping[str, Value]] = {}
    possible = 0
    for values in itertools.product(*options.values()):
        given = dict(zip(options, values, strict=True))
        why = obstacle(family, machine.nodes, degree=machine.random_degree, **given)
        if why is None:
            possible += 1
        else:
            named = ", ".join(f"{name} = {value}" for name, value in given.items())
            reasons[f"{family} ({named}): {why}" if named else f"{family}: {why}"] = {
                "topology": family
            } | {f"{family}.{name}": value for name, value in given.items()}
    if not possible:
        raise InvalidInput(next(iter(reasons)), field="search.topology")
    return [Constraint(text, _differs_from(values)) for text, values in reasons.items()]


class _CollectiveChoices:
    """Reads which algorithms a job may choose, and collects what stands in the way of others."""

    def __init__(
        self,
        spec: JobSpec,
        machine: Machine,
        ranks: int,
        called: Mapping[str, Groups],
        non_commutative: Collection[str],
    ) -> None:
        self._called = called
        self._non_commutative = non_commutative
        self._search = spec.search
        self._ranks = ranks
        self._layouts = {
            choice.mapper: _layout(choice, ranks, machine) for choice in spec.search.mappers
        }
        # For each collective, where it can run at all: pairs of mapping and MPI implementation.
        self._runs: dict[str, set[tuple[str, str]]] = {}
        self.constraints: list[Constraint] = []
        self.excluded: list[dict[str, Any]] = []

    def exclude(self, collective: str, value: str | None, reason: str) -> None:
        self.leave_out(f"collectives.{collective}", value, reason)

    def leave_out(self, parameter: str, value: str | None, reason: str) -> None:
        self.excluded.append({"parameter": parameter, "value": value, "reason": reason})

    def read(self, collective: str) -> tuple[str, ...]:
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


def _settings(spec: JobSpec, machine: Machine, choices: _CollectiveChoices) -> list[Parameter]:
    """Makes the parameters of the transport.

    Raises:
        InvalidInput: The fluid model evaluates, or the library that has to run what is found cannot
            be told of a setting that the job gives values for.
    """
    asked = spec.search.protocol
    if asked and machine.trial_model == "fluid":
        raise InvalidInput(
            "means nothing to the fluid model; leave it out, or set machine.network to packets or "
            "auto",
            field="search.protocol",
        )
    protocol = machine.protocol
    if protocol is None:
        return []
    target = TARGETS[spec.search.target] if spec.search.target else None
    parameters: list[Parameter] = []
    for name in SETTINGS:  # in our order, as collectives
        if name not in asked:
            continue
        values: list[Scalar] = []
        for value in asked[name]:
            values += offered_values(name, protocol) if value == ALL else [value]
        own = getattr(protocol, name)
        found = tuple(dict.fromkeys(DEFAULT if value == own else value for value in values))
        missing = target is not None and [v for v in found if not target.can_set(name, v)]
        if target is not None and missing:
            reason = f"{target.title} has no setting for it"
            if asked[name] != [ALL]:
                raise InvalidInput(reason, field=f"search.{PROTOCOL}{name}")
            choices.leave_out(PROTOCOL + name, None, reason)
        else:
            parameters.append(EnumParameter(PROTOCOL + name, found))
    return parameters


def _unfit(settings: list[Parameter], machine: Machine) -> list[Constraint]:
    """Forbids the combinations of settings of the transport that do not go together."""
    constraints = []
    for values in itertools.product(*(parameter.every() for parameter in settings)):
        chosen = dict(zip((parameter.name for parameter in settings), values, strict=True))
        changed = changed_settings(chosen, machine)
        reason = setting_obstacle(changed, machine)
        if reason is not None:
            text = ", ".join(f"{name} = {value}" for name, value in chosen.items())
            constraints.append(Constraint(f"{text}: {reason}", _differs_from(chosen)))
    return constraints


def _mappings(spec: JobSpec, machine: Machine, ranks: int) -> list[Parameter]:
    """Makes the parameters of the mapping: `mapping`, its seed, mappers' options, the permutation.

    Raises:
        InvalidInput: A mapper cannot be used on any of the networks, or the machine is too large
            for permutations.
    """
    names = []
    options: list[Parameter] = []
    for choice in spec.search.mappers:
        names.append(choice.mapper)
        reason = _never(choice, spec, machine)
        if reason is not None:
            raise InvalidInput(f"'{choice.mapper}' {reason}", field="search.mapping")
        options += [
            EnumParameter(
                f"{MAPPER_OPTIONS}{choice.mapper}.{name}",
                tuple(values),
                Condition("mapping", (choice.mapper,)),
            )
            for name, values in choice.options.items()
        ]
    if PERMUTATION in names:
        when = Condition("mapping", (PERMUTATION,))
        try:
            options.append(
                PlacementParameter(PERMUTATION, ranks, machine.nodes, machine.cores_per_host, when)
            )
        except InvalidInput as error:
            raise InvalidInput(error.message, field="search.mapping") from error
    return [EnumParameter("mapping", tuple(names)), *_mapping_seeds(spec), *options]


def _mapping_seeds(spec: JobSpec) -> list[Parameter]:
    seeded = [c for c in spec.search.mappers if c.method is not None and c.method.uses_seed]
    if not seeded:
        return []
    last = spec.seed + max(choice.instances for choice in seeded) - 1
    condition = Condition("mapping", tuple(choice.mapper for choice in seeded))
    return [IntegerParameter("mapping_seed", spec.seed, last, when=condition)]


def _never(choice: MappingChoice, spec: JobSpec, machine: Machine) -> str | None:
    """Why a mapper can be used on no network of the job, or None."""
    if choice.method is None:
        return None
    topologies = spec.search.topology or [GIVEN]
    names = [item if isinstance(item, str) else item.family for item in topologies]
    hosts = Network(Graph(nodes=machine.nodes, edges=()))
    shapes: list[Shape] = [hosts]
    if "original" in spec.search.ordering and set(names) & set(BASELINE_TOPOLOGIES):
        shapes.append(Grid((machine.nodes,), wrapped=True))
    reasons = [
        choice.method.obstacle(HopMachine.uniform(shape, machine.cores_per_host))
        for shape in shapes
    ]
    return None if None in reasons else reasons[-1]


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


def _differs_from(combination: Mapping[str, Value]) -> Callable[[Mapping[str, Value]], bool]:
    return lambda values: any(values.get(name) != value for name, value in combination.items())


def _baselines(
    spec: JobSpec, machine: Machine, space: SearchSpace
) -> list[tuple[str, Configuration]]:
    """Lists the baselines: what the user has, or else could have by convention.

    A machine with a network of its own is that network with each MPI implementation. One that is to
    be designed is meshes and tori, then the first network with each MPI implementation.
    """
    left = ("collectives.", PROTOCOL)
    defaults = {p.name: DEFAULT for p in space.parameters if p.name.startswith(left)}
    networks = list(space.parameters[0].every())
    is_given = GIVEN in networks
    first = GIVEN if is_given else str(networks[0])
    entries = [
        (name, name, spec.search.mpi[0])
        for name in (() if is_given else BASELINE_TOPOLOGIES)
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
            **defaults,
        }
        if topology in FAMILIES and FAMILIES[topology].uses_seed:
            values["topology_seed"] = spec.seed
        if topology == first:
            values |= _first_network(space, first)
        baselines.setdefault(Configuration(values), label)
    return [(label, configuration) for configuration, label in baselines.items()]


def _first_network(space: SearchSpace, family: str) -> dict[str, Value]:
    """The first combination of a family's parameters in a space that gives a network."""
    own = [p for p in space.parameters if p.name.startswith(f"{family}.")]
    for values in itertools.product(*(parameter.every() for parameter in own)):
        chosen = dict(zip((p.name for p in own), values, strict=True))
        if all(rule.holds({"topology": family, **chosen}) for rule in space.constraints):
            return chosen
    raise AssertionError("a family without a network was let into the space")

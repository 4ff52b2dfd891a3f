"""From a job's description to the space that is searched and the baselines it is judged by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from searchspace.affordable import Screen
from searchspace.bills import Bills
from searchspace.choices import MappingChoice, TopologyChoice
from searchspace.collective_choices import CollectiveChoices, differs_from
from searchspace.collectives import COLLECTIVES, DEFAULT, Groups
from searchspace.collectives.by_size import PARAMETER, SizeBins
from searchspace.collectives.equivalents import TARGETS
from searchspace.configuration import Configuration, Scalar, Value
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import Grid, HopMachine, Network, Shape
from searchspace.jobspec import ALL, BuiltinApplication, JobSpec
from searchspace.machine import Machine
from searchspace.mapping.permutation import PERMUTATION
from searchspace.parameters import (
    Condition,
    EnumParameter,
    IntegerParameter,
    Parameter,
    PlacementParameter,
)
from searchspace.platform import GIVEN, MAPPER_OPTIONS
from searchspace.space import Constraint, SearchSpace
from searchspace.topology import DEGREE, FAMILIES, obstacle
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
        bills: Of the networks, where the job says something of their price.
    """

    space: SearchSpace
    baselines: list[tuple[str, Configuration]]
    excluded: list[dict[str, Any]]
    bills: Bills | None = None

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
    sizes: Mapping[str, SizeBins] | None = None,
    bills: Bills | None = None,
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
        sizes: At which sizes the application calls collectives (`sizes_called`), where the job
            wants algorithms by size. None where that is not known: of ranges that the job does not
            give itself there are none.
        bills: Of the networks of this job; None for those that need no traffic and nothing kept.

    Raises:
        InvalidInput: The machine cannot run so many ranks or has no such networks, an algorithm
            named by the job cannot work, or nothing is left to choose or to run.
    """
    machine = spec.described_machine
    if not 1 <= ranks <= machine.cores:
        each = "a core" if machine.cores_per_host == 1 else f"{machine.cores_per_host} cores"
        raise InvalidInput(
            f"{ranks} ranks do not fit on {machine.nodes} hosts with {each} each "
            f"(1 to {machine.cores} ranks do)",
            field="application.ranks"
            if isinstance(spec.application, BuiltinApplication)
            else "application",
        )
    screen = Screen(spec.terms, machine, bills)
    listed = _listed_networks(spec, machine)
    seeds = _topology_seeds(spec, listed)
    networks = screen.networks(listed, spec.search.ordering, seeds)
    topologies, impossible = _topologies(machine, networks, seeds)
    called = used_collectives or {}
    choices = CollectiveChoices(spec, machine, ranks, called, non_commutative or (), sizes)
    collectives = _collectives(spec, choices, used_collectives)
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
        [*impossible, *choices.constraints, *_unfit(settings, machine), *screen.constraints],
    )
    if space.size == 1:
        left_out = len(screen.excluded)
        beside = f" beside {left_out} that are left out" if left_out else ""
        raise InvalidInput(
            f"nothing to tune: every parameter has one value{beside}; use hamtune evaluate",
            field="search",
        )
    baselines = screen.baselines(_baselines(spec, machine, space))
    return BuiltSpace(space, baselines, [*screen.excluded, *choices.excluded], screen.bills)


def _collectives(
    spec: JobSpec, choices: CollectiveChoices, used: Mapping[str, Groups] | None
) -> list[Parameter]:
    """The parameters of the collectives that a job lists and its application calls."""
    parameters: list[Parameter] = []
    for name in COLLECTIVES:  # in our order: the order of the job's keys may get lost in storage
        if name not in spec.search.collectives:
            continue
        if used is not None and name not in used:
            # A target asks for all collectives; which are not called is no news then.
            if spec.search.target is None:
                choices.exclude(name, None, "the application never calls it")
        else:
            parameters += choices.read(name)
    return parameters


def _listed_networks(spec: JobSpec, machine: Machine) -> list[TopologyChoice]:
    """The families that a job lists, or the machine's own network."""
    items = spec.search.topology
    if items is None:
        if machine.given_network is None:
            allowed = ", ".join(FAMILIES)
            raise InvalidInput(f"is required; allowed: {allowed}", field="search.topology")
        items = [GIVEN]
    return [
        item if isinstance(item, TopologyChoice) else TopologyChoice.model_construct(family=item)
        for item in items
    ]


def _topology_seeds(spec: JobSpec, choices: list[TopologyChoice]) -> range:
    """The seeds of networks: as many as the family wants that wants most, whichever are left."""
    return range(spec.seed, spec.seed + max(choice.instances for choice in choices))


def _topologies(
    machine: Machine, choices: list[TopologyChoice], seeds: range
) -> tuple[list[Parameter], list[Constraint]]:
    """Makes the parameters of the network: `topology`, `topology_seed`, those of families.

    Returns:
        The parameters, and the combinations of them that give no network.
    """
    names = tuple(choice.family for choice in choices)
    parameters: list[Parameter] = [EnumParameter("topology", names)]
    constraints: list[Constraint] = []
    seeded = [c for c in choices if c.family in FAMILIES and FAMILIES[c.family].uses_seed]
    if seeded:
        condition = Condition("topology", tuple(choice.family for choice in seeded))
        parameters.append(
            IntegerParameter("topology_seed", seeds.start, seeds.stop - 1, when=condition)
        )
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
        wanted: dict[str, Any] = {DEGREE.name: machine.random_degree, **given}
        why = obstacle(family, machine.nodes, **wanted)
        if why is None:
            possible += 1
        else:
            named = ", ".join(f"{name} = {value}" for name, value in given.items())
            reasons[f"{family} ({named}): {why}" if named else f"{family}: {why}"] = {
                "topology": family
            } | {f"{family}.{name}": value for name, value in given.items()}
    if not possible:
        own = FAMILIES[family].uses_degree and DEGREE.name not in options
        hint = f"; it may have a degree of its own: {{family: {family}, degree: N}}" if own else ""
        raise InvalidInput(next(iter(reasons)) + hint, field="search.topology")
    return [Constraint(text, differs_from(values)) for text, values in reasons.items()]


def _settings(spec: JobSpec, machine: Machine, choices: CollectiveChoices) -> list[Parameter]:
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
            constraints.append(Constraint(f"{text}: {reason}", differs_from(chosen)))
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


def _baselines(
    spec: JobSpec, machine: Machine, space: SearchSpace
) -> list[tuple[str, Configuration]]:
    """Lists the baselines: what the user has, or else could have by convention.

    A machine with a network of its own is that network with each MPI implementation. One that is to
    be designed is meshes and tori, then the first network with each MPI implementation.
    """
    left = (PARAMETER, PROTOCOL)
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

"""From a configuration and a machine to what the simulator is asked to run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from searchspace.collectives import COLLECTIVES, DEFAULT, SELECTORS, WORLD, Groups
from searchspace.collectives.equivalents.decisions import option, selected
from searchspace.configuration import DEFAULTS, Configuration, canonical_json
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.graph import Graph
from searchspace.hop_machine import Grid, HopMachine, Network, Shape
from searchspace.machine import SMPI_DEFAULT, Machine, ModelFactors, NetworkDescription
from searchspace.mapping import MAPPERS, Places, map_ranks
from searchspace.mapping.permutation import PERMUTATION, packed_cores, read_permutation
from searchspace.ordering import order
from searchspace.topology import FAMILIES, obstacle, read_options
from searchspace.topology.grid import cubic_extents
from searchspace.topology.kept import KeptNetworks, generate_once
from searchspace.traffic import Traffic
from searchspace.transport import (
    PROTOCOL,
    SETTINGS,
    changed_settings,
    setting_obstacle,
    with_settings,
)

__all__ = [
    "GIVEN",
    "MAPPER_OPTIONS",
    "Infeasible",
    "Resolved",
    "TrafficOf",
    "chosen_algorithms",
    "collective_obstacle",
    "complete",
    "evaluation_key",
    "model_options",
    "resolve",
    "written_out",
]

GIVEN = "given"
"""The topology of a machine whose network exists."""

ORIGINAL = "original"
"""The ordering that leaves every number as it is."""

MAPPER_OPTIONS = "mappers."
"""Options of mappers begin with this and the mapper's name."""

_COLLECTIVE = "collectives."
_NAMES = (
    "topology",
    "topology_seed",
    "ordering",
    "mapping",
    "mapping_seed",
    PERMUTATION,
    "mpi",
)
_TRAFFIC_VERSION = 2
"""What mappers and networks made for traffic are shown of an application, in the key of their
results: 2 since it has the messages of collectives."""

TrafficOf = Callable[[Mapping[str, str]], Traffic]
"""What ranks exchange under the named algorithms of collectives, and defaults for the others."""


class Infeasible(HamtuneError):
    """A configuration that cannot be run, and why."""


@dataclass(frozen=True)
class Resolved:
    """A configuration on a machine, ready to be simulated.

    Attributes:
        machine: The machine, with the configuration's settings of the transport.
        network: The network after ordering: node i is host i.
        rank_hosts: The host of each rank.
        options: SimGrid's options, everything that decides the result.
        order: The number that each host had before ordering.
        where: The machine as mappers see it.
        places: The place of each rank there.
    """

    machine: Machine
    network: Graph
    rank_hosts: tuple[int, ...]
    options: Mapping[str, str]
    order: tuple[int, ...]
    where: HopMachine
    places: Places

    @property
    def host_names(self) -> tuple[str, ...]:
        """The names of the hosts, in their new order."""
        return tuple(self.machine.host_names[host] for host in self.order)

    @property
    def host_speeds(self) -> tuple[float, ...]:
        """flop/s of one core of each host, in their new order."""
        speeds = self.machine.host_speeds
        if speeds is None:
            return (self.machine.host_speed,) * self.hosts
        return tuple(speeds[host] for host in self.order)

    @property
    def hosts(self) -> int:
        """How many hosts there are."""
        return self.network.hosts

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The cables, as pairs of nodes: hosts, then switches."""
        return self.network.edges

    def simulator_request(self) -> dict[str, Any]:
        """Returns the `platform`, `applications` and `options` of a request to the simulator."""
        machine = self.machine
        special: dict[str, Any] = {}
        if self.network.switches:
            special["switches"] = self.network.switches
            if machine.host_link_bandwidth is not None:
                special["host_link_bandwidth"] = machine.host_link_bandwidth
        if machine.host_speeds is not None:
            special["host_speeds"] = list(self.host_speeds)
        if machine.interface_bandwidth is not None:
            special["interface_bandwidth"] = machine.interface_bandwidth
        if machine.memory_bandwidth is not None:
            special["memory_bandwidth"] = machine.memory_bandwidth
        if machine.trial_model == "packets":
            assert machine.protocol is not None, "filled in when the machine was read"
            special["packets"] = machine.protocol.numbers()
        return {
            "platform": {
                "hosts": self.hosts,
                **special,
                "cores": machine.cores_per_host,
                "host_speed": machine.host_speed,
                "edges": NetworkDescription.of(self.network)["edges"],
                "link_bandwidth": machine.link_bandwidth,
                "link_latency": machine.link_latency,
                "switch_latency": machine.switch_latency,
                "switch_bandwidth": machine.switch_bandwidth,
                "loopback_bandwidth": machine.loopback_bandwidth,
                "loopback_latency": machine.loopback_latency,
                "tie_rule": machine.tie_rule,
            },
            "applications": [{"trace": 0, "hosts": list(self.rank_hosts), "start": 0.0}],
            "options": dict(self.options),
        }


def complete(configuration: Configuration, machine: Machine) -> Configuration:
    """Adds what a configuration leaves to defaults and drops what does not count.

    Two configurations that mean the same run have the same complete form. Settings of the transport
    do not count where the fluid model evaluates, nor where they are the machine's own.

    Raises:
        InvalidInput: It has an unknown parameter, or names no topology and the machine has none.
    """
    values: dict[str, Any] = dict(configuration)
    for name in values:
        known_one = name.removeprefix(_COLLECTIVE) in COLLECTIVES or name in _NAMES
        known_one = known_one or _owner(name) in MAPPERS or name.startswith(PROTOCOL)
        if not known_one and name.partition(".")[0] not in FAMILIES:
            known = ", ".join(
                (
                    *_NAMES,
                    "FAMILY.PARAMETER",
                    f"{MAPPER_OPTIONS}MAPPER.OPTION",
                    *(_COLLECTIVE + c for c in COLLECTIVES),
                    *(PROTOCOL + s for s in SETTINGS),
                )
            )
            raise InvalidInput(f"unknown parameter; allowed: {known}", field=name)
    if "topology" not in values:
        if machine.given_network is None:
            raise InvalidInput(f"is required; allowed: {', '.join(FAMILIES)}", field="topology")
        values["topology"] = GIVEN
    values = DEFAULTS | values
    family = FAMILIES.get(str(values["topology"]))
    if family is None or not family.uses_seed:
        del values["topology_seed"]
    mapper = MAPPERS.get(str(values["mapping"]))
    if mapper is None or not mapper.uses_seed:
        del values["mapping_seed"]
    written = values.pop(PERMUTATION, None)
    if values["mapping"] == PERMUTATION:
        values[PERMUTATION] = read_permutation(written, machine.nodes, machine.cores_per_host)
    options = _options(values)
    for name in list(values):
        if name.partition(".")[0] in FAMILIES:
            del values[name]
    if family is not None:
        read = _read_options(family.name, options)
        values |= {f"{family.name}.{option}": value for option, value in read.items()}
    options = _mapper_options(values)
    values = {name: value for name, value in values.items() if _owner(name) is None}
    prefix = f"{MAPPER_OPTIONS}{values['mapping']}."
    values |= {prefix + option: value for option, value in options.items()}
    defaults = [n for n, v in values.items() if n.startswith(_COLLECTIVE) and v == DEFAULT]
    for name in defaults:
        del values[name]
    settings = changed_settings(values, machine)
    values = {name: value for name, value in values.items() if not name.startswith(PROTOCOL)}
    values |= {PROTOCOL + name: value for name, value in settings.items()}
    return Configuration(values)


def _owner(name: str) -> str | None:
    """The mapper whose option a parameter is, if it is one."""
    if not name.startswith(MAPPER_OPTIONS):
        return None
    return name.removeprefix(MAPPER_OPTIONS).partition(".")[0]


def _mapper_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the chosen mapper among the values of a configuration, in their one form."""
    mapping = str(values["mapping"])
    prefix = f"{MAPPER_OPTIONS}{mapping}."
    if mapping not in MAPPERS:
        return {}
    given = {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}
    try:
        return dict(MAPPERS[mapping].read(given))
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"{prefix}{error.field}") from None


def _options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the chosen family among the values of a configuration."""
    prefix = f"{values['topology']}."
    return {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}


def _read_options(family: str, options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(read_options(family, options))
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"{family}.{error.field}") from None


def resolve(
    configuration: Configuration,
    machine: Machine,
    ranks: int,
    *,
    collectives: Mapping[str, Groups] = MappingProxyType({}),
    traffic: TrafficOf | None = None,
    kept: KeptNetworks | None = None,
) -> Resolved:
    """Builds the network, places the ranks and sets the options of a configuration.

    Args:
        configuration: Missing parameters mean what `complete` says.
        machine: Where it runs.
        ranks: Of the application.
        collectives: What the application calls, and on which communicators
            (`called_collectives`); what the MPI implementation would choose is checked too.
        traffic: Says what the ranks exchange, given the algorithms that the configuration names
            for collectives; asked only for mappers that look at it, and for networks made for it,
            which are made for usual algorithms: cables stay where they are when those change.
        kept: Where networks that take long to build are kept; None: nowhere.

    Raises:
        InvalidInput: A parameter or value that does not exist, more ranks than cores, or a mapper
            or network that looks at traffic where none is known.
        Infeasible: A topology, a mapper or an algorithm that these nodes or ranks do not allow, or
            settings of the transport that do not go together.
    """
    chosen = complete(configuration, machine)
    settings = changed_settings(chosen, machine)
    unfit = setting_obstacle(settings, machine)
    if unfit is not None:
        raise Infeasible(f"{PROTOCOL}exchange: {unfit}")
    network = _network(chosen, machine, traffic, kept)
    moved: tuple[int, ...] = _in_field("ordering", _order, str(chosen["ordering"]), network)
    ordered = network.relabel(moved)
    where = HopMachine.uniform(_shape(chosen, ordered, machine), machine.cores_per_host)
    seed = _seed(chosen, "mapping_seed")
    places: Places = _in_field("mapping", _map, chosen, ranks, where, traffic, seed)
    rank_hosts = tuple(where.place_hosts[places].tolist())
    options = {"network/model": "SMPI", **model_options(machine)}
    mpi = str(chosen["mpi"])
    if mpi not in (*SELECTORS, DEFAULT):
        allowed = ", ".join((*SELECTORS, DEFAULT))
        raise InvalidInput(f"unknown MPI implementation '{mpi}'; allowed: {allowed}", field="mpi")
    if mpi != DEFAULT:
        options |= selected(mpi)
    for name in COLLECTIVES:
        algorithm = str(chosen.get(_COLLECTIVE + name, DEFAULT))
        if algorithm != DEFAULT:
            options[f"smpi/{name}"] = option(name, algorithm)
        elif name not in collectives:
            continue
        groups = collectives.get(name, WORLD)
        reason = collective_obstacle(name, algorithm, mpi, ranks, rank_hosts, groups)
        if reason is not None:
            raise Infeasible(f"{_COLLECTIVE}{name}: {reason}")
    return Resolved(
        with_settings(machine, settings),
        ordered,
        rank_hosts,
        dict(sorted(options.items())),
        tuple(moved[: network.hosts]),
        where,
        places,
    )


def collective_obstacle(
    collective: str,
    algorithm: str,
    mpi: str,
    ranks: int,
    rank_hosts: tuple[int, ...] | None,
    groups: Groups = WORLD,
) -> str | None:
    """Says why an algorithm, or an MPI implementation's choice, cannot be used, or returns None.

    Args:
        collective: A key of `COLLECTIVES`.
        algorithm: Name of an algorithm, or `default` for the choice of `mpi`.
        mpi: One of `SELECTORS`, or `default` for SMPI's own choice.
        ranks: Of the application.
        rank_hosts: The host of each rank; None when unknown.
        groups: The communicators that the collective is called on.

    Raises:
        InvalidInput: The collective has no such algorithm.
    """
    algorithms = COLLECTIVES[collective].algorithms
    name = mpi if algorithm == DEFAULT else algorithm
    if name == DEFAULT:
        return None
    if name not in algorithms:
        offered = ", ".join((DEFAULT, *(a.name for a in algorithms.values() if a.offered)))
        raise InvalidInput(
            f"unknown algorithm '{name}'; allowed: {offered}", field=_COLLECTIVE + collective
        )
    for group in groups:
        hosts = rank_hosts
        if group and rank_hosts is not None:
            hosts = tuple(rank_hosts[rank] for rank in group)
        reason = algorithms[name].invalid(len(group) or ranks, hosts)
        if reason is not None:
            where = f" (in a communicator of {len(group)} ranks)" if group else ""
            return f"{name} {reason}{where}"
    return None


def chosen_algorithms(configuration: Configuration) -> dict[str, str]:
    """The algorithms that a configuration names, by collective."""
    return {
        name.removeprefix(_COLLECTIVE): str(algorithm)
        for name, algorithm in configuration.items()
        if name.startswith(_COLLECTIVE)
    }


def written_out(
    configuration: Configuration, machine: Machine, places: Sequence[int]
) -> Configuration:
    """The same configuration with the ranks on these places instead of its own mapping."""
    hosts = [place // machine.cores_per_host for place in places]
    cores = packed_cores(hosts, machine.cores_per_host)
    kept = {
        name: value
        for name, value in configuration.items()
        if not name.startswith(MAPPER_OPTIONS) and name != "mapping_seed"
    }
    return Configuration({**kept, "mapping": PERMUTATION, PERMUTATION: cores})


def _network(
    chosen: Configuration, machine: Machine, traffic: TrafficOf | None, kept: KeptNetworks | None
) -> Graph:
    topology = str(chosen["topology"])
    if topology == GIVEN:
        if machine.given_network is None:
            raise InvalidInput("the machine has no network of its own", field="topology")
        return machine.given_network
    if topology not in FAMILIES:
        allowed = ", ".join((*FAMILIES, GIVEN))
        raise InvalidInput(f"unknown topology '{topology}'; allowed: {allowed}", field="topology")
    options = _options(chosen)
    reason = obstacle(topology, machine.nodes, degree=machine.random_degree, **options)
    if reason is not None:
        raise Infeasible(f"topology: {topology}: {reason}")
    seed = _seed(chosen, "topology_seed")
    try:
        return generate_once(
            kept,
            topology,
            machine.nodes,
            degree=machine.random_degree,
            seed=seed,
            traffic=traffic({}) if FAMILIES[topology].uses_traffic and traffic else None,
            **options,
        )
    except InvalidInput as error:
        raise InvalidInput(error.message, field="topology") from None


def _seed(chosen: Configuration, name: str) -> int:
    seed = chosen.get(name, 0)
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InvalidInput("must be a whole number from 0 on", field=name)
    return seed


def _order(method: str, network: Graph) -> tuple[int, ...]:
    """Orders the nodes of a network.

    Where hosts are plugged into switches, the method orders the switches, and hosts follow in the
    order of the first of their switches; the switches keep their numbers.

    Raises:
        InvalidInput: There is no such method.
    """
    if not network.switches:
        return order(method, network)
    hosts, switches = range(network.hosts), range(network.hosts, network.nodes)
    between = [(u - network.hosts, v - network.hosts) for u, v in network.edges if u not in hosts]
    found = order(method, Graph.from_edges(network.switches, between))
    if method == ORIGINAL:
        return tuple(range(network.nodes))
    place = {network.hosts + switch: position for position, switch in enumerate(found)}
    near = network.neighbors
    return (*sorted(hosts, key=lambda host: (min(place[s] for s in near[host]), host)), *switches)


def _shape(chosen: Configuration, network: Graph, machine: Machine) -> Shape:
    """What mappers know of a network: that it is a torus or mesh, while its nodes are in order."""
    family = str(chosen["topology"])
    kind, _, axes = family.partition("-")
    if kind in ("torus", "mesh") and axes in ("2d", "3d") and chosen["ordering"] == ORIGINAL:
        given = chosen.get(f"{family}.dims")
        dims = (
            cubic_extents(machine.nodes, int(axes[0]))
            if given is None
            else tuple(map(int, str(given).split(",")))
        )
        assert dims is not None
        return Grid(dims, wrapped=kind == "torus")
    return Network(network)


def _map(
    chosen: Configuration,
    ranks: int,
    where: HopMachine,
    traffic: TrafficOf | None,
    seed: int,
) -> Places:
    mapping = str(chosen["mapping"])
    if mapping == PERMUTATION:
        return _written_out(chosen[PERMUTATION], ranks)
    mapper = MAPPERS.get(mapping)
    exchanged = Traffic.silent(ranks)
    if mapper is not None:
        reason = mapper.obstacle(where)
        if reason is not None:
            raise Infeasible(f"mapping: {mapping} {reason}")
        if mapper.uses_traffic:
            if traffic is None:
                raise InvalidInput(f"'{mapping}' looks at what ranks exchange, which is not known")
            exchanged = traffic(chosen_algorithms(chosen))
    else:
        allowed = ", ".join((*MAPPERS, PERMUTATION))
        raise InvalidInput(f"unknown mapping '{mapping}'; allowed: {allowed}")
    options = _mapper_options(chosen)
    return map_ranks(mapping, exchanged, where, seed=seed, **options)


def _written_out(cores: Any, ranks: int) -> Places:
    if len(cores) != ranks:
        raise InvalidInput(f"'{PERMUTATION}' gives the cores of {len(cores)} ranks, not of {ranks}")
    return np.asarray(cores, dtype=np.uint32)


def _in_field(field: str, function: Any, *arguments: Any) -> Any:
    """Calls a function, so that its errors name the field."""
    try:
        return function(*arguments)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=field) from None


def model_options(machine: Machine) -> dict[str, str]:
    """Returns SimGrid's factors of bandwidths and latencies by message size; packets have none."""
    if machine.trial_model == "packets":
        return {}
    if isinstance(machine.model, ModelFactors):
        factors = machine.model
    elif machine.model == "plain":
        factors = ModelFactors(bandwidth_factor="0:1", latency_factor="0:1")
    else:
        factors = SMPI_DEFAULT
    return {
        "smpi/bw-factor": factors.bandwidth_factor,
        "smpi/lat-factor": factors.latency_factor,
    }


def evaluation_key(
    trace_sha256: str,
    machine: Machine,
    configuration: Configuration,
    simulator_version: str,
    whole_sha256: str | None = None,
) -> str:
    """Returns the SHA-256 of everything that decides the result of an evaluation.

    Args:
        trace_sha256: Identity of the trace.
        machine: The machine, with its tie rule and what its model of trials rests on.
        configuration: The configuration; what it leaves to defaults is filled in first.
        simulator_version: Version of our simulator and of SimGrid.
        whole_sha256: Identity of the trace whose traffic mappers and networks are shown; None: of
            the one that is simulated.
    """
    chosen = complete(configuration, machine)
    parts = {
        "trace": canonical_json(trace_sha256),
        "machine": machine.simulated_by(machine.trial_model).canonical_json,
        "configuration": chosen.canonical_json,
        "simulator": canonical_json(simulator_version),
    }
    family = FAMILIES.get(str(chosen["topology"]))
    if family is not None and family.version > 1:
        parts["family_version"] = canonical_json(family.version)
    mapper = MAPPERS.get(str(chosen["mapping"]))
    looks = (mapper is not None and mapper.uses_traffic, family is not None and family.uses_traffic)
    if any(looks):
        parts["traffic_version"] = canonical_json(_TRAFFIC_VERSION)
        if whole_sha256 not in (None, trace_sha256):
            parts["traffic_of"] = canonical_json(whole_sha256)
    # Canonical JSON as well, with the machine written once for all configurations.
    text = ",".join(f'"{name}":{parts[name]}' for name in sorted(parts))
    return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()

"""The network of a configuration: built, or the machine's own, and its nodes in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.machine import Machine
from searchspace.ordering import order
from searchspace.platform.completion import complete, family_options
from searchspace.platform.errors import Infeasible, in_field
from searchspace.platform.names import GIVEN, ORIGINAL
from searchspace.topology import DEGREE, FAMILIES, obstacle
from searchspace.topology.network_cache import NetworkCache, generate_once
from searchspace.traffic import Traffic

__all__ = ["TrafficOf", "network_of", "ordered_network", "seed_of"]

TrafficOf = Callable[[Mapping[str, str]], Traffic]
"""What ranks exchange under the named algorithms of collectives, and defaults for the others."""


def network_of(
    configuration: Configuration,
    machine: Machine,
    *,
    traffic: TrafficOf | None = None,
    cache: NetworkCache | None = None,
) -> Graph:
    """Builds the network of a configuration, numbered by its ordering, as `resolve` does.

    Raises:
        InvalidInput: As `resolve`.
        Infeasible: There is no such network.
    """
    network, moved = ordered_network(complete(configuration, machine), machine, traffic, cache)
    return network.relabel(moved)


def ordered_network(
    chosen: Configuration, machine: Machine, traffic: TrafficOf | None, cache: NetworkCache | None
) -> tuple[Graph, tuple[int, ...]]:
    """A network, and the number that each of its nodes had before ordering."""
    network = _network(chosen, machine, traffic, cache)
    return network, in_field("ordering", _order, str(chosen["ordering"]), network)


def _network(
    chosen: Configuration, machine: Machine, traffic: TrafficOf | None, cache: NetworkCache | None
) -> Graph:
    topology = str(chosen["topology"])
    if topology == GIVEN:
        if machine.given_network is None:
            raise InvalidInput("the machine has no network of its own", field="topology")
        return machine.given_network
    if topology not in FAMILIES:
        allowed = ", ".join((*FAMILIES, GIVEN))
        raise InvalidInput(f"unknown topology '{topology}'; allowed: {allowed}", field="topology")
    options = {DEGREE.name: machine.random_degree, **family_options(chosen)}
    reason = obstacle(topology, machine.nodes, **options)
    if reason is not None:
        raise Infeasible(f"topology: {topology}: {reason}")
    seed = seed_of(chosen, "topology_seed")
    try:
        return generate_once(
            cache,
            topology,
            machine.nodes,
            seed=seed,
            traffic=traffic({}) if FAMILIES[topology].uses_traffic and traffic else None,
            **options,
        )
    except InvalidInput as error:
        raise InvalidInput(error.message, field="topology") from None


def seed_of(chosen: Configuration, name: str) -> int:
    """The seed of that name.

    Raises:
        InvalidInput: It is none.
    """
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

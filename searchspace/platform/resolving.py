"""From a configuration and a machine to what the simulator is asked to run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from searchspace.collectives import COLLECTIVES, WORLD, Groups
from searchspace.collectives.by_size import PARAMETER, lines_of
from searchspace.configuration import Configuration
from searchspace.machine import Machine
from searchspace.platform.algorithms import collective_obstacle
from searchspace.platform.completion import complete
from searchspace.platform.errors import Infeasible
from searchspace.platform.network import TrafficOf, ordered_network
from searchspace.platform.placement import machine_of_mappers, placed
from searchspace.platform.resolved import Resolved
from searchspace.platform.smpi import algorithm_option, base_options
from searchspace.topology.network_cache import NetworkCache
from searchspace.transport import PROTOCOL, changed_settings, setting_obstacle, with_settings

__all__ = ["resolve"]


def resolve(
    configuration: Configuration,
    machine: Machine,
    ranks: int,
    *,
    collectives: Mapping[str, Groups] = MappingProxyType({}),
    traffic: TrafficOf | None = None,
    cache: NetworkCache | None = None,
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
        cache: Where networks that take long to build are kept; None: nowhere.

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
    network, moved = ordered_network(chosen, machine, traffic, cache)
    ordered = network.relabel(moved)
    where = machine_of_mappers(chosen, ordered, machine)
    places = placed(chosen, ranks, where, traffic)
    rank_hosts = tuple(where.place_hosts[places].tolist())
    options = base_options(chosen, machine) | _algorithms(chosen, ranks, rank_hosts, collectives)
    return Resolved(
        with_settings(machine, settings),
        ordered,
        rank_hosts,
        dict(sorted(options.items())),
        tuple(moved[: network.hosts]),
        where,
        places,
    )


def _algorithms(
    chosen: Configuration,
    ranks: int,
    rank_hosts: tuple[int, ...],
    collectives: Mapping[str, Groups],
) -> dict[str, str]:
    """The options of the algorithms that a configuration names.

    Raises:
        Infeasible: One of them, or of those that the MPI implementation would choose for what the
            application calls, cannot be used on these ranks.
    """
    mpi = str(chosen["mpi"])
    options: dict[str, str] = {}
    for name in COLLECTIVES:
        named = algorithm_option(name, chosen, mpi)
        options |= named
        if not named and name not in collectives:
            continue
        groups = collectives.get(name, WORLD)
        for line in lines_of(chosen, name):
            reason = collective_obstacle(name, line.algorithm, mpi, ranks, rank_hosts, groups)
            if reason is not None:
                raise Infeasible(f"{PARAMETER}{name}: {reason}")
    return options

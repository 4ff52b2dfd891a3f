"""What an emulated cluster consists of: nodes, cables with rates, addresses, and ways.

Pure functions of a machine. Node i is host i of the machine; switches without hosts follow.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.kernels import Routes, routes
from searchspace.machine import Machine, parse_machine

__all__ = ["DEVICE", "MOST_NODES", "Cable", "Hop", "Plan", "plan"]

DEVICE = "d0"
"""The device that holds the address of a host, the same in all of them."""
MOST_NODES = 1024
_SLOWEST = 10_000.0
"""Bytes/s of a cable; no machine has less."""
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_RATES = ("link_bandwidth", "host_link_bandwidth")
_NOT_EMULATED = {
    "switch_bandwidth": "the limit of what a switch forwards in all",
    "interface_bandwidth": "the limit of what a host's ranks share to the network",
    "memory_bandwidth": "the limit of what the ranks of a host exchange",
    "host_speeds": "hosts of different speeds",
}


@dataclass(frozen=True)
class Cable:
    """A cable, or parallel ones as a single one of their joint rate.

    Attributes:
        number: Index of its edge in the network.
        ends: The two nodes, the smaller one first.
        rate: Bytes/s each way, of whole Ethernet frames.
    """

    number: int
    ends: tuple[int, int]
    rate: float

    @property
    def device(self) -> str:
        """The name of its device at both ends."""
        return f"c{self.number}"

    def end(self, node: int) -> int:
        """Which end is at a node: 0 or 1."""
        return self.ends.index(node)

    def other(self, node: int) -> int:
        """The node at the other end."""
        return self.ends[1 - self.end(node)]

    def hardware_address(self, end: int) -> str:
        """The Ethernet address of an end."""
        return f"02:00:00:{self.number // 256:02x}:{self.number % 256:02x}:{end:02x}"


@dataclass(frozen=True)
class Hop:
    """Where a node sends something: over a cable, to the node at its other end."""

    cable: int
    node: int


@dataclass(frozen=True)
class Plan:
    """An emulated cluster.

    Attributes:
        machine: The machine, as it was described.
        network: Its network.
        scale: What all rates are divided by.
    """

    machine: Machine
    network: Graph
    scale: float

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The host name of every node."""
        switches = (f"switch-{number}" for number in range(self.network.switches))
        return (*self.machine.host_names, *switches)

    @cached_property
    def scaled_machine(self) -> Machine:
        """The machine whose rates the cables have: what is to be simulated for comparison."""
        return scaled(self.machine, self.scale)

    @cached_property
    def cables(self) -> tuple[Cable, ...]:
        """Every cable, by the number of its edge."""
        machine, network = self.scaled_machine, self.network
        found = []
        for number, ends in enumerate(network.edges):
            rate = machine.link_bandwidth
            at_host = network.switches and ends[0] < network.hosts
            if at_host and machine.host_link_bandwidth is not None:
                rate = machine.host_link_bandwidth
            found.append(Cable(number, ends, rate * network.width(number)))
        return tuple(found)

    @cached_property
    def cables_of(self) -> tuple[tuple[Cable, ...], ...]:
        """The cables of each node."""
        found: list[list[Cable]] = [[] for _ in range(self.network.nodes)]
        for cable in self.cables:
            for node in cable.ends:
                found[node].append(cable)
        return tuple(map(tuple, found))

    @cached_property
    def routes(self) -> Routes:
        """The ways between hosts, by the rule of the machine."""
        network = self.network
        hosts = network.hosts if network.switches else None
        return routes(network.nodes, network.edges, hosts=hosts, tie_rule=self.machine.tie_rule)

    @cached_property
    def next_hops(self) -> Mapping[int, Mapping[tuple[int, int], Hop]]:
        """For each node, where it sends what goes from one host to another."""
        found: dict[int, dict[tuple[int, int], Hop]] = defaultdict(dict)
        for pair in itertools.permutations(range(self.network.hosts), 2):
            for number, forward in self.routes.path(*pair):
                here, there = self.network.edges[number][:: 1 if forward else -1]
                found[here][pair] = Hop(number, there)
        return found

    @property
    def notes(self) -> list[str]:
        """What of the machine the emulated cluster does not have, a sentence each."""
        found = [
            f"{field} is not emulated: {what}"
            for field, what in _NOT_EMULATED.items()
            if getattr(self.machine, field) is not None
        ]
        if self.network.widths:
            found.append(
                "parallel cables are one of their joint rate, as the fluid model has them; the "
                "packets model keeps two ranks on one of them"
            )
        return found

    def address(self, node: int) -> str:
        """The IP address of a node."""
        return f"10.77.{node // 250}.{node % 250 + 1}"

    @property
    def most_hops(self) -> tuple[int, int]:
        """A pair of hosts with the longest way between them."""
        pairs = itertools.combinations(range(self.network.hosts), 2)
        return max(pairs, key=lambda pair: len(self.routes.path(*pair)))


def plan(machine: Machine, scale: float = 1.0) -> Plan:
    """Plans the emulated cluster of a machine.

    Args:
        machine: With a network.
        scale: What all rates are divided by.

    Raises:
        InvalidInput: The machine has no network, too many nodes, names that hosts cannot have or
            that switches have, or cables that are too slow.
    """
    network = machine.given_network
    if network is None:
        raise InvalidInput(
            "is required: an emulated cluster needs the cables; name a network with "
            "'--configuration', or write one into the machine",
            field="topology",
        )
    if network.hosts < 2:
        raise InvalidInput("an emulated cluster needs two hosts or more", field="nodes")
    if network.nodes > MOST_NODES:
        raise InvalidInput(
            f"an emulated cluster has at most {MOST_NODES} hosts and switches, not {network.nodes}",
            field="nodes",
        )
    if not scale > 0:
        raise InvalidInput("must be greater than 0", field="scale")
    made = Plan(machine, network, scale)
    _check_names(made)
    rates = [getattr(machine, field) for field in _RATES]
    slowest = min(rate for rate in rates if rate is not None) / scale
    if slowest < _SLOWEST:
        raise InvalidInput(
            f"with a scale of {scale:g} the slowest cable carries {slowest:.3g} bytes/s; take a "
            "smaller one",
            field="scale",
        )
    return made


def _check_names(made: Plan) -> None:
    """Refuses names by which a node could not be found."""
    field = "topology.host_names"
    switches = frozenset(made.names[made.network.hosts :])
    for name in made.machine.host_names:
        if not _NAME.fullmatch(name):
            raise InvalidInput(f"{name[:80]!r} cannot be the name of a host", field=field)
        if name in switches:
            raise InvalidInput(
                f"{name!r} is the name of a switch of the emulated cluster; rename that host",
                field=field,
            )


def scaled(machine: Machine, scale: float) -> Machine:
    """The machine with the rates of its cables divided; hosts are as fast as they are."""
    document: dict[str, Any] = machine.canonical()
    for field in _RATES:
        if document.get(field) is not None:
            document[field] = document[field] / scale
    return parse_machine(document)

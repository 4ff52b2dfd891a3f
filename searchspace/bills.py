"""Bills: what the network of a configuration consists of, costs and draws, before any simulation.

Nodes stand on the floor in the order of their numbers, those that the configuration's ordering
gives: the same places as in an exported list of cables.
"""

from __future__ import annotations

import functools
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from searchspace.configuration import DEFAULTS, Configuration, Value
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.machine import Machine
from searchspace.parts import Parts
from searchspace.platform import GIVEN, Infeasible, TrafficOf, network_of
from searchspace.topology import DEGREE, FAMILIES
from searchspace.topology.cost import cables, cost, power, switch_ports
from searchspace.topology.hosts import HOSTS_PER_SWITCH
from searchspace.topology.metrics import measure
from searchspace.topology.network_cache import NetworkCache

__all__ = ["Bill", "Bills", "Key", "bill_of", "decisive", "named_network", "shared_bills"]

_STAND_IN = "random"
"""Of a network that takes long to build: it has as many switches, ports and cables."""

_MOST_KNOWN = 4096
"""Bills that are remembered of a machine that many ask for, a few megabytes."""

Key: TypeAlias = tuple[tuple[str, Value], ...]
"""What of a configuration decides on its network and where its nodes stand."""


@dataclass(frozen=True)
class Bill:
    """What a network comes to.

    Attributes:
        cost: Price of all of it, in the currency of the prices; infinite where it cannot be built.
        power: Watts; infinite where it cannot be built.
        switches: How many; in a direct network one in each host.
        cables: How many.
        adapters: How many; none in a direct network.
        metres: Of all cables together.
        diameter: Cables between the two hosts that are farthest apart.
        hosts: How many it connects.
        radixes: How many switches of which radix are bought.
        obstacle: Why it cannot be built of these parts, where it cannot.
    """

    cost: float
    power: float
    switches: int
    cables: int
    adapters: int
    metres: float
    diameter: int
    hosts: int
    radixes: Mapping[int, int]
    obstacle: str | None = None


def bill_of(network: Graph, parts: Parts) -> Bill:
    """Adds up what a network comes to; no error where no switch has ports enough, but an obstacle.

    Raises:
        InvalidInput: The network is not connected.
    """
    lengths = parts.plan.lengths(network)
    radixes: dict[int, int] = {}
    obstacle = None
    price = watts = math.inf
    try:
        for needed, count in switch_ports(network).items():
            radix = parts.prices.switch(needed).radix
            radixes[radix] = radixes.get(radix, 0) + count
        price = cost(network, lengths, parts.prices)["total"]
        watts = power(network, lengths, parts.prices)["total"]
    except InvalidInput as error:
        obstacle = f"machine.parts.switches: {error.message}"
    return Bill(
        cost=price,
        power=watts,
        switches=network.switches or network.nodes,
        cables=cables(network),
        adapters=sum(
            network.width(i) for i, (u, _) in enumerate(network.edges) if u < network.hosts
        )
        if network.switches
        else 0,
        metres=sum(network.width(index) * metres for index, metres in enumerate(lengths)),
        diameter=measure(network).diameter if network.hosts > 1 else 0,
        hosts=network.hosts,
        radixes=dict(sorted(radixes.items())),
        obstacle=obstacle,
    )


class Bills:
    """The bills of the networks of one machine, each made once. For several threads.

    Args:
        machine: Where the networks are.
        parts: What they are built of.
        traffic: What an application's ranks exchange; networks made for it have no bill without.
        cache: Where networks that take long to build are; without, they have no bill.
        most_nodes: Of all networks together that are built; None: any. Others have no bill then.
        most_known: How many bills are remembered, the last ones asked for; None: all. Whatever was
            forgotten is made again.
    """

    def __init__(
        self,
        machine: Machine,
        parts: Parts,
        *,
        traffic: TrafficOf | None = None,
        cache: NetworkCache | None = None,
        most_nodes: int | None = None,
        most_known: int | None = None,
    ) -> None:
        self._left = math.inf if most_nodes is None else most_nodes
        self._machine = machine
        self._parts = parts
        self._traffic = traffic
        self._cache = cache
        self._most_known = most_known
        self._lock = threading.Lock()  # of what is remembered; bills are made outside it
        self._known: OrderedDict[Key, Bill | None] = OrderedDict()
        # The first of networks that differ in seed or ordering.
        self._alike: OrderedDict[Key, Bill] = OrderedDict()

    def of(self, configuration: Mapping[str, Value]) -> Bill | None:
        """The bill of a configuration's network; None where it is not known, or there is none.

        Whatever the place where networks are kept raises goes on to the caller: what is away for a
        moment is no network that cannot be had.
        """
        key = decisive(configuration)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        bill = self._made(dict(key))
        with self._lock:
            bill = self._known.setdefault(key, bill)
            if bill is not None:
                self._alike.setdefault(_shape(key), bill)
            for remembered in (self._known, self._alike):
                while self._most_known is not None and len(remembered) > self._most_known:
                    remembered.popitem(last=False)
        return bill

    def expected(self, configuration: Mapping[str, Value]) -> Bill | None:
        """The bill, or that of a network like it where it has none.

        Networks that differ in seed or ordering differ in the lengths of cables alone; those that
        take long to build have as many switches and cables as random ones.
        """
        bill = self.of(configuration) or self._alike.get(_shape(decisive(configuration)))
        family = str(configuration.get("topology"))
        if bill is not None or family not in FAMILIES or not FAMILIES[family].costly:
            return bill
        alike = {"topology": _STAND_IN, "ordering": configuration.get("ordering", "original")}
        for option in (DEGREE.name, HOSTS_PER_SWITCH.name):
            if f"{family}.{option}" in configuration:
                alike[f"{_STAND_IN}.{option}"] = configuration[f"{family}.{option}"]
        return self.expected(alike)

    def _made(self, chosen: Mapping[str, Value]) -> Bill | None:
        family = FAMILIES.get(str(chosen.get("topology")))
        costly = family is not None and family.costly and self._cache is None
        if costly or self._left < self._machine.nodes:
            return None
        self._left -= self._machine.nodes
        try:
            network = network_of(
                Configuration(chosen), self._machine, traffic=self._traffic, cache=self._cache
            )
            return bill_of(network, self._parts)
        except (InvalidInput, Infeasible):  # a trial will say what is wrong
            return None


def decisive(configuration: Mapping[str, Value]) -> Key:
    """What of a configuration decides on its network and where its nodes stand."""
    prefix = f"{configuration.get('topology')}."
    names = ("topology", "topology_seed", "ordering")
    chosen = {"ordering": DEFAULTS["ordering"]} | {
        name: value
        for name, value in configuration.items()
        if name in names or name.startswith(prefix)
    }
    return tuple(sorted(chosen.items()))


def _shape(key: Key) -> Key:
    """What of that decides on how many parts there are."""
    return tuple((name, value) for name, value in key if name not in ("topology_seed", "ordering"))


def named_network(configuration: Mapping[str, Value]) -> str:
    """What of a configuration decides on its bill, in words: `random (degree = 4, seed 2)`."""
    chosen = dict(decisive(configuration))
    family = str(chosen.pop("topology", GIVEN))
    ordering = chosen.pop("ordering")
    seed = chosen.pop("topology_seed", None)
    words = [f"{name.removeprefix(f'{family}.')} = {value}" for name, value in chosen.items()]
    words += [] if seed is None else [f"seed {seed}"]
    words += [] if ordering == DEFAULTS["ordering"] else [str(ordering)]
    return f"{family} ({', '.join(words)})" if words else family


@dataclass(frozen=True)
class _OnMachine:
    """What decides on bills that need no traffic and nothing kept, compared by its identity."""

    sha256: str
    parts_json: str
    machine: Machine = field(compare=False)
    parts: Parts = field(compare=False)


def shared_bills(machine: Machine, parts: Parts) -> Bills:
    """The bills that all who ask for this machine and these parts share.

    Those of networks that take long to build, or are made for traffic, are not among them.
    """
    return _shared(_OnMachine(machine.sha256, parts.model_dump_json(), machine, parts))


@functools.lru_cache(maxsize=32)
def _shared(where: _OnMachine) -> Bills:
    return Bills(where.machine, where.parts, most_known=_MOST_KNOWN)

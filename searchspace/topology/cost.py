"""What a network costs and draws: switches, cables by length, adapters of hosts.

The default prices and watts are round figures for parts of a current cluster network, in no
currency; they are there to compare networks and are meant to be replaced by one's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = ["SWITCHES", "Prices", "Switch", "cables", "cost", "ports", "power", "switch_ports"]


@dataclass(frozen=True)
class Switch:
    """A switch that can be bought.

    Attributes:
        radix: Its ports.
        price: Of all of it.
        watts: That it draws.
    """

    radix: int
    price: float
    watts: float


SWITCHES = (
    Switch(4, 1_000, 20),
    Switch(8, 2_000, 40),
    Switch(16, 5_000, 80),
    Switch(24, 7_500, 120),
    Switch(36, 11_000, 180),
    Switch(64, 20_000, 320),
)
"""Round figures: some 300 and 5 W a port, a little less for those that may sit inside a host."""


@dataclass(frozen=True)
class Prices:
    """Prices, and what the parts draw.

    Attributes:
        port: One port of a switch, where `switches` names none.
        adapter: One port of a host; a direct network has none, since every host is a switch.
        copper: A copper cable, without its length.
        copper_metre: One metre of it.
        optical: An optical cable with its transceivers, without its length.
        optical_metre: One metre of it.
        reach: Metres up to which a cable is of copper.
        port_watts: Of one port of a switch, where `switches` names none.
        adapter_watts: Of an adapter.
        optical_watts: Of an optical cable: the transceivers at both its ends.
        switches: The switches there are to buy: each switch of a network is the cheapest with
            ports for all its cables. Empty: switches are bought by the port.
    """

    port: float = 300.0
    adapter: float = 400.0
    copper: float = 50.0
    copper_metre: float = 20.0
    optical: float = 300.0
    optical_metre: float = 5.0
    reach: float = 5.0
    port_watts: float = 5.0
    adapter_watts: float = 15.0
    optical_watts: float = 10.0
    switches: tuple[Switch, ...] = ()

    @classmethod
    def read(cls, text: str) -> Prices:
        """Reads `port=200,optical=150`; what is not named keeps its default.

        Raises:
            InvalidInput: There is no such price, or its value is not a number from 0 on.
        """
        allowed = [field.name for field in dataclasses.fields(cls) if field.name != "switches"]
        given: dict[str, Any] = {}
        for part in filter(None, (word.strip() for word in text.split(","))):
            name, _, value = part.partition("=")
            if name not in allowed:
                raise InvalidInput(f"unknown price '{name}'; allowed: {', '.join(allowed)}")
            try:
                given[name] = float(value)
            except ValueError:
                raise InvalidInput(f"the price {name} must be a number, not '{value}'") from None
            if not 0 <= given[name] < 1e12:
                raise InvalidInput(f"the price {name} must be a number from 0 on, not '{value}'")
        return dataclasses.replace(cls(), **given)

    def cable(self, metres: float) -> float:
        """The price of one cable."""
        if metres <= self.reach:
            return self.copper + self.copper_metre * metres
        return self.optical + self.optical_metre * metres

    def cable_watts(self, metres: float) -> float:
        """What one cable draws."""
        return 0.0 if metres <= self.reach else self.optical_watts

    def switch(self, needed: int) -> Switch:
        """What serves as a switch with that many cables.

        Raises:
            InvalidInput: None of the switches has so many ports.
        """
        if not self.switches:
            return Switch(needed, needed * self.port, needed * self.port_watts)
        fitting = [one for one in self.switches if one.radix >= needed]
        if not fitting:
            largest = max(one.radix for one in self.switches)
            raise InvalidInput(f"a switch needs {needed} ports, and the largest has {largest}")
        return min(fitting, key=lambda one: (one.price, one.watts, one.radix))


def cables(graph: Graph) -> int:
    """How many cables there are, parallel ones counted singly."""
    return sum(graph.widths) or len(graph.edges)


def ports(graph: Graph) -> int:
    """How many ports of switches are in use: ends of cables that are not at a plain host."""
    return sum(
        graph.width(index) * (1 if graph.switches and u < graph.hosts else 2)
        for index, (u, _) in enumerate(graph.edges)
    )


def switch_ports(graph: Graph) -> dict[int, int]:
    """How many switches have so many ports in use, by that number.

    In a direct network every host is a switch, which serves its own host without a port.
    """
    ends = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    widths = np.array(graph.widths or (1,) * len(ends), dtype=np.int64)
    used = np.zeros(graph.nodes, dtype=np.int64)
    for side in (0, 1):
        np.add.at(used, ends[:, side], widths)
    found, counts = np.unique(used[graph.hosts if graph.switches else 0 :], return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def cost(graph: Graph, lengths: Sequence[float], prices: Prices) -> Mapping[str, float]:
    """Adds up the prices of a network.

    Args:
        graph: The network.
        lengths: Metres of one cable of each edge.
        prices: The prices.

    Returns:
        The cost of `ports` (the switches), `adapters` and `cables`, and the `total`.

    Raises:
        InvalidInput: None of the switches of `prices` has ports enough.
    """
    return _sum(
        graph, lengths, lambda ports: prices.switch(ports).price, prices.adapter, prices.cable
    )


def power(graph: Graph, lengths: Sequence[float], prices: Prices) -> Mapping[str, float]:
    """Adds up the watts of a network, with the arguments, parts and errors of `cost`."""
    return _sum(
        graph,
        lengths,
        lambda ports: prices.switch(ports).watts,
        prices.adapter_watts,
        prices.cable_watts,
    )


def _sum(
    graph: Graph,
    lengths: Sequence[float],
    of_switch: Callable[[int], float],
    adapter: float,
    of_cable: Callable[[float], float],
) -> Mapping[str, float]:
    """Adds up what switches of so many ports, adapters and cables of so many metres count for."""
    parts = {
        "ports": sum(count * of_switch(needed) for needed, count in switch_ports(graph).items()),
        "adapters": _adapters(graph) * adapter,
        "cables": sum(
            graph.width(index) * of_cable(metres) for index, metres in enumerate(lengths)
        ),
    }
    return parts | {"total": sum(parts.values())}


def _adapters(graph: Graph) -> int:
    """Ends of cables at plain hosts."""
    return 2 * cables(graph) - ports(graph)

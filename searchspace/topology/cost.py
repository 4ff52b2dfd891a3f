"""What a network costs: ports, cables by length, adapters of hosts.

The default prices are round figures for one port of a current cluster network, in no currency; they
are there to compare networks and are meant to be replaced by one's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = ["Prices", "cables", "cost", "ports"]


@dataclass(frozen=True)
class Prices:
    """Prices.

    Attributes:
        port: One port of a switch.
        adapter: One port of a host; a direct network has none, since every host is a switch.
        copper: A copper cable, without its length.
        copper_metre: One metre of it.
        optical: An optical cable with its transceivers, without its length.
        optical_metre: One metre of it.
        reach: Metres up to which a cable is of copper.
    """

    port: float = 300.0
    adapter: float = 400.0
    copper: float = 50.0
    copper_metre: float = 20.0
    optical: float = 300.0
    optical_metre: float = 5.0
    reach: float = 5.0

    @classmethod
    def read(cls, text: str) -> Prices:
        """Reads `port=200,optical=150`; what is not named keeps its default.

        Raises:
            InvalidInput: There is no such price, or its value is not a number from 0 on.
        """
        allowed = [field.name for field in fields(cls)]
        given: dict[str, float] = {}
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
        return cls(**given)

    def cable(self, metres: float) -> float:
        """The price of one cable."""
        if metres <= self.reach:
            return self.copper + self.copper_metre * metres
        return self.optical + self.optical_metre * metres


def cables(graph: Graph) -> int:
    """How many cables there are, parallel ones counted singly."""
    return sum(graph.widths) or len(graph.edges)


def ports(graph: Graph) -> int:
    """How many ports of switches are in use: ends of cables that are not at a plain host."""
    return sum(
        graph.width(index) * (1 if graph.switches and u < graph.hosts else 2)
        for index, (u, _) in enumerate(graph.edges)
    )


def cost(graph: Graph, lengths: Sequence[float], prices: Prices) -> Mapping[str, float]:
    """Adds up the prices of a network.

    Args:
        graph: The network.
        lengths: Metres of one cable of each edge.
        prices: The prices.

    Returns:
        The cost of `ports`, `adapters` and `cables`, and the `total`.
    """
    adapters = 2 * cables(graph) - ports(graph)
    parts = {
        "ports": ports(graph) * prices.port,
        "adapters": adapters * prices.adapter,
        "cables": sum(
            graph.width(index) * prices.cable(metres) for index, metres in enumerate(lengths)
        ),
    }
    return parts | {"total": sum(parts.values())}

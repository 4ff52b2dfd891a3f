"""What every topology family offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from searchspace.configuration import Scalar
from searchspace.graph import Graph
from searchspace.options import Option
from searchspace.traffic import Traffic

__all__ = ["Family", "NetworkSpec"]


@dataclass(frozen=True)
class NetworkSpec:
    """Which network of a family is asked for.

    Attributes:
        nodes: How many: hosts of an indirect network, else hosts with their switch.
        degree: Cables a switch, for the families that use it.
        seed: Chooses among the networks of a family that has more than one.
        options: The family's parameters, those left out at their defaults; read with `Option.read`.
        traffic: What its nodes exchange, for families made for that.
    """

    nodes: int
    degree: int | None = None
    seed: int = 0
    options: tuple[tuple[str, Scalar], ...] = ()
    traffic: Traffic | None = None

    def whole(self, name: str) -> int | None:
        """A parameter that is a whole number, if it is given."""
        value = dict(self.options).get(name)
        return None if value is None else int(value)

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """A parameter that is a list of whole numbers, if it is given."""
        value = dict(self.options).get(name)
        return None if value is None else tuple(map(int, str(value).split(",")))

    def choice(self, name: str) -> str:
        """A parameter that is a name."""
        return str(dict(self.options)[name])


@dataclass(frozen=True)
class Family:
    """A topology family.

    Attributes:
        name: The name in job files.
        description: One line for people.
        obstacle: Says why there is no such network, or None. It has to be quick.
        generate: Builds the network; only called where `obstacle` is None.
        uses_degree: Whether the machine's degree decides the network.
        uses_seed: Whether the seed decides the network.
        uses_traffic: Whether it is made for what an application's ranks exchange.
        indirect: Whether hosts are plugged into switches of their own.
        options: Its parameters.
        implied: The number of nodes that the parameters alone determine, if they do.
        costly: Whether a network takes long to build, so that it is worth keeping.
        version: Raised when the same description comes to mean another network, so that results
            for the old one are not taken for the new one's.
    """

    name: str
    description: str
    obstacle: Callable[[NetworkSpec], str | None]
    generate: Callable[[NetworkSpec], Graph]
    uses_degree: bool = False
    uses_seed: bool = False
    uses_traffic: bool = False
    indirect: bool = False
    options: tuple[Option, ...] = field(default=())
    implied: Callable[[NetworkSpec], int | None] = field(default=lambda _spec: None)
    costly: bool = False
    version: int = 1

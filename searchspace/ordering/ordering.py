"""What every ordering method offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from searchspace.errors import InvalidInput
from searchspace.graph import Graph

__all__ = ["Option", "Ordering"]


@dataclass(frozen=True)
class Option:
    """A number that a method can be given.

    Attributes:
        description: One line for people.
        default: What it is when nothing is said; its type is the option's type.
        low: The least value allowed.
        high: The greatest value allowed; None when there is no limit.
    """

    description: str
    default: int | float
    low: int | float
    high: int | float | None = None

    def check(self, name: str, value: int | float) -> int | float:
        """Brings a value to the option's type.

        Raises:
            InvalidInput: It is not of that type or outside the limits.
        """
        whole = isinstance(self.default, int)
        fits = value == int(value) if whole else True
        if not fits or value < self.low or (self.high is not None and value > self.high):
            kind = "a whole number" if whole else "a number"
            upper = "" if self.high is None else f" and at most {self.high}"
            raise InvalidInput(
                f"must be {kind} of at least {self.low}{upper}, not {value}", field=name
            )
        return int(value) if whole else float(value)


@dataclass(frozen=True)
class Ordering:
    """A method that renumbers the nodes of a network without moving a cable.

    Attributes:
        name: The name in job files.
        description: One line for people.
        method: Takes the network and, by name, the seed and every option; returns the old id of the
            new node 0, 1, ...
        options: The options by name.
    """

    name: str
    description: str
    method: Callable[..., tuple[int, ...]]
    options: Mapping[str, Option] = field(default_factory=dict)

    def order(self, graph: Graph, *, seed: int = 0, **options: int | float) -> tuple[int, ...]:
        """Orders the nodes of a network: the old id of the new node 0, 1, ...

        Raises:
            InvalidInput: The method has no such option, or the option no such value, or the method
                cannot order this network.
        """
        for name in options:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise InvalidInput(
                    f"the ordering '{self.name}' has no such option; it has: {known}", field=name
                )
        chosen = {
            name: option.check(name, options.get(name, option.default))
            for name, option in self.options.items()
        }
        return self.method(graph, seed=seed, **chosen)

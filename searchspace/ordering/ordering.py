"""What every ordering method offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.options import Option

__all__ = ["Ordering"]


@dataclass(frozen=True)
class Ordering:
    """A method that renumbers the nodes of a network without moving a cable.

    Attributes:
        name: The name in job files.
        description: One line for people.
        method: Takes the network and, by name, the seed and every option; returns the old id of the
            new node 0, 1, ...
        options: What the method can be given.
    """

    name: str
    description: str
    method: Callable[..., tuple[int, ...]]
    options: tuple[Option, ...] = ()

    def order(self, graph: Graph, *, seed: int = 0, **options: Scalar) -> tuple[int, ...]:
        """Orders the nodes of a network: the old id of the new node 0, 1, ...

        Raises:
            InvalidInput: The method has no such option, or the option no such value, or the method
                cannot order this network.
        """
        known = {option.name: option for option in self.options}
        for name in options:
            if name not in known:
                raise InvalidInput(
                    f"the ordering '{self.name}' has no such option; it has: "
                    f"{', '.join(known) or 'none'}",
                    field=name,
                )
        chosen = {
            name: option.read(options.get(name, option.initial)) for name, option in known.items()
        }
        return self.method(graph, seed=seed, **chosen)

"""What every mapper offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.configuration import Scalar
from searchspace.errors import InvalidInput
from searchspace.hop_machine import HopMachine
from searchspace.options import Choice, Option
from searchspace.traffic import Traffic

__all__ = ["SCOPE", "Mapper", "Places", "Proceed", "kernel_seed", "laid_over"]

Places = NDArray[np.uint32]
"""The place (usable core of a machine) of each rank."""

Proceed = Callable[[float, int], bool]
"""Told of the CPU seconds taken and the least hop-bytes so far; says whether to go on."""

SCOPE = Choice(
    "scope",
    "map between hosts and within them, or between them only",
    ("inter+intra", "inter"),
)
"""The option of mappers that go along the tree inside each host, too."""

_MOST_COST = 2**62


def kernel_seed(seed: int) -> int:
    """A seed as METIS and Scotch take it: 31 bits."""
    return seed % (2**31 - 1)


def laid_over(machine: HopMachine, ranks: NDArray[np.int64], nodes: NDArray[np.int64]) -> Places:
    """The place of each rank where both follow each other in an order of their own.

    Args:
        machine: Whose usable cores are the places; those of one host go in their own order.
        ranks: All of them, in the order in which they are placed.
        nodes: Of the network, or its hosts, in the order in which places are taken.
    """
    turn = np.empty(len(nodes), dtype=np.int64)
    turn[nodes] = np.arange(len(nodes))
    order = np.argsort(turn[machine.place_hosts], kind="stable")
    places = np.empty(len(ranks), dtype=np.uint32)
    places[ranks] = order[: len(ranks)]
    return places


def _any_machine(_machine: HopMachine) -> str | None:
    return None


@dataclass(frozen=True)
class Mapper:
    """A method that places ranks on the cores of a machine.

    Attributes:
        name: The name in job files.
        description: One line for people.
        method: Takes the traffic, the machine and, by name, the seed and every option; returns the
            place of each rank. Only called when there are enough places. Bytes x hops of all its
            traffic together stay below 2^62.
        options: What the method can be given.
        uses_traffic: Whether it looks at what ranks exchange; else only their number counts.
        uses_seed: Whether it makes random choices.
        anytime: Whether it goes on improving a mapping that it could return; `method` then takes
            what `place` got as `proceed` after the machine.
        obstacle: Says why it cannot be used on a machine, or returns None.
        version: Raised when the same traffic, machine and seed come to mean another mapping, so
            that results stored before are not taken for those of the new one.
    """

    name: str
    description: str
    method: Callable[..., Places]
    options: tuple[Option, ...] = ()
    uses_traffic: bool = True
    uses_seed: bool = False
    anytime: bool = False
    obstacle: Callable[[HopMachine], str | None] = _any_machine
    version: int = 1

    def read(self, options: dict[str, Scalar]) -> dict[str, Scalar]:
        """Brings options into their one form, the missing ones at their defaults.

        Raises:
            InvalidInput: The mapper has no such option, or the option no such value.
        """
        known = {option.name: option for option in self.options}
        for name in options:
            if name not in known:
                raise InvalidInput(
                    f"the mapping '{self.name}' has no such option; it has: "
                    f"{', '.join(known) or 'none'}",
                    field=name,
                )
        return {
            name: option.read(options.get(name, option.initial)) for name, option in known.items()
        }

    def place(
        self,
        traffic: Traffic,
        machine: HopMachine,
        proceed: Proceed | None = None,
        /,
        *,
        seed: int = 0,
        **options: Scalar,
    ) -> Places:
        """Places ranks: the place of rank 0, 1, ..., all distinct.

        A mapper that is `anytime` asks `proceed` now and then; others just finish.

        Raises:
            InvalidInput: There are more ranks than places, the mapper cannot be used on this
                machine, or it has no such option or value.
        """
        if not 1 <= traffic.ranks <= machine.places:
            raise InvalidInput(_too_many(traffic.ranks, machine))
        chosen = self.read(options)
        reason = self.obstacle(machine)
        if reason is not None:
            raise InvalidInput(f"the mapping '{self.name}' {reason}")
        modest = traffic.within(_MOST_COST // max(1, machine.most_hops))
        if self.anytime:
            return self.method(modest, machine, proceed, seed=seed, **chosen)
        return self.method(modest, machine, seed=seed, **chosen)


def _too_many(ranks: int, machine: HopMachine) -> str:
    cores = set(machine.cores_per_host)
    each = f" of {cores.pop()} cores" if len(cores) == 1 else ""
    return (
        f"{ranks} ranks do not fit on {machine.hosts} hosts{each} (1 to {machine.places} ranks do)"
    )

"""What the catalogue says about a collective and its algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from searchspace.collectives.rules import Rule

__all__ = ["Algorithm", "Collective", "collective"]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of a collective in the simulator.

    Attributes:
        name: SMPI's name for it (`smpi/alltoall:NAME`), or ours.
        description: One line for people.
        rules: Where it works.
        withheld: Why it is never offered; None when it is.
        decision_table: Whether it is no algorithm of its own but the table by which an MPI
            implementation chooses one.
        own: Whether it is ours: SMPI by itself does not know the name.
        same_in_smpi: The algorithm of SMPI that one of ours is another name for.
    """

    name: str
    description: str
    rules: tuple[Rule, ...] = ()
    withheld: str | None = None
    decision_table: bool = False
    own: bool = False
    same_in_smpi: str | None = None

    @property
    def offered(self) -> bool:
        """Whether a search may choose it."""
        return self.withheld is None

    def invalid(self, ranks: int, rank_hosts: Sequence[int] | None = None) -> str | None:
        """Says why the algorithm cannot be used, or returns None.

        Args:
            ranks: Size of the communicator.
            rank_hosts: The host of each rank; None when unknown, which skips the rules about
                hosts.
        """
        if self.withheld is not None:
            return self.withheld
        reasons = (rule(ranks, rank_hosts) for rule in self.rules)
        return next((reason for reason in reasons if reason is not None), None)


@dataclass(frozen=True)
class Collective:
    """A collective operation and its algorithms, by name."""

    name: str
    description: str
    algorithms: dict[str, Algorithm] = field(hash=False)

    @property
    def offered(self) -> tuple[Algorithm, ...]:
        """The algorithms that `all` stands for: those offered, without the decision tables."""
        return tuple(a for a in self.algorithms.values() if a.offered and not a.decision_table)


def collective(name: str, description: str, algorithms: Iterable[Algorithm]) -> Collective:
    """Puts a collective together."""
    return Collective(name, description, {algorithm.name: algorithm for algorithm in algorithms})

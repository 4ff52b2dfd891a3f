"""What every optimiser of networks offers: a search in steps that can be written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.topology.metrics import aspl_lower_bound
from searchspace.traffic import Traffic

__all__ = [
    "Objective",
    "Optimiser",
    "Point",
    "Problem",
    "Ring",
    "Search",
    "check_exchanges_suffice",
    "check_size",
    "check_symmetry",
]

Objective = Literal["aspl", "bisection", "traffic"]
Ring = Literal["keep", "free"]


@dataclass(frozen=True)
class Problem:
    """What to optimise.

    Attributes:
        nodes: Hosts.
        degree: Cables a host.
        objective: Least ASPL, greatest bisection width, or what suits the traffic best.
        seed: Of all random choices.
        iterations: Moves that each thread may propose; None when CPU time bounds the search.
        seconds: CPU seconds a thread that the search is planned for, when `iterations` is None.
        symmetry: Order of the rotation that must map the network onto itself; None: the search
            chooses.
        ring: Whether the ring 0, 1, 2, ... stays in the network (Deng's Hamiltonian ring).
        diameter_first: Whether a smaller diameter counts more than any ASPL.
        start: Where to begin; None: at random.
        threads: Searches that run side by side.
        patience: Moves without success after which 2-opt stops (Hu's I).
        girth: Least length of a cycle in the networks that are listed; None: 3.
        traffic: Of ranks, in order on the hosts; for the objective `traffic` alone.
    """

    nodes: int
    degree: int
    objective: Objective = "aspl"
    seed: int = 0
    iterations: int | None = None
    seconds: float = 60.0
    symmetry: int | None = None
    ring: Ring = "free"
    diameter_first: bool = False
    start: Graph | None = None
    threads: int = 1
    patience: int = 1000
    girth: int | None = None
    traffic: Traffic | None = None

    @property
    def aspl_lower_bound(self) -> float:
        """The ASPL that no network of this size can be below."""
        return aspl_lower_bound(self.nodes, self.degree)


def check_exchanges_suffice(problem: Problem) -> None:
    """Check that free exchanges of cables can solve a problem.

    Raises:
        InvalidInput: It asks for what only simulated annealing has.
    """
    if problem.ring == "keep" or (problem.symmetry or 1) > 1 or problem.diameter_first:
        raise InvalidInput(
            "--ring keep, --symmetry and --diameter-first belong to method sa", field="method"
        )


def check_size(nodes: int, degree: int) -> None:
    """Check that a connected regular network of that size exists.

    Raises:
        InvalidInput: There is none.
    """
    if nodes < 2:
        raise InvalidInput(
            f"a network to optimise has at least 2 nodes, not {nodes}", field="nodes"
        )
    if not 1 <= degree < nodes:
        raise InvalidInput(
            f"the degree of a network of {nodes} nodes is from 1 to {nodes - 1}, not {degree}",
            field="degree",
        )
    if nodes * degree % 2:
        raise InvalidInput(
            f"nodes x degree must be even, not {nodes} x {degree}: every cable has two ends",
            field="degree",
        )
    if degree == 1 and nodes > 2:
        raise InvalidInput(
            f"no connected network of {nodes} nodes has degree 1; use 2 or more", field="degree"
        )


def check_symmetry(nodes: int, symmetry: int) -> None:
    """Check that networks of that size can have a rotation.

    Raises:
        InvalidInput: They cannot.
    """
    if symmetry < 1 or nodes % symmetry:
        divisors = [number for number in range(1, nodes + 1) if nodes % number == 0]
        raise InvalidInput(
            f"a symmetry of {symmetry} does not divide {nodes} nodes; use one of "
            f"{', '.join(map(str, divisors))}",
            field="symmetry",
        )


@dataclass(frozen=True)
class Point:
    """A network that a search found, and how good the search holds it to be.

    `bisection_width` is the search's own estimate, to be verified at the end; `note` is what else
    people should know about it.
    """

    graph: Graph
    aspl: float | None = None
    diameter: int | None = None
    bisection_width: int | None = None
    symmetry: int = 1
    note: str = ""


class Search(Protocol):
    """A search under way. Its moves depend on the problem alone, never on the clock."""

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to do: the plan is done, or no better network can exist."""
        ...

    @property
    def best(self) -> Point:
        """The best network so far."""
        ...

    @property
    def moves(self) -> int:
        """Networks evaluated so far."""
        ...

    def step(self) -> None:
        """Go on for some tenths of a CPU second at most; only while not `finished`."""
        ...

    def state(self) -> dict[str, Any]:
        """All that `Optimiser.resume` needs to go on exactly here, as JSON."""
        ...


@dataclass(frozen=True)
class Optimiser:
    """A method of optimising networks.

    Attributes:
        name: The name on the command line and in job files.
        description: One line for people.
        objectives: Which objectives it can have.
        begin: Starts a search; raises InvalidInput when the method cannot do what is asked.
        resume: Goes on from `Search.state()` of the same problem.
        parallel: Whether it can search in several threads.
    """

    name: str
    description: str
    objectives: tuple[Objective, ...]
    begin: Callable[[Problem], Search]
    resume: Callable[[Problem, Mapping[str, Any]], Search]
    parallel: bool = False

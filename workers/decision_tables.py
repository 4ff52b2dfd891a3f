"""A cluster's decision table: all algorithms that a library has, simulated at all sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.decision_table import WORTH, DecisionTable, Times, decide
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.platform import Resolved
from workers.collective_times import Asked, simulate_collectives

__all__ = ["Decided", "Sizes", "candidates", "decide_collectives"]

Sizes: TypeAlias = Mapping[str, Mapping[int, Sequence[int]]]
"""By collective, by ranks of a communicator: the bytes of calls."""


@dataclass(frozen=True)
class Decided:
    """A table and what it rests on.

    Attributes:
        table: By collective.
        times: By collective, ranks, bytes and algorithm: seconds of a call.
        more_than: The same of algorithms that were given up: seconds that they take at least.
        failed: By collective, ranks and bytes: why the library's own choice cannot be simulated
            there; it is left to the library.
        evaluations: Simulations.
        cpu_seconds: What they cost.
    """

    table: DecisionTable
    times: Mapping[str, Times]
    more_than: Mapping[str, Times]
    failed: Mapping[tuple[str, int, int], str]
    evaluations: int
    cpu_seconds: float


def decide_collectives(
    resolved: Resolved,
    target: Target,
    sizes: Sizes,
    *,
    non_commutative: Collection[str] | None = None,
    worth: float = WORTH,
    at_once: int = 1,
    done: Callable[[int], None] = lambda _: None,
) -> Decided:
    """Simulate every algorithm of a library at every size, and take the fastest.

    Args:
        resolved: The cluster, with its network; see `simulate_collectives`.
        target: The library.
        sizes: What is to be decided.
        non_commutative: The reductions that are called with operations that do not commute; None
            where that is not known. Only algorithms are taken that the library runs for these, or
            under which it gives right numbers for all.
        worth: See `decide`.
        at_once: How many simulators work side by side; the table does not depend on it.
        done: See `simulate_collectives`.

    Raises:
        InvalidInput: More ranks are asked for than there are.
    """
    asked = [
        Asked(
            name,
            ranks,
            tuple(calls),
            candidates(target, name, ranks, non_commutative),
            target.selector,
            name in (non_commutative or ()),
        )
        for name, of in sizes.items()
        for ranks, calls in of.items()
    ]
    found = simulate_collectives(resolved, asked, at_once=at_once, done=done)
    times: dict[str, dict[int, Mapping[int, Mapping[str, float]]]] = {name: {} for name in sizes}
    more_than: dict[str, dict[int, Mapping[int, Mapping[str, float]]]] = {n: {} for n in sizes}
    for one, result in zip(asked, found, strict=True):
        times[one.collective][one.ranks] = result.seconds
        more_than[one.collective][one.ranks] = result.more_than
    blind = DECISION_FILES[target.format].without_size
    table = {
        name: decide(of, _works(target, name), by_size=name not in blind, worth=worth)
        for name, of in times.items()
    }
    return Decided(
        table,
        times,
        more_than,
        {
            (one.collective, one.ranks, size): why
            for one, result in zip(asked, found, strict=True)
            for size, why in result.failed.items()
        },
        sum(one.evaluations for one in found),
        sum(one.cpu_seconds for one in found),
    )


def candidates(
    target: Target, collective: str, ranks: int, non_commutative: Collection[str] | None
) -> tuple[str, ...]:
    """The algorithms that a library's file may name for communicators of so many ranks.

    Args:
        target: The library.
        collective: A key of `COLLECTIVES`.
        ranks: Of the communicator.
        non_commutative: See `decide_collectives`.
    """
    if collective not in DECISION_FILES[target.format].named:
        return ()
    works = _works(target, collective)
    return tuple(
        name
        for name in target.expressible(collective, (ranks,))
        if works(name, ranks) and _fits(target, collective, name, non_commutative)
    )


def _fits(
    target: Target, collective: str, name: str, non_commutative: Collection[str] | None
) -> bool:
    """Tells whether a library that is told so gives right numbers, by what was simulated."""
    apart = DECISION_FILES[target.format].is_for_commutative_only
    if non_commutative is None:
        return apart or target.is_correct(collective, name)
    if collective not in non_commutative:
        return True
    return not apart and target.order_obstacle(collective, name) is None


def _works(target: Target, collective: str) -> Callable[[str, int], bool]:
    """Tells whether an algorithm works in a communicator, in the simulator and in the library."""
    algorithms = COLLECTIVES[collective].algorithms

    def works(name: str, ranks: int) -> bool:
        is_there = target.equivalent(collective, name, (ranks,)).kind == "same"
        return is_there and algorithms[name].invalid(ranks) is None

    return works

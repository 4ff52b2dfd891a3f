"""A cluster's decision table: all algorithms that a library has, simulated at all sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from searchspace.collectives import COLLECTIVES
from searchspace.collectives.decision_table import WORTH, DecisionTable, Times, decide
from searchspace.collectives.equivalents import Target
from searchspace.collectives.equivalents.decision_files import DECISION_FILES
from searchspace.configuration import Configuration
from searchspace.machine import Machine
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
        evaluations: Simulations.
        cpu_seconds: What they cost.
    """

    table: DecisionTable
    times: Mapping[str, Times]
    more_than: Mapping[str, Times]
    evaluations: int
    cpu_seconds: float


def decide_collectives(
    machine: Machine,
    configuration: Configuration,
    target: Target,
    sizes: Sizes,
    *,
    worth: float = WORTH,
    at_once: int = 1,
    done: Callable[[int], None] = lambda _: None,
) -> Decided:
    """Simulate every algorithm of a library at every size, and take the fastest.

    Args:
        machine: The cluster.
        configuration: Its network, mapping and settings of the transport; no collectives.
        target: The library.
        sizes: What is to be decided.
        worth: See `decide`.
        at_once: How many simulators work side by side; the table does not depend on it.
        done: See `simulate_collectives`.

    Raises:
        Infeasible: The configuration cannot be.
        InvalidInput: There are more ranks than cores.
        HamtuneError: The library's own choice cannot be simulated at some size.
    """
    asked = [
        Asked(name, ranks, tuple(calls), candidates(target, name, ranks), target.selector)
        for name, of in sizes.items()
        for ranks, calls in of.items()
    ]
    found = simulate_collectives(machine, configuration, asked, at_once=at_once, done=done)
    times: dict[str, dict[int, Mapping[int, Mapping[str, float]]]] = {name: {} for name in sizes}
    more_than: dict[str, dict[int, Mapping[int, Mapping[str, float]]]] = {n: {} for n in sizes}
    for one, result in zip(asked, found, strict=True):
        times[one.collective][one.ranks] = result.seconds
        more_than[one.collective][one.ranks] = result.more_than
    blind = DECISION_FILES[target.format].without_size
    table = {
        name: decide(of, _works(name), by_size=name not in blind, worth=worth)
        for name, of in times.items()
    }
    return Decided(
        table,
        times,
        more_than,
        sum(one.evaluations for one in found),
        sum(one.cpu_seconds for one in found),
    )


def candidates(target: Target, collective: str, ranks: int) -> tuple[str, ...]:
    """The algorithms of a library that work in a communicator of so many ranks."""
    algorithms = COLLECTIVES[collective].algorithms
    return tuple(
        name
        for name in target.expressible(collective, (ranks,))
        if algorithms[name].invalid(ranks) is None
    )


def _works(collective: str) -> Callable[[str, int], bool]:
    algorithms = COLLECTIVES[collective].algorithms
    return lambda name, ranks: algorithms[name].invalid(ranks) is None

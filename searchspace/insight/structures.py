"""Structures: what a configuration decides but for algorithms, and what is known of it.

A structure is a network with ranks on its hosts. Mappers that look at traffic see it under the
algorithms of a configuration, so that these may decide on the structure too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from searchspace.collectives import COLLECTIVES, DEFAULT, Groups
from searchspace.collectives.by_size import PARAMETER, names_algorithms, parameter, ranges_of
from searchspace.configuration import Configuration, Value, sha256_of
from searchspace.errors import HamtuneError
from searchspace.formats.trace_traffic import TracesTraffic, family_of
from searchspace.kernels import aspl_diameter
from searchspace.machine import Machine
from searchspace.mapping import MAPPERS
from searchspace.mapping.time_model import HostLimits, round_assignment
from searchspace.platform import Infeasible, Resolved, resolve
from searchspace.space import SearchSpace
from searchspace.topology import FAMILIES

__all__ = ["Structure", "Structures"]

_OF_TRANSPORT = "protocol."
_BUSIEST = 1
"""Which of the four terms of a mapping that is."""
_DIGITS = 9
_MOST_CORES = 512
"""Of a machine whose structures are looked at; on larger ones it costs as much as simulations."""


@dataclass(frozen=True)
class Structure:
    """What is known of a network with ranks on it.

    Attributes:
        mark: Equal for structures that are the same run.
        obstacle: Why it cannot be had, where it cannot.
        resolved: The network and the place of each rank; None where they are not looked at.
    """

    mark: str
    obstacle: str | None = None
    resolved: Resolved | None = None

    @property
    def rank_hosts(self) -> tuple[int, ...] | None:
        """The host of each rank, where that is known."""
        return None if self.resolved is None else self.resolved.rank_hosts


@dataclass(frozen=True)
class _Counts:
    """What was counted of a structure.

    Attributes:
        distances: Average distance and diameter of its network, shape (2,).
        program: Terms of what the program itself sends (`RoundAssignment.terms`), shape (4,).
        collectives: Terms that a collective adds, by its name and family of algorithms.
    """

    distances: NDArray[np.float64]
    program: NDArray[np.float64]
    collectives: Mapping[tuple[str, str], NDArray[np.float64]]


_NOTHING = _Counts(np.zeros(2), np.zeros(4), {})


class Structures:
    """Looks at the structures of configurations of one job, at each once.

    Args:
        space: What is searched.
        machine: Where it runs.
        ranks: Of the application.
        traffic: What its ranks exchange; None where that is not looked at.
        called: The collectives that it calls.
    """

    def __init__(
        self,
        space: SearchSpace,
        machine: Machine,
        ranks: int,
        traffic: TracesTraffic | None,
        called: Mapping[str, Groups],
    ) -> None:
        self._space = space
        self._machine = machine
        self._ranks = ranks
        self._traffic = traffic
        self._called = called
        self._names = tuple(n for n in COLLECTIVES if n in called and n != "barrier")
        self.ranges = ranges_of(parameter.name for parameter in space.parameters)
        self._known: dict[str, Structure] = {}
        self._counts: dict[str, _Counts] = {}  # by the mark of a structure
        self._last: tuple[Configuration, str] | None = None  # and its key: asked several times

    def of(self, configuration: Mapping[str, Value]) -> Structure:
        """The structure of a configuration."""
        key = self._key(configuration)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._looked_at(configuration, key)
        return found

    def seen(self, configuration: Mapping[str, Value]) -> bool:
        """Whether the structure of a configuration has been looked at."""
        return self._key(configuration) in self._known

    @property
    def count(self) -> int:
        """How many structures have been looked at."""
        return len(self._known)

    @property
    def too_large(self) -> bool:
        """Whether structures are told apart by their names alone."""
        return self._machine.cores > _MOST_CORES

    def numbers(self, configuration: Mapping[str, Value]) -> list[float]:
        """What is counted of a configuration's structure: ten numbers, zeros where nothing is.

        Average distance and diameter; volume, busiest cable, rounds and hops of what the program
        itself sends (`searchspace.mapping.time_model`); and these with its collectives.
        """
        counts = self._counts_of(self.of(configuration))
        return [*counts.distances, *counts.program, *self._terms(counts, configuration)]

    def busiest(self, configuration: Mapping[str, Value]) -> float:
        """Bytes that the busiest cable carries of program and collectives; infinite: not known.

        To so many digits that it is the same on all processors.
        """
        counts = self._counts_of(self.of(configuration))
        if counts is _NOTHING:
            return math.inf
        return float(f"{self._terms(counts, configuration)[_BUSIEST]:.{_DIGITS}g}")

    def _terms(self, counts: _Counts, configuration: Mapping[str, Value]) -> NDArray[np.float64]:
        """Those of the program with its collectives, shape (4,)."""
        total = counts.program.copy()
        for name in self._names:
            added = counts.collectives.get((name, self._family(name, configuration)))
            if added is not None:
                total += added
        return total

    def _counts_of(self, structure: Structure) -> _Counts:
        if structure.resolved is None:
            return _NOTHING
        counts = self._counts.get(structure.mark)
        if counts is None:
            try:
                counts = self._counted(structure.resolved)
            except HamtuneError:  # too large for its routes to be kept
                counts = _NOTHING
            self._counts[structure.mark] = counts
        return counts

    def _family(self, collective: str, configuration: Mapping[str, Value]) -> str:
        # Of the largest messages, which load cables most.
        name = parameter(collective, self.ranges.get(collective, (0,))[-1])
        return family_of(collective, str(configuration.get(name, DEFAULT)))

    def _key(self, configuration: Mapping[str, Value]) -> str:
        """What decides on the network and the places of ranks in it."""
        if not isinstance(configuration, Configuration):
            return self._made_key(configuration)
        last = self._last
        if last is None or last[0] is not configuration:
            self._last = last = configuration, self._made_key(configuration)
        return last[1]

    def _made_key(self, configuration: Mapping[str, Value]) -> str:
        chosen = {
            name: value
            for name, value in configuration.items()
            if not names_algorithms(name) and not name.startswith(_OF_TRANSPORT)
        }
        mapper = MAPPERS.get(str(configuration.get("mapping")))
        if mapper is not None and mapper.uses_traffic:
            families = [self._family(name, configuration) for name in self._names]
            chosen[PARAMETER] = ",".join(families)
        return repr(sorted(chosen.items()))

    def _looked_at(self, configuration: Mapping[str, Value], key: str) -> Structure:
        family = FAMILIES.get(str(configuration.get("topology")))
        if (family is not None and family.costly) or self.too_large:
            return Structure(key)
        try:
            resolved = resolve(
                Configuration(configuration), self._machine, self._ranks, traffic=self._traffic
            )
        except Infeasible as error:
            return Structure(key, str(error))
        except HamtuneError:  # a trial will say what is wrong
            return Structure(key)
        network = resolved.network
        speeds = resolved.host_speeds if self._machine.host_speeds is not None else ()
        cables = [network.nodes, network.edges, network.switches, network.widths]
        mark = sha256_of([*cables, resolved.rank_hosts, speeds])
        return Structure(mark, None, resolved)

    def _counted(self, resolved: Resolved) -> _Counts:
        network = resolved.network
        average, diameter = aspl_diameter(network.nodes, network.edges)
        program = self._counted_terms(resolved, {})
        collectives = {
            (name, family): self._counted_terms(resolved, {name: family}) - program
            for name, families in self._families.items()
            for family in families
        }
        return _Counts(np.array([average, diameter], dtype=np.float64), program, collectives)

    @functools.cached_property
    def _families(self) -> dict[str, list[str]]:
        """The families of algorithms that each collective may have."""
        return {
            name: sorted({family_of(name, str(value)) for value in self._values(name)})
            for name in self._names
        }

    def _values(self, collective: str) -> tuple[Value, ...]:
        for one in self._space.parameters:
            if one.name == PARAMETER + collective:
                return tuple(one.every())
        return (DEFAULT,)

    def _counted_terms(
        self, resolved: Resolved, families: Mapping[str, str]
    ) -> NDArray[np.float64]:
        if self._traffic is None:
            return np.zeros(4)
        rounds = self._traffic.rounds_of(families)
        if not len(rounds.number):
            return np.zeros(4)
        assignment = round_assignment(
            rounds,
            resolved.where,
            resolved.places,
            HostLimits.of(self._machine),
            tie_rule=self._machine.tie_rule,
        )
        return np.array(assignment.terms(), dtype=np.float64)

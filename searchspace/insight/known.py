"""Which configurations are the same run, and which cannot run, known without simulating them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from searchspace.bills import Bills
from searchspace.collectives import COLLECTIVES, DEFAULT, Groups
from searchspace.collectives.by_size import PARAMETER, collective_of, range_name
from searchspace.configuration import DEFAULTS, Value, canonical_json
from searchspace.insight.structures import Structure, Structures
from searchspace.platform import collective_obstacle
from searchspace.terms import Terms, Weight

__all__ = ["Known", "Probe", "Probes"]


@dataclass(frozen=True)
class Probe:
    """What an algorithm does with a program's calls of its collective (`workers.probes`).

    Attributes:
        seconds: Simulated, on one network; None where it stopped the program.
        alike: A number that algorithms share which are the same at these sizes and ranks; None
            where that is not known.
        stops: Why it stops the program, where it does.
        beside: By parameter, the algorithms of other collectives that are told apart beside this
            one, by number: those of the same number make no difference to it.
    """

    seconds: float | None
    alike: int | None
    stops: str | None = None
    beside: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


Entries: TypeAlias = dict[str, dict[tuple[str, str], Probe]]


@dataclass(frozen=True)
class Probes:
    """Probes by collective, and by algorithm and MPI implementation.

    A range of sizes with an algorithm of its own is one by itself, as in `allreduce@65536`.
    """

    entries: Entries = field(default_factory=dict)

    def of(self, collective: str, algorithm: str, mpi: str) -> Probe | None:
        """What is known of an algorithm under an MPI implementation."""
        return self.entries.get(collective, {}).get((algorithm, mpi))

    def to_json(self) -> dict[str, Any]:
        """As JSON, to be stored: by collective, algorithm and MPI implementation."""
        told: dict[str, Any] = {}
        for collective, entries in self.entries.items():
            for (algorithm, mpi), one in entries.items():
                by_mpi = told.setdefault(collective, {}).setdefault(algorithm, {})
                beside = [one.beside] if one.beside else []
                by_mpi[mpi] = [one.seconds, one.alike, one.stops, *beside]
        return told

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Probes:
        """Reads it back."""
        return cls(
            {
                collective: {
                    (algorithm, mpi): Probe(*one)
                    for algorithm, by_mpi in algorithms.items()
                    for mpi, one in by_mpi.items()
                }
                for collective, algorithms in told.items()
            }
        )

    def excluded(self) -> list[dict[str, Any]]:
        """What stops the program, as the description of a space lists what is left out."""
        return [
            {
                "parameter": PARAMETER + collective,
                "value": algorithm,
                "reason": one.stops if mpi == DEFAULT else f"under {mpi}: {one.stops}",
            }
            for collective, entries in self.entries.items()
            for (algorithm, mpi), one in entries.items()
            if one.stops is not None
        ]


@dataclass(frozen=True)
class Known:
    """What probes and structures tell of configurations of one program.

    Attributes:
        probes: What was found by probing.
        called: The collectives that the program calls.
        structures: Networks and the places of ranks in them.
        terms: What the job says of the price of networks; None where that is nothing.
        bills: Of the networks, where there are terms.
    """

    probes: Probes
    called: Mapping[str, Groups]
    structures: Structures
    terms: Terms | None = None
    bills: Bills | None = None
    _obstacles: dict[tuple[str, str, str, str], str | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @functools.cached_property
    def _ranges(self) -> tuple[tuple[str, ...], ...]:
        """The names of the ranges of each collective that is called."""
        begins = self.structures.ranges
        return tuple(
            tuple(range_name(name, since) for since in begins.get(name, (0,)))
            for name in COLLECTIVES
            if name in self.called
        )

    def algorithms(self, configuration: Mapping[str, Value]) -> Iterator[tuple[str, str, str]]:
        """Every collective that is called, its algorithm and the MPI implementation.

        One with algorithms by size comes once for each range, as in `Probes`.
        """
        mpi = str(configuration.get("mpi", DEFAULTS["mpi"]))
        for ranges in self._ranges:
            algorithm = DEFAULT
            for name in ranges:
                algorithm = str(configuration.get(PARAMETER + name, algorithm))
                yield name, algorithm, mpi

    def infeasible(self, configuration: Mapping[str, Value]) -> str | None:
        """Why a configuration cannot be had or would stop the program, or None."""
        structure = self.structures.of(configuration)
        if structure.obstacle is not None:
            return structure.obstacle
        broken = self._too_dear(configuration)
        if broken is not None:
            return broken
        reasons = (self._obstacle(structure, *one) for one in self.algorithms(configuration))
        return next((reason for reason in reasons if reason is not None), None)

    def _too_dear(self, configuration: Mapping[str, Value]) -> str | None:
        """Why a network cannot be had on the job's terms, by its bill or that of one like it."""
        if self.terms is None or self.bills is None:
            return None
        bill = self.bills.of(configuration)
        if bill is not None:
            return self.terms.broken(bill)
        alike = self.bills.expected(configuration)
        return None if alike is None else self.terms.broken_by_all_like(alike)

    def weight(self, configuration: Mapping[str, Value]) -> Weight | None:
        """What is weighed against the time of a configuration.

        Of networks that take long to build it is that of one like it; None where nothing is
        weighed, or it is not known.
        """
        if self.terms is None or self.terms.second is None or self.bills is None:
            return None
        bill = self.bills.expected(configuration)
        return None if bill is None else self.terms.weight(bill)

    def probed_seconds(self, configuration: Mapping[str, Value]) -> float:
        """What the collectives of a configuration took when they were probed, one after another."""
        probes = (self.probes.of(*one) for one in self.algorithms(configuration))
        return sum(probe.seconds or 0.0 for probe in probes if probe is not None)

    def _obstacle(self, structure: Structure, name: str, algorithm: str, mpi: str) -> str | None:
        """Why an algorithm cannot be used on a structure; asked for points by the thousand."""
        key = (structure.mark, name, algorithm, mpi)
        if key not in self._obstacles:
            self._obstacles[key] = self._obstacle_found(structure.rank_hosts, name, algorithm, mpi)
        return self._obstacles[key]

    def _obstacle_found(
        self, hosts: tuple[int, ...] | None, name: str, algorithm: str, mpi: str
    ) -> str | None:
        if hosts is not None:
            collective = collective_of(name)
            groups = self.called[collective]
            reason = collective_obstacle(collective, algorithm, mpi, len(hosts), hosts, groups)
            if reason is not None:
                return f"collectives.{name}: {reason}"
        probe = self.probes.of(name, algorithm, mpi)
        if probe is None or probe.stops is None:
            return None
        under = "" if mpi == DEFAULT else f" under mpi = {mpi}"
        return f"collectives.{name} = {algorithm}{under} stops the program: {probe.stops}"

    def identity(self, configuration: Mapping[str, Value]) -> str:
        """Equal for configurations that are the same run, as far as is known.

        Where nothing is known of an algorithm, all are told apart by their names.
        """
        parts: dict[str, Any] = {
            name: value for name, value in configuration.items() if name.startswith("protocol.")
        }
        parts["structure"] = self.structures.of(configuration).mark
        chosen = list(self.algorithms(configuration))
        probes = [self.probes.of(*one) for one in chosen]
        alike = [None if probe is None else probe.alike for probe in probes]
        if None in alike:
            parts |= {PARAMETER + name: algorithm for name, algorithm, _ in chosen}
            parts["mpi"] = configuration.get("mpi", DEFAULTS["mpi"])
        else:
            parts |= {PARAMETER + one[0]: number for one, number in zip(chosen, alike, strict=True)}
            parts["beside"] = self._beside(chosen)
        return canonical_json(parts)

    def _beside(self, chosen: Sequence[tuple[str, str, str]]) -> list[int]:
        """How the algorithms are told apart beside each other, in the order of collectives."""
        algorithms = {PARAMETER + name: algorithm for name, algorithm, _ in chosen}
        probes = (self.probes.of(*one) for one in chosen)
        return [
            numbers[algorithms[other]]
            for probe in probes
            if probe is not None
            for other, numbers in sorted(probe.beside.items())
        ]

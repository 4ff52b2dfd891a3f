"""What an algorithm of SMPI is in a real MPI library, and the settings that choose it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from searchspace.collectives import DECIDED_BY_ANOTHER, DEFAULT
from searchspace.collectives.tables import IMPLEMENTATIONS, release
from searchspace.configuration import Scalar

__all__ = [
    "Entry",
    "Equivalent",
    "Kind",
    "Target",
    "TransportSetting",
    "near",
    "not_power_of_two",
    "power_of_two",
]

Kind = Literal["same", "nearest", "none"]
Sizes = Sequence[int]


@dataclass(frozen=True)
class Equivalent:
    """What a library offers for a choice.

    Attributes:
        kind: `same` algorithm, the `nearest` one, or `none`.
        algorithm: The library's name for it; empty where the library is left to choose.
        settings: What is set to force it: parameters or environment variables.
        note: Why it is not the same, or when it is not.
    """

    kind: Kind
    algorithm: str = ""
    settings: Mapping[str, str] | None = None
    note: str = ""


@dataclass(frozen=True)
class Entry:
    """A line of a library's table.

    Attributes:
        algorithm: The library's name for it.
        kind: What it is to SMPI's algorithm.
        note: Why it is not the same.
        more: Settings beside the one that names the algorithm.
        only: For which communicator sizes the line holds.
        otherwise: What it is for other sizes, and why.
    """

    algorithm: str
    kind: Kind = "same"
    note: str = ""
    more: tuple[tuple[str, str], ...] = ()
    only: Callable[[int], bool] | None = None
    otherwise: tuple[Kind, str] = ("nearest", "")


@dataclass(frozen=True)
class TransportSetting:
    """How a library is told of a setting of the transport.

    Attributes:
        settings_of: Returns what is set for a value of it, or None where that cannot be told.
        note: Where it holds.
    """

    settings_of: Callable[[Scalar], Mapping[str, str] | None]
    note: str = ""


def near(algorithm: str, note: str, *more: tuple[str, str]) -> Entry:
    """A line for an algorithm that the library has not, but one like it."""
    return Entry(algorithm, "nearest", note, more)


def power_of_two(size: int) -> bool:
    """Tells whether a communicator has 2^k ranks."""
    return size & (size - 1) == 0


def not_power_of_two(size: int) -> bool:
    """Tells whether a communicator has not 2^k ranks."""
    return not power_of_two(size)


@dataclass(frozen=True)
class Target:
    """A library that a configuration can be exported to.

    Attributes:
        name: What users call it: `openmpi-4.1`.
        title: The library and its release, for people.
        selector: The decision table that imitates it, or another release of it.
        format: The export format that writes its files.
        checked_on: The release on which its lines were tried; None where only documents were read.
        entries: Its lines by collective and SMPI's algorithm.
        settings_of: Returns the settings that force an algorithm: collective, name -> settings.
        always: Settings without which those have no effect.
        old_selector: The table in SMPI that imitates an old release, where `selector` is another.
        apart: Lines of the collectives that SMPI runs by the algorithm of another, and the library
            by a setting of their own (`DECIDED_BY_ANOTHER`); SMPI's algorithms are the other's.
        transport: The settings of the transport that it has, by the protocol's field.
        in_order: By collective that reduces, the algorithms (SMPI's names) that keep the order of
            the ranks. Others give wrong numbers where they are forced on operations that do not
            commute. Empty where the library looks at that itself.
        falls_back: By collective, those in whose place the library runs another for such
            operations.
    """

    name: str
    title: str
    selector: str
    format: str
    checked_on: str | None
    entries: Mapping[str, Mapping[str, Entry]]
    settings_of: Callable[[str, str], Mapping[str, str]]
    always: tuple[tuple[str, str], ...] = ()
    old_selector: str | None = None
    apart: Mapping[str, Mapping[str, Entry]] = field(default_factory=dict)
    transport: Mapping[str, TransportSetting] = field(default_factory=dict)
    in_order: Mapping[str, frozenset[str]] = field(default_factory=dict)
    falls_back: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def selectors(self) -> tuple[str, ...]:
        """The decision tables that imitate some release of it, the nearest first."""
        return (self.selector, *filter(None, (self.old_selector,)))

    def equivalent(self, collective: str, algorithm: str, sizes: Sizes) -> Equivalent:
        """What the library offers for an algorithm, or for the choice of a decision table.

        Args:
            collective: A key of `COLLECTIVES` or of `DECIDED_BY_ANOTHER`.
            algorithm: SMPI's name of an algorithm or of a decision table, or `default`.
            sizes: Of the communicators that the collective is called on.
        """
        if algorithm in IMPLEMENTATIONS:
            return self._left_to_it(algorithm)
        if collective in DECIDED_BY_ANOTHER and collective not in self.apart:
            note = "whether the library has it was not looked at; left to the library"
            return Equivalent("none", note=note)
        entry = self._lines(collective).get(algorithm)
        if entry is None:
            return Equivalent("none", note="the library has nothing like it; left to the library")
        kind, note = entry.kind, entry.note
        unfit = sorted({size for size in sizes if entry.only and not entry.only(size)})
        if unfit:
            kind, why = entry.otherwise
            ranks = ", ".join(map(str, unfit))
            note = f"{why} (communicators of {ranks} ranks)"
            if kind == "none":
                return Equivalent("none", note=f"{note}; left to the library")
        settings = {**self.settings_of(collective, entry.algorithm), **dict(entry.more)}
        return Equivalent(kind, entry.algorithm, settings, note)

    def _left_to_it(self, selector: str) -> Equivalent:
        """What it is that a decision table chose."""
        if selector == self.name:
            return Equivalent("same", note="left to the library, as simulated")
        note = f"simulated was what {release(selector)} would choose"
        if selector in self.selectors:
            return Equivalent("nearest", note=f"left to the library; {note}")
        return Equivalent("none", note=f"{note}; left to the library")

    def expressible(self, collective: str, sizes: Sizes) -> tuple[str, ...]:
        """The algorithms of SMPI that the library has too, on communicators of these sizes."""
        return tuple(
            algorithm
            for algorithm in self._lines(collective)
            if self.equivalent(collective, algorithm, sizes).kind == "same"
        )

    def order_obstacle(self, collective: str, algorithm: str) -> str | None:
        """Why a reduction by an operation that does not commute is not run by an algorithm.

        Returns:
            A reason that goes on after the algorithm's name; None where it is run.
        """
        if collective not in self.in_order or algorithm not in self._lines(collective):
            return None  # left to the library
        if self._is_among(self.in_order, collective, algorithm):
            return None
        needs = "and the program reduces by operations that do not commute"
        if self._is_among(self.falls_back, collective, algorithm):
            return f"is for operations that commute alone in {self.title}, {needs}"
        if not self.in_order[collective]:
            return f"is not known to keep the order of ranks in {self.title}, {needs}"
        return f"does not keep the order of ranks in {self.title}, {needs}"

    def is_correct(self, collective: str, algorithm: str) -> bool:
        """Tells whether forcing an algorithm gives right numbers for every operation."""
        return self.order_obstacle(collective, algorithm) is None or self._is_among(
            self.falls_back, collective, algorithm
        )

    def _is_among(
        self, named: Mapping[str, frozenset[str]], collective: str, algorithm: str
    ) -> bool:
        """Whether the library has the same for an algorithm as for one of those that are named."""
        lines = self._lines(collective)
        names = named.get(collective, frozenset())
        return lines[algorithm].algorithm in {lines[name].algorithm for name in names}

    def setting(self, name: str, value: Scalar) -> Equivalent:
        """What the library offers for a value of a setting of the transport.

        Args:
            name: A key of `SETTINGS`.
            value: One of its values, not `default`.
        """
        known = self.transport.get(name)
        settings = None if known is None else known.settings_of(value)
        if known is None or settings is None:
            return Equivalent("none", note=f"no such setting of {self.title} is known")
        said = ", ".join(f"{parameter} = {text}" for parameter, text in settings.items())
        return Equivalent("same", said, settings, known.note)

    def can_set(self, name: str, value: Scalar) -> bool:
        """Tells whether the library can be told of a value of a setting of the transport."""
        return value == DEFAULT or self.setting(name, value).kind == "same"

    def _lines(self, collective: str) -> Mapping[str, Entry]:
        return {**self.entries, **self.apart}.get(collective, {})

    def stand_in(self, collective: str, algorithm: str, sizes: Sizes) -> str | None:
        """SMPI's name of the library's nearest algorithm; None where the library is left to choose.

        An algorithm that SMPI has under no name counts as the library's own choice.
        """
        found = self.equivalent(collective, algorithm, sizes)
        for candidate in self.expressible(collective, sizes):
            if self.equivalent(collective, candidate, sizes).settings == found.settings:
                return candidate
        for candidate in self.expressible(collective, sizes):
            if self.equivalent(collective, candidate, sizes).algorithm == found.algorithm:
                return candidate
        return None

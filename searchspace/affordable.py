"""Which networks of a job cannot be had on its terms: left out before anything is searched."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from searchspace.bills import Bill, Bills, decisive, shared_bills
from searchspace.choices import TopologyChoice
from searchspace.configuration import Configuration, Scalar, Value
from searchspace.errors import InvalidInput
from searchspace.machine import Machine
from searchspace.space import Constraint
from searchspace.terms import Terms
from searchspace.topology import FAMILIES

__all__ = ["OF_TERMS", "Screen"]

OF_TERMS = ("constraints.", "machine.parts.")
"""What the descriptions of the constraints of a `Screen` begin with."""

_MOST_NODES = 10_000
"""Of all networks of a family together, or of all baselines, that are built to know which of them
are too dear: a second. Where there are more, each is looked at when it is to be tried."""


class Screen:
    """Leaves out of a space what cannot be had on the terms of a job, and says why.

    Args:
        terms: Of the job; None where everything can be had.
        machine: Where the networks are.
        bills: Of its networks; None for those that need no traffic and nothing kept.

    Attributes:
        bills: Of the networks, where there are terms.
        excluded: What was left out: `parameter`, `value`, `reason`, as `BuiltSpace` has it.
    """

    def __init__(self, terms: Terms | None, machine: Machine, bills: Bills | None) -> None:
        self._terms = terms
        self._nodes = machine.nodes
        # By what is known without building for long: the space is the same for all who ask.
        self._known = None if terms is None else shared_bills(machine, terms.parts)
        self.bills = None if terms is None else bills or self._known
        self.excluded: list[dict[str, Any]] = []

    def networks(
        self, choices: Sequence[TopologyChoice], orderings: Sequence[str], seeds: range
    ) -> list[TopologyChoice]:
        """The families some of whose networks can be had, with the values that these have.

        Args:
            choices: The families of a job.
            orderings: Each of which gives the nodes other places.
            seeds: Of the networks of every family that has more than one.

        Raises:
            InvalidInput: None is left.
        """
        if self._terms is None or self._known is None:
            return list(choices)
        kept: list[TopologyChoice] = []
        for choice in choices:
            reasons = _reasons(choice, orderings, seeds, self._nodes, self._terms, self._known)
            broken = {name: reason for name, reason in reasons.items() if reason is not None}
            if len(broken) < len(reasons) or not reasons:
                kept.append(_without(choice, broken))
            else:
                broken = {(): min(broken.values())}
            for values, (_, reason) in broken.items():
                self._leave_out("topology", _shown(choice, values), reason)
        if not kept:
            told = "; ".join(f"{one['value']} {one['reason']}" for one in self.excluded)
            raise InvalidInput(f"no network of the search can be had: {told}", field="constraints")
        return kept

    def baselines(
        self, baselines: Sequence[tuple[str, Configuration]]
    ) -> list[tuple[str, Configuration]]:
        """The baselines whose networks can be had.

        All of them where their networks are too large to be built whenever somebody asks for the
        space, and those whose network takes long to build: these are looked at when they are asked.
        """
        networks = {decisive(configuration) for _, configuration in baselines}
        if self._terms is None or self._known is None or len(networks) * self._nodes > _MOST_NODES:
            return list(baselines)
        kept: list[tuple[str, Configuration]] = []
        for label, configuration in baselines:
            bill = self._known.of(configuration)
            reason = None if bill is None else self._terms.broken(bill)
            if reason is None:
                kept.append((label, configuration))
            else:
                self._leave_out("baselines", label, reason)
        return kept

    @property
    def constraints(self) -> list[Constraint]:
        """What must hold for configurations to be had; of parts of one nothing is said."""
        if self._terms is None or self.bills is None:
            return []
        parts, rules = self._terms.parts, []
        for name, limit in self._terms.limits.items():
            text = f"constraints.{name}: its network comes to more than {limit:,g}"
            rules.append(_rule(text, Terms(parts, None, {name: limit}), self.bills))
        text = "machine.parts.switches: none has ports enough for its network"
        return [*rules, _rule(text, Terms(parts, None, {}), self.bills)]

    def _leave_out(self, parameter: str, value: str, reason: str) -> None:
        self.excluded.append({"parameter": parameter, "value": value, "reason": reason})


def _rule(description: str, terms: Terms, bills: Bills) -> Constraint:
    def holds(values: Mapping[str, Value]) -> bool:
        bill = bills.of(values) if "ordering" in values else None
        return bill is None or terms.broken(bill) is None

    return Constraint(description, holds)


def _shown(choice: TopologyChoice, values: Sequence[Scalar]) -> str:
    named = ", ".join(f"{n} = {v}" for n, v in zip(choice.options, values, strict=False))
    return f"{choice.family} ({named})" if named else choice.family


def _without(choice: TopologyChoice, broken: Collection[tuple[Scalar, ...]]) -> TopologyChoice:
    """The choice without values that occur in no combination but broken ones."""
    if not broken:
        return choice
    left = [c for c in itertools.product(*choice.options.values()) if c not in broken]
    options: dict[str, Any] = {
        name: list(dict.fromkeys(values[index] for values in left))
        for index, name in enumerate(choice.options)
    }
    return TopologyChoice(family=choice.family, instances=choice.instances, **options)


def _reasons(
    choice: TopologyChoice,
    orderings: Sequence[str],
    seeds: range,
    nodes: int,
    terms: Terms,
    bills: Bills,
) -> dict[tuple[Scalar, ...], tuple[float, str] | None]:
    """Why the cheapest network of each combination of a family's parameters cannot be had.

    With its cost; None where some network can be had or is not known.
    """
    family = FAMILIES.get(choice.family)
    own: Sequence[int | None] = seeds if family is not None and family.uses_seed else [None]
    combinations = list(itertools.product(*choice.options.values()))
    if len(combinations) * len(own) * len(orderings) * nodes > _MOST_NODES:
        return {}
    reasons: dict[tuple[Scalar, ...], tuple[float, str] | None] = {}
    for values in combinations:
        options = dict(zip(choice.options, values, strict=True))
        found = list(_bills(choice.family, options, own, orderings, bills))
        if found == [None] * len(found) and not (family and family.costly):
            continue  # there is no such network, which the space itself says
        told = [None if bill is None else _breach(bill, terms) for bill in found]
        known = [one for one in told if one is not None]
        reasons[values] = min(known) if len(known) == len(told) else None
    return reasons


def _breach(bill: Bill, terms: Terms) -> tuple[float, str] | None:
    reason = terms.broken(bill)
    return None if reason is None else (bill.cost, reason)


def _bills(
    family: str,
    options: Mapping[str, Scalar],
    seeds: Sequence[int | None],
    orderings: Sequence[str],
    bills: Bills,
) -> Iterator[Bill | None]:
    for seed, ordering in itertools.product(seeds, orderings):
        values: dict[str, Value] = {"topology": family, "ordering": ordering}
        values |= {f"{family}.{name}": value for name, value in options.items()}
        if seed is not None:
            values["topology_seed"] = seed
        yield bills.of(values)

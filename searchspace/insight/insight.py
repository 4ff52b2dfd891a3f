"""Insight: what a job's search is told of its application and machine, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from searchspace.bills import Bills
from searchspace.collectives import Groups
from searchspace.formats.trace import read_header
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.insight.known import Known, Probes
from searchspace.insight.structures import Structures
from searchspace.machine import Machine, parse_machine
from searchspace.space import SearchSpace
from searchspace.terms import Terms

__all__ = ["Insight"]

_MOST_OPERATIONS = 2_000_000
"""Of traces that are read for their traffic; of longer ones that costs as much as simulations."""

_MOST_NODES = 100_000
"""Of all networks together that are built for their price: some ten seconds. Others are taken to
cost what those like them do, and are looked at when the search comes upon them."""


@dataclass(frozen=True)
class Insight:
    """What is known of the configurations of a job before they are simulated.

    Attributes:
        machine: Where it runs.
        ranks: Of all applications.
        called: The collectives that are called, and on which communicators.
        traces: Of the applications, in order.
        probes: What algorithms do with the calls of their collectives.
        terms: What the job says of the price of networks; None where that is nothing.
    """

    machine: Machine
    ranks: int
    called: Mapping[str, Groups]
    traces: Sequence[Path]
    probes: Probes = field(default_factory=Probes)
    terms: Terms | None = None

    def known(self, space: SearchSpace) -> Known:
        """What it tells of the configurations of a space.

        Raises:
            InvalidInput: A trace cannot be read.
        """
        operations = sum(read_header(path).operations for path in self.traces)
        traffic = TracesTraffic(self.traces) if operations <= _MOST_OPERATIONS else None
        structures = Structures(space, self.machine, self.ranks, traffic, self.called)
        terms = self.terms
        bills = Bills(self.machine, terms.parts, most_nodes=_MOST_NODES) if terms else None
        return Known(self.probes, self.called, structures, terms, bills)

    def to_json(self) -> dict[str, Any]:
        """As JSON, to be sent to another process of this host."""
        return {
            "machine": {**self.machine.canonical(), "network": self.machine.network},
            "ranks": self.ranks,
            "called": {name: [list(group) for group in self.called[name]] for name in self.called},
            "traces": [str(path) for path in self.traces],
            "probes": self.probes.to_json(),
            "terms": None if self.terms is None else self.terms.to_json(),
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Insight:
        """Reads it back."""
        return cls(
            parse_machine(told["machine"]),
            told["ranks"],
            {name: tuple(map(tuple, groups)) for name, groups in told["called"].items()},
            [Path(path) for path in told["traces"]],
            Probes.from_json(told["probes"]),
            None if told["terms"] is None else Terms.from_json(told["terms"]),
        )

"""The `packets` model beside ns-3, an independent packet simulator.

    .venv/bin/python -m benchmarks.ns3 [--seeds N] [--output FILE.json]

Messages without a transport protocol, stored and forwarded by switches whose queues never drop:
cases with closed forms, and random traffic of N seeds each. Ours is simulated with a train for each
packet and with at most 64 trains a message, which is the default. Differences are relative to the
time between the start of a message and its arrival. It needs Debian's libns3-dev.

Where two packets come to one queue in the same instant, either may be first, and both orders are
right. Random traffic is drawn until ns-3 has seen no such tie.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.ns3.cases import Case, closed_forms, random_cases
from benchmarks.ns3.simulators import MissingPackage, Ns3, Outcome, our_endings
from searchspace.protocol import Protocol
from workers.simulator_client import simulator_version

TRAINS = Protocol().trains


@dataclass(frozen=True)
class Difference:
    """How much later than in ns-3 a message arrives.

    Attributes:
        relative: To the time between its start and its arrival.
        packets: In times of a full packet on the slowest cable.
    """

    relative: float
    packets: float


@dataclass
class Comparison:
    """Our times of all cases of one name against those of ns-3."""

    messages: list[Difference] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)  # of the last message of a case, relative

    def add(self, case: Case, outcome: Outcome, endings: dict[int, float]) -> None:
        """Compare the ranks that only receive."""
        arrived = {}
        for rank, ending in endings.items():
            arrival, flow = max(
                (arrival, number)
                for number, arrival in enumerate(outcome.arrivals)
                if case.flows[number].receiver == rank
            )
            arrived[rank] = arrival
            start = 0.0 if case.flows[flow].after is not None else case.flows[flow].start
            late = ending - arrival
            self.messages.append(Difference(late / (arrival - start), late / case.packet_seconds))
        self.ends.append(max(endings.values()) / max(arrived.values()) - 1)

    def document(self) -> dict[str, float] | None:
        """As data; nothing where nothing was compared."""
        if not self.messages:
            return None
        relative = sorted(abs(message.relative) for message in self.messages)
        return {
            "largest": relative[-1],
            "percentile_90": relative[-(len(relative) // 10) - 1],
            "median": statistics.median(relative),
            "earliest": min(message.relative for message in self.messages),
            "latest": max(message.relative for message in self.messages),
            "largest_in_packets": max(abs(message.packets) for message in self.messages),
            "largest_of_last_message": max(map(abs, self.ends)),
        }

    @property
    def cell(self) -> str:
        """For the table."""
        figures = self.document()
        if figures is None:
            return ""
        keys = ("largest", "percentile_90", "median", "largest_of_last_message")
        return " ".join(f"{figures[key]:7.0e}" for key in keys)


@dataclass
class Row:
    """All cases of one name."""

    name: str
    cases: int = 0
    left_out: int = 0  # for ties
    messages: int = 0
    packets: int = 0
    closed_form: float | None = None  # largest relative difference of ns-3
    each_packet: Comparison = field(default_factory=Comparison)
    trains: Comparison = field(default_factory=Comparison)

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count a case, and hold ns-3 against its closed form."""
        self.cases += 1
        self.messages += len(case.flows)
        self.packets += sum(case.packets)
        if case.expected:
            pairs = zip(outcome.arrivals, case.expected, strict=True)
            largest = max(abs(arrival / expected - 1) for arrival, expected in pairs)
            self.closed_form = max(self.closed_form or 0.0, largest)

    def document(self) -> dict[str, Any]:
        """As data; null where nothing was compared."""
        return {
            "name": self.name,
            "cases": self.cases,
            "left_out_for_ties": self.left_out,
            "messages": self.messages,
            "packets": self.packets,
            "ns3_against_closed_form": self.closed_form,
            "each_packet_against_ns3": self.each_packet.document(),
            "trains_against_ns3": self.trains.document(),
        }


def _compare(ns3: Ns3, seeds: int, scratch: Path) -> list[Row]:
    rows: list[Row] = []

    def compare(row: Row, case: Case) -> None:
        outcome = ns3.run(case)
        if outcome.ties and not case.expected:
            row.left_out += 1
            return
        row.add(case, outcome)
        each, trains = our_endings(case, [max(case.packets), TRAINS], scratch)
        row.each_packet.add(case, outcome, each)
        row.trains.add(case, outcome, trains)

    for case in closed_forms():
        rows.append(Row(case.name))
        compare(rows[-1], case)
    for number, kind in enumerate(random_cases(0)):
        rows.append(Row(kind.name))
        for seed in itertools.count(1):
            if rows[-1].cases == seeds:
                break
            compare(rows[-1], random_cases(seed)[number])
    return rows


def _print(rows: Sequence[Row]) -> None:
    print("Relative differences: largest, 90th percentile, median; largest of the last arrivals.")
    print(f"{'':<50} {'messages':>8} {'ns-3 off':>8}  {'each packet':<31}  {TRAINS} trains")
    for row in rows:
        off = "" if row.closed_form is None else f"{row.closed_form:.0e}"
        cells = f"{row.each_packet.cell:<31}  {row.trains.cell}"
        print(f"{row.name:<50} {row.messages:>8} {off:>8}  {cells}".rstrip())


def main() -> int:
    """Compare and print a table; 1 where ns-3 is not there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=10, help="of each kind of random traffic")
    parser.add_argument("--output", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hamtune-ns3-") as scratch:
        try:
            ns3 = Ns3(Path(scratch))
        except MissingPackage as missing:
            print(missing, file=sys.stderr)
            return 1
        rows = _compare(ns3, options.seeds, Path(scratch))
    _print(rows)
    if options.output:
        document = {
            "date": date.today().isoformat(),
            "versions": {"ns-3": ns3.version, "hamtune-simulator": simulator_version()},
            "seeds": options.seeds,
            "trains": TRAINS,
            "rows": [row.document() for row in rows],
        }
        options.output.write_text(json.dumps(document, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The tables of the service in the documentation, of the figures that are kept in `results/`."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.tables_in_docs import markdown, missed_unless, write_table

__all__ = ["HOSTS", "RESULTS", "SERVICE", "bars_table", "write_bars_tables"]

RESULTS = Path(__file__).with_name("results")
HOSTS, SERVICE = ("scaling.md", "many hosts"), ("benchmarks.md", "service")
_ROWS = {HOSTS: ("hosts",), SERVICE: ("throughput", "speedup", "clients", "convergence")}


def write_bars_tables() -> None:
    """Put the tables of all figures that there are into their pages."""
    for page, name in _ROWS:
        write_table(page, name, bars_table(page, name))


def bars_table(page: str, name: str) -> str:
    """What was measured beside its bar, in Markdown; what was not kept has no line.

    Raises:
        ValueError: A file is of a run with fewer trials.
    """
    lines = []
    for path in (RESULTS / f"{row}.json" for row in _ROWS[page, name]):
        if not path.exists():
            continue
        document = json.loads(path.read_text())
        if document["scale"] != 1:
            raise ValueError(f"{path}: of a trial run with fewer trials, not a measurement")
        for bar in document["bars"]:
            measured = bar["measured"] + missed_unless(bar["met"])
            lines.append([bar["name"], measured, bar["bar"], document["date"]])
    return markdown(["What", "Measured", "Bar", "Day"], lines)

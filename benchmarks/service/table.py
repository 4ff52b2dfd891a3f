"""The table of the service in docs/scaling.md, of the figures that are kept in `results/`."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.tables_in_docs import write_table

__all__ = ["PAGE", "RESULTS", "TABLE", "bars_table", "write_bars_table"]

RESULTS = Path(__file__).with_name("results")
PAGE, TABLE = "scaling.md", "many hosts"


def write_bars_table() -> None:
    """Put the table of all figures that there are into its page."""
    write_table(PAGE, TABLE, bars_table())


def bars_table() -> str:
    """What was measured beside its bar, in Markdown.

    Raises:
        ValueError: A file is of a run with fewer trials.
    """
    lines = ["| What | Measured | Bar | Day |", "|---|---|---|---|"]
    for path in sorted(RESULTS.glob("*.json")):
        document = json.loads(path.read_text())
        if document["scale"] != 1:
            raise ValueError(f"{path}: of a trial run with fewer trials, not a measurement")
        for bar in document["bars"]:
            missed = "" if bar["met"] else " (missed)"
            lines.append(
                f"| {bar['name']} | {bar['measured']}{missed} | {bar['bar']} | {document['date']} |"
            )
    return "\n".join(lines) + "\n"

"""The table of the page in docs/benchmarks.md, of the figures in `results.json`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables_in_docs import write_table

__all__ = ["PAGE", "RESULTS", "TABLE", "page_table", "printed", "row", "write_page_table"]

RESULTS = Path(__file__).with_name("results.json")
PAGE, TABLE = "benchmarks.md", "page"


def row(what: str, unit: str, values: Sequence[float], bar: float) -> dict[str, Any]:
    """Figures beside the bar that all of them have to stay below."""
    return {
        "what": what,
        "unit": unit,
        "count": len(values),
        "median": round(statistics.median(values), 3) if values else None,
        "worst": round(max(values), 3) if values else None,
        "bar": bar,
        "met": bool(values) and max(values) < bar,
    }


def printed(one: Mapping[str, Any]) -> str:
    """A row as the command line prints it; `-` where nothing was measured."""
    what = f"{one['what']}, {one['unit']}"
    median, worst = (
        "-" if one[name] is None else f"{one[name]:.2f}" for name in ("median", "worst")
    )
    met = "MET" if one["met"] else "MISSED"
    return f"{what:<46}{one['count']:7}{median:>9}{worst:>9}{one['bar']:7g}  {met}"


def _figure(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:,g} {unit}"


def page_table(results: Path = RESULTS) -> str:
    """What was measured beside its bars, in Markdown."""
    document = json.loads(results.read_text())
    lines = ["| What | Count | Median | Worst | Bar | |", "|---|---|---|---|---|---|"]
    for one in document["rows"]:
        figures = [_figure(one[name], one["unit"]) for name in ("median", "worst", "bar")]
        met = "met" if one["met"] else "**missed**"
        lines.append(f"| {one['what']} | {one['count']:,} | {' | '.join(figures)} | {met} |")
    before, after = document["load"]
    lines += [
        "",
        f"{document['date']}, Chromium {document['chromium']}, {document['processor']}, "
        f"{document['cores']} cores, load {before:.1f} before and {after:.1f} after.",
    ]
    return "\n".join(lines) + "\n"


def write_page_table() -> None:
    """Put the table into its page."""
    write_table(PAGE, TABLE, page_table())

"""The tables of mappers in docs/benchmarks.md, of the figures in `mapping.json`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.provenance import measured_now
from benchmarks.tables_in_docs import markdown, missed_unless, write_tables

__all__ = ["PAGE", "RESULTS", "keep", "mapping_tables"]

RESULTS = Path(__file__).with_name("mapping.json")
PAGE = "benchmarks.md"
_SUMMARY, _LONG_RUNS, _SCOTCH, _PAPERS = "mapping", "long runs", "beside Scotch", "papers' mappers"
_TITLES = {
    "given": "reference instances",
    "formulas": "unseen instances with a formula",
    "unseen": "unseen instances beside long runs",
    "fast": "fast mode beside Scotch",
    "cores": "hosts of several cores, beside Scotch",
    "papers": "the papers' mappers and times",
}
_SHOWN = (
    "tree-512 random",
    "torus-8x8x8 stencil-3d-periodic",
    "torus-8x8x8 random",
    "tree-4096 random",
    "torus-32x16x16 stencil-3d",
    "torus-32x16x16 power-law",
)
"""Of fast mode the page shows these, and those that miss a bar."""

_Row = dict[str, Any]


def keep(part: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Put rows of a part in the place of older ones of the same instances; write the tables."""
    kept = _kept()
    known = {row["name"]: row for row in kept.get(part, ())}
    today = measured_now()
    known |= {row["name"]: {**row, **today} for row in rows}
    kept[part] = list(known.values())
    RESULTS.write_text(_written(kept))
    write_tables(PAGE, mapping_tables())


def mapping_tables() -> dict[str, str]:
    """Each by its name there, in Markdown; a part that was not kept has no row."""
    kept = _kept()
    beside_scotch = [
        row
        for part in ("fast", "cores")
        for row in kept.get(part, ())
        if not row["met"] or (part == "fast" and row["name"] in _SHOWN)
    ]
    heads = ["Instance", "`auto`, hop-bytes", "CPU s", "Scotch", "CPU s"]
    return {
        _SUMMARY: _summary(kept),
        _LONG_RUNS: _long_runs(kept.get("unseen", ())),
        _SCOTCH: markdown(heads, map(_beside, beside_scotch)),
        _PAPERS: _papers(kept.get("papers", ())),
    }


def _written(kept: Mapping[str, list[_Row]]) -> str:
    """A line for each of some hundred rows."""
    parts = [
        f"{json.dumps(part)}: [\n " + ",\n ".join(map(json.dumps, rows)) + "\n]"
        for part, rows in kept.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _kept() -> dict[str, list[_Row]]:
    kept: dict[str, list[_Row]] = json.loads(RESULTS.read_text())
    return kept


def _summary(kept: Mapping[str, list[_Row]]) -> str:
    rows = []
    for part in (part for part in _TITLES if part in kept):
        met = sum(row["met"] for row in kept[part])
        above = [row["found"] / row["bar"] - 1 for row in kept[part] if row["bar"]]
        rows.append(
            [
                f"{_TITLES[part]} (`{part}`)",
                f"{met} of {len(kept[part])}",
                f"{min(above):+.2%} to {max(above):+.2%}",
                _cpu_ratio(kept[part]),
                _days(kept[part]),
                " and ".join(sorted({row["processor"] for row in kept[part]})),
            ]
        )
    heads = ["What", "Bars met", "Hop-bytes above the bar", "CPU s over the bar's, mean"]
    heads += ["Day", "Processor"]
    return markdown(heads, rows)


def _cpu_ratio(rows: Iterable[_Row]) -> str:
    """The geometric mean of CPU seconds over those that they are compared with."""
    ratios = [row["seconds"] / row["bar_seconds"] for row in rows if row["bar_seconds"]]
    return f"{statistics.geometric_mean(ratios):.2f}" if ratios else "-"


def _days(rows: Iterable[_Row]) -> str:
    days = sorted({row["date"] for row in rows})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _long_runs(rows: Iterable[_Row]) -> str:
    heads = ["Instance", "`auto`, 16 s", "Best of long runs", "Above", "Threads", "Day"]
    lines = []
    for row in rows:
        above = f"{row['found'] / row['bar'] - 1:+.2%}{missed_unless(row['met'])}"
        cells = [row["name"], f"{row['found']}", f"{row['bar']}", above]
        lines.append([*cells, f"{row['threads']}", row["date"]])
    return markdown(heads, lines)


def _beside(row: _Row) -> list[str]:
    spent = f"{row['seconds']:.3f}{missed_unless(row['seconds'] <= row['bar_seconds'])}"
    found = f"{row['found']}{missed_unless(row['found'] <= row['bar'])}"
    return [row["name"], found, spent, f"{row['bar']}", f"{row['bar_seconds']:.3f}"]


def _papers(rows: Iterable[_Row]) -> str:
    lines = []
    for row in rows:
        bar = f"{row['bar']}, the least" if row["bar"] else f"{row['bar_seconds']} s"
        found = f"{row['found']}{missed_unless(row['met'])}"
        lines.append([row["name"], found, f"{row['seconds']:.2g}", bar])
    return markdown(["Mapper", "Hop-bytes", "CPU s", "Bar"], lines)

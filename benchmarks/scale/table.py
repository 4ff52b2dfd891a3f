"""The table of docs/scaling.md, of the figures that are kept in `results/`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.scale.captures import MOST_GIB, MOST_SECONDS
from benchmarks.scale.evaluations import MOST_CPU_SECONDS, MOST_LOAD_SECONDS, MOST_MEGABYTES
from benchmarks.scale.job import BARS
from benchmarks.scale.page import VIEW_BAR
from benchmarks.tables_in_docs import write_table

__all__ = ["PAGE", "RESULTS", "TABLE", "scale_table", "write_scale_table"]

RESULTS = Path(__file__).with_name("results")
PAGE, TABLE = "scaling.md", "large machines"
_GIB, _MEGABYTE = 2**30, 1e6


def write_scale_table() -> None:
    """Put the table of all figures that there are into its page."""
    write_table(PAGE, TABLE, scale_table())


def scale_table() -> str:
    """What was measured beside its bar, in Markdown."""
    lines = ["| What | Measured | Bar | Day |", "|---|---|---|---|"]
    for path in sorted(RESULTS.glob("*.json"), key=_order):
        document = json.loads(path.read_text())
        for part in _ROWS:
            if part in document:
                for what, measured, bar in _ROWS[part](document[part]):
                    lines.append(f"| {what} | {measured} | {bar} | {document['date']} |")
    return "\n".join(lines) + "\n"


def _order(path: Path) -> tuple[int, str]:
    parts = ("job-1024", "job-4096", "evaluations", "captures", "page", "networks")
    return (parts.index(path.stem) if path.stem in parts else len(parts), path.stem)


_Row = tuple[str, str, str]


def _row(what: str, value: float, digits: int, bar: float | None = None) -> _Row:
    missed = " (missed)" if bar is not None and value > bar else ""
    return what, f"{value:,.{digits}f}{missed}", "" if bar is None else f"{bar:,.0f}"


def _job(figures: dict[str, Any]) -> Iterator[_Row]:
    ranks = figures["ranks"]
    seconds, gib = BARS.get(ranks, (None, None))
    name = f"job of {figures['trials']} trials, {ranks:,} ranks"
    yield _row(f"{name}: seconds of the clock", figures["wall_seconds"], 0, seconds)
    yield _row(f"{name}: CPU s", figures["cpu_seconds"], 0)
    yield _row(f"{name}: GiB in memory", figures["peak_bytes"] / _GIB, 1, gib)


def _evaluations(figures: list[dict[str, Any]]) -> Iterator[_Row]:
    for one in figures:
        if "cpu_seconds" in one:
            messages = f"{one['messages'] / 1e6:.1f} million messages"
            what = f"one evaluation of {one['case']}, {messages}: CPU s"
            yield _row(what, min(one["cpu_seconds"]), 1, MOST_CPU_SECONDS)
            continue
        yield _row(f"{one['case']}: MB", one["bytes"] / _MEGABYTE, 3, MOST_MEGABYTES)
        yield _row(f"{one['case']}: seconds to load", one["load_seconds"], 2, MOST_LOAD_SECONDS)


def _captures(figures: list[dict[str, Any]]) -> Iterator[_Row]:
    for one in figures:
        name = ".".join(filter(None, (one["program"], one["class"])))
        what = f"capture of {name}, {one['ranks']:,} ranks"
        yield _row(f"{what}: seconds of the clock", one["wall_seconds"], 0, MOST_SECONDS)
        yield _row(f"{what}: GiB", one["peak_bytes"] / _GIB, 1, MOST_GIB)


def _page(figures: dict[str, Any]) -> Iterator[_Row]:
    name = f"page of a job of {figures['ranks']:,} ranks"
    yield _row(f"{name}: seconds to the first view", figures["first_view_seconds"], 2, VIEW_BAR)
    yield _row(f"{name}: seconds to a trial", figures["trial_view_seconds"], 2, VIEW_BAR)
    yield _row(f"{name}: kB of the largest answer", max(figures["answers"].values()) / 1e3, 0)


_CASES = {
    "family": "families",
    "ordering": "orderings of a random network",
    "mapper": "mappers, each on a random network and a torus",
}


def _networks(figures: list[dict[str, Any]]) -> Iterator[_Row]:
    for kind, cases in _CASES.items():
        own = [one for one in figures if one["case"].startswith(kind)]
        done = [one for one in own if one["outcome"] == "done"]
        if not done:
            continue
        slowest = max(done, key=lambda one: float(one["cpu_seconds"]))
        largest = max(done, key=lambda one: float(one["bytes"]))
        what = f"{len(done)} of {len(own)} {cases}"
        yield _row(f"{what}, the slowest ({slowest['case']}): CPU s", slowest["cpu_seconds"], 1)
        yield _row(f"{what}, the largest ({largest['case']}): MB", largest["bytes"] / _MEGABYTE, 0)


_ROWS: dict[str, Callable[[Any], Iterator[_Row]]] = {
    "job": _job,
    "evaluations": _evaluations,
    "captures": _captures,
    "page": _page,
    "networks": _networks,
}

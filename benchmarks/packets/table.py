"""The tables of packets in docs/benchmarks.md, of the figures in `results.json`."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks.packets.cost import CASES, GROWING, MOST_GROWTH, growth
from benchmarks.tables_in_docs import write_table

__all__ = ["PAGE", "RESULTS", "packets_tables", "write_packets_tables"]

RESULTS = Path(__file__).with_name("results.json")
PAGE = "benchmarks.md"
_COSTS, _GROWTH, _PROGRAMS = "costs of packets", "growth of packets", "programs as packets"
_MEGABYTE = 1e6


def write_packets_tables() -> None:
    """Put all of them into their page."""
    for name, table in packets_tables().items():
        write_table(PAGE, name, table)


def packets_tables() -> dict[str, str]:
    """Each by its name there, in Markdown."""
    figures = json.loads(RESULTS.read_text())
    return {
        _COSTS: _costs(figures),
        _GROWTH: _growths(figures),
        _PROGRAMS: _programs(figures),
    }


def _costs(figures: dict[str, Any]) -> str:
    bars = {(case.name, case.ranks): case for case in CASES}
    lines = [f"| {figures['date']} | CPU s | Bar | MB | Bar |", "|---|---|---|---|---|"]
    for one in figures["cost"]:
        if "cpu_seconds" not in one:
            continue
        bar = bars[one["case"], one["ranks"]]
        least, held = min(one["cpu_seconds"]), one["peak_rss_bytes"]
        slow = " (missed)" if least > bar.cpu_seconds else ""
        large = " (missed)" if bar.bytes is not None and held > bar.bytes else ""
        most = "" if bar.bytes is None else f"{bar.bytes / _MEGABYTE:,.0f}"
        lines.append(
            f"| {one['case']}, {one['ranks']:,} ranks | {least:.2g}{slow} | {bar.cpu_seconds:g} "
            f"| {held / _MEGABYTE:,.0f}{large} | {most} |"
        )
    return "\n".join(lines) + "\n"


def _growths(figures: dict[str, Any]) -> str:
    lines = [f"| {figures['date']} | CPU s | Bar | messages times cables |", "|---|---|---|---|"]
    for name in GROWING:
        own = [one for one in figures["cost"] if one["case"] == name]
        cost = growth([(one["ranks"], min(one["cpu_seconds"])) for one in own])
        work = growth([(one["ranks"], one["cables_crossed"]) for one in own])
        missed = " (missed)" if cost > MOST_GROWTH else ""
        lines.append(f"| {name} | {cost:.1f}{missed} | {MOST_GROWTH} | {work:.1f} |")
    return "\n".join(lines) + "\n"


def _programs(figures: dict[str, Any]) -> str:
    lines = [f"| {figures['date']} | packets, CPU s | fluid, CPU s | ratio |", "|---|---|---|---|"]
    ratios = []
    for one in figures["programs"]:
        packets, fluid = one["packets_cpu_seconds"], one["fluid_cpu_seconds"]
        ratios.append(packets / fluid)
        lines.append(
            f"| {one['program'].upper()} | {packets:.2g} | {fluid:.2g} | {packets / fluid:.2f} |"
        )
    mean = statistics.geometric_mean(ratios)
    lines.append(f"| geometric mean | | | {mean:.2f} |")
    return "\n".join(lines) + "\n"

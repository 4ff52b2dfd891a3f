"""Findings as files: CSV tables and plots."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import matplotlib
from matplotlib.figure import Figure

from studies.study import Findings, Plot, Table

__all__ = ["files", "table_csv"]


def table_csv(table: Table) -> str:
    """A table as comma-separated values, headings first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def files(name: str, findings: Findings) -> Iterator[tuple[str, bytes]]:
    """All tables (`NAME-1.csv`, ...) and plots (`NAME-PLOT.svg`) of a study: file name, content."""
    for number, table in enumerate(findings.tables, start=1):
        yield f"{name}-{number}.csv", table_csv(table).encode()
    for plot in findings.plots:
        yield f"{name}-{plot.name}.svg", _svg(plot)


def _svg(plot: Plot) -> bytes:
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    markers = "osD^v<>pPX*h+x"
    for index, points in enumerate(plot.points):
        axes.plot(
            points.x,
            points.y,
            label=points.label,
            marker=None if points.joined else markers[index % len(markers)],
            linestyle="-" if points.joined else "",
            drawstyle="steps-post" if points.joined else "default",
            alpha=0.8,
        )
    axes.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
    if "x" in plot.logarithmic:
        axes.set_xscale("log")
    if "y" in plot.logarithmic:
        axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", ncols=1 + len(plot.points) // 12)
    buffer = io.BytesIO()
    # A fixed salt and no date: the same findings give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "hamtune"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()

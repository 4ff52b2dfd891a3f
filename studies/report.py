"""Findings as files: CSV tables, plots, and a page that shows both."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from searchspace.machine import NetworkModel
from studies.study import Cell, Claim, Findings, Plot, Points, Study, Table

__all__ = ["claims_table", "figure", "files", "table_csv"]

_MARKERS = "osD^v<>pPX*h8"
_WIDE = 10  # labels; more stand beside the plot


def table_csv(table: Table) -> str:
    """A table as comma-separated values, headings first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def claims_table(claims: Sequence[Claim]) -> Table:
    """What the paper says beside what was found, and whether both agree."""
    rows = tuple(
        (claim.paper, claim.here, "yes" if claim.holds else "NO", claim.why) for claim in claims
    )
    return Table(
        "Directions the paper reports", ("paper", "here", "as in the paper", "why not"), rows
    )


def files(
    study: Study,
    findings: Findings,
    *,
    quick: bool,
    made: str,
    network: NetworkModel = "fluid",
) -> Iterator[tuple[str, bytes]]:
    """Yields file names and contents.

    All tables (`NAME-1.csv`, ..., `NAME-claims.csv`), plots (`NAME-PLOT.svg`), data, and `NAME.md`
    that shows the former. NAME is that of the study, with `-packets` under that model.

    Args:
        study: What was studied.
        findings: What was found.
        quick: Whether in small sizes.
        made: When and by which versions, for the page.
        network: The model of messages.
    """
    name = study.name if network == "fluid" else f"{study.name}-{network}"
    for number, table in enumerate(findings.tables, start=1):
        yield f"{name}-{number}.csv", table_csv(table).encode()
    if findings.claims:
        yield f"{name}-claims.csv", table_csv(claims_table(findings.claims)).encode()
    for plot in findings.plots:
        yield f"{name}-{plot.name}.svg", _svg(plot)
    for file, content in findings.data:
        yield f"{name}-{file}", content.encode()
    command = f"hamtune study {study.name}{' --quick' if quick else ''}"
    if network != "fluid":
        command += f" --network {network}"
    yield f"{name}.md", _markdown(study, findings, name, f"`{command}`, {made}").encode()


def figure(plot: Plot) -> Figure:
    """Draws a plot."""
    outside = len(plot.points) > _WIDE
    drawn = Figure(figsize=(10 if outside else 8, 5), layout="constrained")
    axes = drawn.subplots()
    for index, points in enumerate(plot.points):
        # Neighbours at the same tick stand side by side, or their intervals would hide each other.
        shift = 0.8 * ((index + 0.5) / len(plot.points) - 0.5) if plot.ticks else 0.0
        _draw(axes, points, index, shift)
    axes.set(title=plot.title, xlabel=plot.x_label, ylabel=plot.y_label)
    if plot.ticks:
        axes.set_xticks(range(len(plot.ticks)), plot.ticks)
    if "x" in plot.logarithmic:
        axes.set_xscale("log")
        _plain_numbers(axes.xaxis)
    if "y" in plot.logarithmic:
        axes.set_yscale("log")
        _plain_numbers(axes.yaxis)
    axes.grid(alpha=0.3)
    if outside:
        axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    elif len(plot.points) > 1:
        axes.legend(fontsize="small")
    return drawn


class _PlainNumbers(LogFormatter):
    """Labels 0.1 and not 1e-01."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def _plain_numbers(axis: Axis) -> None:
    axis.set_major_formatter(_PlainNumbers(labelOnlyBase=False))
    axis.set_minor_formatter(_PlainNumbers(labelOnlyBase=False, minor_thresholds=(2, 0.4)))


def _draw(axes: Axes, points: Points, index: int, shift: float) -> None:
    colour = matplotlib.colormaps["tab20"](2 * index % 20 + 2 * index // 20 % 2)
    marker = None if points.joined else _MARKERS[index % len(_MARKERS)]
    x = [value + shift for value in points.x]
    if points.joined:
        style = "steps-post" if points.held else "default"
        axes.plot(x, points.y, label=points.label, color=colour, drawstyle=style, alpha=0.8)
        return
    axes.errorbar(
        x,
        points.y,
        yerr=points.errors or None,
        label=points.label,
        color=colour,
        marker=marker,
        markerfacecolor=colour if points.errors else "none",  # several may lie on one spot
        linestyle="",
        capsize=2,
        alpha=0.8,
    )


def _svg(plot: Plot) -> bytes:
    buffer = io.BytesIO()
    # A fixed salt and no date: the same findings give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "hamtune"}):
        figure(plot).savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _markdown(study: Study, findings: Findings, name: str, origin: str) -> str:
    parts = [
        f"# {study.source}\n",
        f"{study.description[0].upper()}{study.description[1:]}: {origin}.\n",
    ]
    parts += [_markdown_table(table) for table in findings.tables]
    parts += [f"![{plot.title}]({name}-{plot.name}.svg)\n" for plot in findings.plots]
    if findings.claims:
        parts.append(_markdown_table(claims_table(findings.claims)))
    parts += [f"{remark}\n" for remark in findings.remarks]
    return "\n".join(parts)


def _markdown_table(table: Table) -> str:
    def line(cells: Sequence[Cell]) -> str:
        return f"| {' | '.join('' if cell is None else str(cell) for cell in cells)} |"

    rows = [line(table.columns), "|---" * len(table.columns) + "|", *map(line, table.rows)]
    return f"{table.title}:\n\n" + "\n".join(rows) + "\n"

"""Figures of jobs: convergence with baselines, and proximity to the best (Hu 2023, fig. 6, 8)."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.markers import TICKUP
from matplotlib.ticker import MaxNLocator, PercentFormatter

from cli.curves import Curve, unit_for
from cli.job_words import compared

__all__ = ["COLOURS", "QUIET", "TEXT", "convergence_figure", "plain", "proximity_figure", "render"]

COLOURS = ("#0b5cad", "#c2410c", "#15803d", "#7c3aed", "#be123c", "#0f766e", "#a16207", "#334155")
QUIET = "#94a3b8"
TEXT = "#334155"


def convergence_figure(curves: Sequence[Curve]) -> Figure:
    """Best simulated time by trial.

    One job is drawn in seconds, with all its trials and its baselines. Several jobs are drawn
    relative to each one's best baseline, since their times need not be comparable; one without
    baselines is drawn relative to its first trial, and labelled so.
    """
    figure, axes = _axes()
    if len(curves) == 1:
        _one_job(axes, curves[0])
    else:
        _several_jobs(axes, curves)
    axes.set_xlabel(curves[0].axis.label)
    if curves[0].axis.label == "trial":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlim(left=0)
    return figure


def proximity_figure(curves: Sequence[Curve]) -> Figure:
    """Proximity C(n) = 1 - (T_n - T_best) / T_best by share of the trials."""
    figure, axes = _axes()
    lowest = 85.0
    for curve, colour in zip(curves, _colours(len(curves)), strict=True):
        after = curve.proximity_at or range(1, len(curve.proximity) + 1)
        points = [
            (100.0 * count / after[-1], max(0.0, 100.0 * value))
            for count, value in zip(after, curve.proximity, strict=True)
            if value is not None
        ]
        if not points:
            continue
        shares, values = zip(*points, strict=True)
        lowest = min(lowest, *values)
        reached = next((share for share, value in points if value >= 90.0), 100.0)
        axes.step(
            shares,
            values,
            where="post",
            color=colour,
            linewidth=2,
            label=plain(f"{curve.name}: 90% after {reached:.0f}% of trials"),
        )
    axes.axhline(90, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.set_xlim(0, 100)
    axes.set_ylim(10 * math.floor(lowest / 10), 101)
    axes.xaxis.set_major_formatter(PercentFormatter(decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(decimals=0))
    axes.set_xlabel("share of the trials")
    axes.set_ylabel("proximity to the best, C(n)")
    axes.set_title("Proximity to the best configuration found", loc="left", color=TEXT, fontsize=11)
    _legend(axes, "lower right")
    return figure


def plain(text: str) -> str:
    """What people called something, so that matplotlib shows it as it is.

    Otherwise it would read what is between two `$` as a formula, and leave out of legends what
    begins with `_`.
    """
    shown = text.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown


def render(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """The figure as a file; equal figures give equal bytes."""
    buffer = io.BytesIO()
    if kind == "png":
        FigureCanvasAgg(figure).print_figure(buffer, format="png", dpi=160)
    else:
        with matplotlib.rc_context({"svg.hashsalt": "hamtune"}):
            FigureCanvasSVG(figure).print_figure(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _one_job(axes: Axes, curve: Curve) -> None:
    shown = [value for value in (*curve.best, *curve.baselines.values()) if value is not None]
    scale, unit = unit_for(shown)
    low, high = (min(shown) / scale, max(shown) / scale) if shown else (0.0, 1.0)
    margin = 0.08 * (high - low) or 0.1 * high or 1.0
    axes.set_ylim(max(0.0, low - margin), high + margin)

    _trials(axes, curve, scale, "completed", "o", "trial")
    _trials(axes, curve, scale, "censored", TICKUP, "trial stopped at the cutoff")
    xs, ys = _known(curve, scale)
    if xs:
        axes.step(
            xs, ys, where="post", color=COLOURS[0], linewidth=2.4, label="best so far", zorder=4
        )
        axes.plot([xs[-1]], [ys[-1]], "o", color=COLOURS[0], markersize=6, zorder=5)
    _baselines(axes, curve, scale)
    axes.set_ylabel(f"simulated time ({unit})")
    axes.set_title(plain(_headline(curve, scale, unit)), loc="left", color=TEXT, fontsize=11)
    _legend(axes, "upper right")


def _trials(axes: Axes, curve: Curve, scale: float, state: str, marker: Any, label: str) -> None:
    points = [
        (x, value / scale)
        for x, its_state, value in zip(curve.axis.values, curve.states, curve.values, strict=True)
        if its_state == state and value is not None
    ]
    if points:
        xs, ys = zip(*points, strict=True)
        axes.scatter(xs, ys, s=18, c=QUIET, marker=marker, linewidths=0.9, label=label, zorder=2)


def _several_jobs(axes: Axes, curves: Sequence[Curve]) -> None:
    against = []
    for curve, colour in zip(curves, _colours(len(curves)), strict=True):
        reference = curve.reference
        if not reference:
            continue
        xs, ys = _known(curve, reference)
        against.append("first trial" if curve.best_baseline is None else "best baseline")
        label = plain(f"{curve.name}: {against[-1]} / best = {_inverse(ys[-1])}")
        axes.step(xs, ys, where="post", color=colour, linewidth=2, label=label)
    axes.axhline(1.0, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.set_ylabel(f"best simulated time / {' or '.join(sorted(set(against)))}".rstrip(" /"))
    axes.set_title("Convergence of the jobs", loc="left", color=TEXT, fontsize=11)
    _legend(axes, "upper right")


def _inverse(share: float) -> str:
    return f"{1 / share:.3g}" if share else "unbounded"


def _baselines(axes: Axes, curve: Curve, scale: float) -> None:
    """Dashed lines, each named at the right margin; names that would overlap are moved apart."""
    low, high = axes.get_ylim()
    step = (high - low) / 22
    ordered = sorted(curve.baselines.items(), key=lambda item: item[1])
    heights = [value / scale for _, value in ordered]
    places = _spread(heights, step)
    for (label, _), height, place in zip(ordered, heights, places, strict=True):
        axes.axhline(height, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            plain(label),
            xy=(1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(1.035, place),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            color=TEXT,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": QUIET,
                "linewidth": 0.7,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0.0, 0.5),
            },
        )


def _spread(heights: Sequence[float], step: float) -> list[float]:
    """Move ascending heights apart to at least `step`, each as little as the others allow.

    Least squares under order: pooling adjacent violators of the heights less their rank's steps.
    """
    pools: list[tuple[float, int]] = []  # (sum, members)
    for rank, height in enumerate(heights):
        total, members = height - step * rank, 1
        while pools and pools[-1][0] / pools[-1][1] > total / members:
            before, size = pools.pop()
            total, members = total + before, members + size
        pools.append((total, members))
    levels = [total / size for total, size in pools for _ in range(size)]
    return [level + step * rank for rank, level in enumerate(levels)]


def _headline(curve: Curve, scale: float, unit: str) -> str:
    if curve.final is None:
        return f"{curve.name}: no trial has completed yet"
    comparison = compared(curve.final, curve.baselines, times="×") if curve.baselines else ""
    text = f"{curve.name}: {curve.final / scale:.4g} {unit}"
    return f"{text}, {comparison}" if comparison else text


def _known(curve: Curve, scale: float) -> tuple[list[float], list[float]]:
    pairs = zip(curve.axis.values, curve.best, strict=True)
    points = [(x, best / scale) for x, best in pairs if best is not None]
    return [x for x, _ in points], [y for _, y in points]


def _legend(axes: Axes, place: Literal["upper right", "lower right"]) -> None:
    if not axes.get_legend_handles_labels()[0]:
        return
    axes.legend(
        loc=place, fontsize=9, labelcolor=TEXT, facecolor="white", edgecolor="none", framealpha=0.9
    )


def _colours(count: int) -> list[str]:
    return [COLOURS[index % len(COLOURS)] for index in range(count)]


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)
    axes.tick_params(colors=TEXT)
    axes.xaxis.label.set_color(TEXT)
    axes.yaxis.label.set_color(TEXT)
    axes.grid(axis="y", color="#e2e8f0", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes

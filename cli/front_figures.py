"""The figure of a job's front: simulated time over price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from cli.curves import unit_for
from cli.figures import COLOURS, QUIET, TEXT, plain

__all__ = ["front_figure"]

_AXES = {
    "cost": "cost of the network",
    "power": "power of the network (W)",
    "energy": "energy of a run (J)",
}


def front_figure(answer: Mapping[str, Any], name: str) -> Figure:
    """Draws the front as a staircase, with the fastest trial of every other network.

    Args:
        answer: Of `GET /jobs/{id}/front`, with at least one point.
        name: Of the job.
    """
    by = answer["by"]
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    axes = figure.add_subplot()
    scale, unit = unit_for([one["value"] for one in (*answer["points"], *answer["others"])])
    for points, colour, label in (
        (answer["others"], QUIET, "fastest trial of another network"),
        (answer["baselines"], COLOURS[1], "baseline outside the search space"),
    ):
        if points:
            prices, times = _places(points, by, scale)
            axes.scatter(prices, times, s=18, color=colour, label=label, zorder=2)
    prices, times = _places(answer["points"], by, scale)
    axes.step(
        prices, times, where="post", color=COLOURS[0], linewidth=2, marker="o", label="front",
        zorder=3,
    )  # fmt: skip
    for one, price, time in zip(answer["points"], prices, times, strict=True):
        axes.annotate(
            str(one["trial"]), (price, time), xytext=(4, 4), textcoords="offset points",
            fontsize=8, color=TEXT,
        )  # fmt: skip
    axes.set_xlabel(_AXES[by])
    axes.set_ylabel(f"simulated time ({unit})")
    title = plain(f"{name}: trials that no other one beats")
    axes.set_title(title, loc="left", color=TEXT, fontsize=11)
    axes.grid(color=QUIET, alpha=0.3, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _places(points: Any, by: str, scale: float) -> tuple[list[float], list[float]]:
    return [one[by] for one in points], [one["value"] / scale for one in points]

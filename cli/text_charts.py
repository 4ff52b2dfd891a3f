"""The curve of a job drawn with characters, for terminals."""

from __future__ import annotations

import re

from cli.curves import Curve, unit_for
from searchspace.units import format_duration

__all__ = ["curve_text"]

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def curve_text(curve: Curve, *, width: int = 78, height: int = 16) -> str:
    """The best simulated time by trial as characters; the best baseline as a line across."""
    # Loaded where it is used: it takes longer than most commands run.
    import plotext

    known = [value for value in curve.best if value is not None]
    if not known:
        return "no trial has completed yet"
    baseline = curve.best_baseline
    scale, unit = unit_for([*known, *([baseline[1]] if baseline else [])])
    xs: list[float] = []
    ys: list[float] = []
    for x, best in zip(curve.axis.values, curve.best, strict=True):
        if best is None:
            continue
        if ys:
            xs.append(x)
            ys.append(ys[-1])
        xs.append(x)
        ys.append(best / scale)
    figure = plotext.figure
    figure.clear()
    figure.plot_size(width, height)
    figure.theme("colorless")
    figure.legend(False)
    figure.title(f"{curve.name}: simulated time ({unit}) by {curve.axis.label}")
    low, high = xs[0], max(xs[-1], xs[0] + 1)
    figure.ruler("x").lim(low, high)
    if curve.axis.label == "trial":
        figure.ruler("x").ticks(_whole_ticks(low, high))
    if baseline is not None:
        line = figure.signal([low, high], [baseline[1] / scale] * 2, marker="-")
        figure.draw(line.lines())
    figure.draw(figure.signal(xs, ys, marker="braille").lines())
    lines = [_STYLE.sub("", line).rstrip() for line in figure.build().string().splitlines()]
    if baseline is not None:
        lines.append(f"     - - -  best baseline: {baseline[0]}, {format_duration(baseline[1])}")
    return "\n".join(line for line in lines if line)


def _whole_ticks(low: float, high: float) -> list[int]:
    span = max(1, round(high - low))
    step = next(
        size * 10**power
        for power in range(10)
        for size in (1, 2, 5)
        if span / (size * 10**power) <= 8
    )
    first = round(low)
    return [first, *range((first // step + 1) * step, round(high) + 1, step)]

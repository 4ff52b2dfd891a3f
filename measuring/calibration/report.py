"""A calibration as a page: every measurement, what the fitted machine says of it, and what is left.

The page holds all of itself: plots are pictures within it, and it loads nothing.
"""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Sequence
from itertools import groupby

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from measuring.calibration.calibrated import Calibrated, Compared

__all__ = ["page"]

_STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { padding: .2rem .8rem; border-bottom: 1px solid #ddd; text-align: right; }
td:first-child, th:first-child { text-align: left; }
svg { width: 100%; height: auto; }
"""
_MICRO = 1e6
_WORST = 12


def page(found: Calibrated) -> str:
    """The page, as HTML."""
    machine, calibration = found.machine, found.machine.calibration
    assert calibration is not None, "it was calibrated"
    software = ", ".join(f"{name}: {version}" for name, version in calibration.software.items())
    kinds = [*calibration.residuals.items(), ("whole messages", calibration)]
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Calibration</title>",
        f"<style>{_STYLE}</style></head><body><h1>Calibration</h1>",
        f"<p>{machine.nodes} hosts, {html.escape(str(calibration.date))}; "
        f"{html.escape(software)}.</p>",
        f"<p>Simulated times differ from measured ones by {calibration.median:.1%} (median) and "
        f"{calibration.error:.1%} (90th percentile) over {calibration.points} experiments that "
        "last until messages have arrived. Of their time, the model does not explain "
        f"{found.unexplained:.1%}.</p>",
        "<h2>Fitted numbers</h2>",
        _table(
            ("", "value", "95% confidence"),
            ((name, _number(value), _interval(name, found)) for name, value in _numbers(found)),
        ),
        "<h2>What is left, by kind of experiment</h2>",
        _table(
            ("", "points", "median", "90th percentile"),
            (
                (kind, str(each.points), f"{each.median:.1%}", f"{each.error:.1%}")
                for kind, each in kinds
            ),
        ),
        _svg(_differences(found.compared)),
        "<h2>Times by size</h2><p>Dots are medians with their quarters, lines the simulated times "
        "of the fitted machine.</p>",
        *(_svg(_times(kind, list(each))) for kind, each in _by_kind(found.compared)),
        "<h2>What is explained worst</h2>",
        _table(
            ("experiment", "bytes", "measured, us", "simulated, us", "simulated / measured"),
            (
                (
                    f"{each.experiment.kind} {each.experiment.detail}",
                    str(each.experiment.bytes),
                    f"{each.measured * _MICRO:.1f}",
                    f"{each.simulated * _MICRO:.1f}",
                    f"{each.simulated / each.measured:.2f}",
                )
                for each in sorted(found.compared, key=lambda each: -each.error)[:_WORST]
            ),
        ),
        *(f"<p>Note: {html.escape(note)}.</p>" for note in found.notes),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _numbers(found: Calibrated) -> Iterable[tuple[str, float]]:
    machine, protocol = found.machine, found.machine.protocol
    assert protocol is not None, "of the packets model"
    yield "host_speed", machine.host_speed
    yield "link_bandwidth", machine.link_bandwidth
    yield "link_latency", machine.link_latency
    yield "loopback_bandwidth", machine.loopback_bandwidth
    yield "burst", protocol.burst
    for name in ("send_overhead", "isend_overhead", "receive_overhead"):
        [(_, seconds, per_byte)] = getattr(protocol, name)
        yield f"{name}.seconds", seconds
        yield f"{name}.per_byte", per_byte
    for name in ("peer_overhead", "eager_limit", "send_buffer"):
        value = getattr(protocol, name)
        if value is not None:
            yield name, value


def _number(value: float) -> str:
    return f"{value:.5g}"


def _interval(name: str, found: Calibrated) -> str:
    calibration = found.machine.calibration
    if calibration is None or name not in calibration.intervals:
        return ""
    low, high = calibration.intervals[name]
    return f"{_number(low)} to {_number(high)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + "".join([line(head, "th"), *(line(row, "td") for row in rows)]) + "</table>"


def _by_kind(compared: Sequence[Compared]) -> Iterable[tuple[str, Iterable[Compared]]]:
    def kind(each: Compared) -> str:
        return each.experiment.kind

    return groupby(sorted(compared, key=kind), key=kind)


def _differences(compared: Sequence[Compared]) -> Figure:
    drawn = Figure(figsize=(9, 4.5), layout="constrained")
    axes: Axes = drawn.subplots()
    for at, (kind, each) in enumerate(_by_kind(compared)):
        points = list(each)
        axes.plot(
            [max(1, point.experiment.bytes) for point in points],
            [point.simulated / point.measured for point in points],
            "osD^v<>pPX*h"[at % 12],
            label=kind,
            color=matplotlib.colormaps["tab20"](at % 20),
            markerfacecolor="none",
        )
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="bytes", ylabel="simulated / measured")
    for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        which(ScalarFormatter())
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1))
    return drawn


def _times(kind: str, compared: Sequence[Compared]) -> Figure:
    drawn = Figure(figsize=(9, 4), layout="constrained")
    axes: Axes = drawn.subplots()
    for at, detail in enumerate(dict.fromkeys(each.experiment.detail for each in compared)):
        points = sorted(
            (each for each in compared if each.experiment.detail == detail),
            key=lambda each: each.experiment.bytes,
        )
        sizes = [max(1, each.experiment.bytes) for each in points]
        colour = matplotlib.colormaps["tab10"](at % 10)
        axes.errorbar(
            sizes,
            [each.measured * _MICRO for each in points],
            yerr=[
                [(each.measured - each.low) * _MICRO for each in points],
                [(each.high - each.measured) * _MICRO for each in points],
            ],
            fmt="o",
            color=colour,
            markerfacecolor="none",
            label=detail or kind,
            capsize=2,
        )
        axes.plot(sizes, [each.simulated * _MICRO for each in points], color=colour)
    axes.set(xscale="log", yscale="log", xlabel="bytes", ylabel="us", title=kind)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return drawn


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    # A fixed salt and no date: the same findings give the same page.
    with matplotlib.rc_context({"svg.hashsalt": "hamtune"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]

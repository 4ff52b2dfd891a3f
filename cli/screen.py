"""A running job on a terminal, redrawn in place: its state, its curve and its latest trials."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cli.client import Client
from cli.curves import POINTS, Curve
from cli.job_words import describe, headway, status_line
from cli.text_charts import curve_text
from searchspace.units import format_duration

__all__ = ["Screen", "trial_table"]

SHARE = 0.05
"""Of its time that watching may spend on fetching the curve, which grows with the job."""


class Screen:
    """State, curve and latest trials, redrawn in place."""

    slowest = 1.0

    def __init__(self, client: Client) -> None:
        self._client = client
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4)
        self._convergence: dict[str, Any] | None = None
        self._drawn = 0  # finished trials in the curve
        self._next_fetch = 0.0

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def show(self, job: dict[str, Any], *, ended: bool) -> None:
        """Draw the job as it is now; the last time if it has ended."""
        size = self._console.size
        rows = max(3, min(10, size.height - 22))
        asked = sum(job["progress"]["trials"].values())
        path = f"/jobs/{job['id']}"
        trials = self._client.get(f"{path}/trials", after=max(0, asked - rows))["items"]
        running = []
        if any(trial["state"] == "running" for trial in trials):
            running = self._client.get(f"{path}/trials/running")
        finished = job["progress"]["finished"]
        if finished > self._drawn and (ended or time.monotonic() >= self._next_fetch):
            begin = time.monotonic()
            self._convergence = self._client.get(f"{path}/convergence", points=POINTS)
            self._drawn = finished
            self._next_fetch = time.monotonic() + (time.monotonic() - begin) / SHARE
        status = Text(status_line(job), style="bold", overflow="ellipsis", no_wrap=True)
        parts: list[RenderableType] = [status]
        if self._convergence is not None:
            curve = curve_text(
                Curve.of(job["name"], self._convergence),
                width=max(40, min(size.width, 100)),
                height=max(8, min(16, size.height - rows - 4)),
            )
            parts.append(Text(curve))
        headways = {one["trial"]: headway(one) for one in running}
        self._live.update(Group(*parts, trial_table(trials, headways)))

    def __exit__(self, *raised: object) -> None:
        self._live.stop()


def trial_table(
    trials: Sequence[Mapping[str, Any]], headways: Mapping[int, str] = MappingProxyType({})
) -> Table:
    """Trials as a table, in the order given; how far those under way are stands by their number."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (
        ("trial", "right"),
        ("state", "left"),
        ("simulated", "right"),
        ("CPU s", "right"),
        ("configuration", "left"),
    ):
        table.add_column(title, justify=justify, no_wrap=title != "configuration")  # type: ignore[arg-type]
    for trial in trials:
        value = trial["value"]
        shown = headways.get(trial["number"], "") if value is None else format_duration(value)
        if trial["state"] == "censored":
            shown = f"> {shown}"
        cpu = trial["cpu_seconds"]
        table.add_row(
            str(trial["number"]),
            trial["state"] + (" (cached)" if trial["cached"] else ""),
            shown,
            "" if cpu is None else f"{cpu:.2f}",
            _named(trial),
        )
    return table


def _named(trial: Mapping[str, Any]) -> str:
    note = {"low": "~ ", "full": ""}[trial["fidelity"]]
    if trial["label"]:
        return note + str(trial["label"])
    if trial["kind"] == "verification":
        note = "verified: "
    if trial["kind"] == "comparison":
        note = "by fluid: "
    return note + describe(trial["configuration"])

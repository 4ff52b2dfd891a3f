"""Following a job to its end: live table and curve on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from cli.client import Client, ConnectionBroken
from cli.curves import POINTS, Curve
from cli.options import say
from cli.terminal import curve_text, search_trials, status_line, trial_table
from searchspace.units import format_duration
from storage.records import FINAL_JOB_STATES

__all__ = ["follow"]

POLL_SECONDS = 0.25
PATIENCE_SECONDS = 60.0
"""How long a service may be away before watching ends."""
SHARE = 0.05
"""Of its time that watching may spend on fetching the curve, which grows with the job."""


def follow(client: Client, job_id: str) -> dict[str, Any]:
    """Show the course of a job on stderr until it has ended or is paused; returns the job.

    Raises:
        HamtuneError: The service refuses, or has been away for a minute.
    """
    display: _Display = _Screen(client) if sys.stderr.isatty() else _Lines()
    begin = time.monotonic()
    last_answer = time.monotonic()
    with display:
        while True:
            try:
                job: dict[str, Any] = client.get(f"/jobs/{job_id}")
                ended = job["state"] in (*FINAL_JOB_STATES, "paused")
                display.show(job, ended=ended)
                last_answer = time.monotonic()
            except ConnectionBroken:
                if time.monotonic() - last_answer > PATIENCE_SECONDS:
                    raise
                ended = False
            if ended:
                return job
            # The longer a job takes, the less it matters to hear of its end at once.
            time.sleep(min(1.0, max(POLL_SECONDS, (time.monotonic() - begin) / 60.0)))


class _Display(AbstractContextManager["_Display"], Protocol):
    def show(self, job: dict[str, Any], *, ended: bool) -> None: ...


class _Lines(_Display):
    """A line when the state changes, when there is a new best, and at every tenth of the trials."""

    def __init__(self) -> None:
        self._state = ""
        self._best: float | None = None
        self._tenths = 0

    def show(self, job: dict[str, Any], *, ended: bool) -> None:
        best = job["progress"]["best"]
        finished, limit = search_trials(job)
        tenths = 10 * finished // (limit or 100)
        if job["state"] != self._state or tenths > self._tenths:
            say(status_line(job))
        elif best and best["value"] != self._best:
            say(f"{job['name']}: trial {best['trial']}: best {format_duration(best['value'])}")
        self._state, self._tenths = job["state"], tenths
        self._best = best["value"] if best else None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to clear."""


class _Screen(_Display):
    """State, curve and latest trials, redrawn in place."""

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
        size = self._console.size
        rows = max(3, min(10, size.height - 22))
        asked = sum(job["progress"]["trials"].values())
        path = f"/jobs/{job['id']}"
        trials = self._client.get(f"{path}/trials", after=max(0, asked - rows))["items"]
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
        self._live.update(Group(*parts, trial_table(trials)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

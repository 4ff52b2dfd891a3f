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
from cli.course import Course
from cli.options import say
from cli.terminal import curve_text, status_line, trial_table
from searchspace.units import format_duration

__all__ = ["follow"]

POLL_SECONDS = 0.25
PATIENCE_SECONDS = 60.0
"""How long a service may be away before watching ends."""


def follow(client: Client, job_id: str) -> dict[str, Any]:
    """Show the course of a job on stderr until it has ended or is paused; returns the job.

    Raises:
        HamtuneError: The service refuses, or has been away for a minute.
    """
    course = Course(client, job_id)
    display: _Display = _Screen() if sys.stderr.isatty() else _Lines()
    with display:
        while True:
            _update(course)
            display.show(course)
            if course.ended:
                return course.job
            time.sleep(POLL_SECONDS)


def _update(course: Course) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            course.update()
            return
        except ConnectionBroken:
            if time.monotonic() > deadline:
                raise
            time.sleep(1.0)


class _Display(AbstractContextManager["_Display"], Protocol):
    def show(self, course: Course) -> None: ...


class _Lines(_Display):
    """A line when the state changes, when there is a new best, and at every tenth of the trials."""

    def __init__(self) -> None:
        self._state = ""
        self._best: int | None = None
        self._tenths = 0

    def show(self, course: Course) -> None:
        job, progress = course.job, course.job["progress"]
        best = progress["best"]
        if best and best["trial"] != self._best and not course.ended:
            self._best = best["trial"]
            say(f"{job['name']}: trial {best['trial']}: best {format_duration(best['value'])}")
        limit = job["spec"]["budget"].get("trials") or 100
        tenths = 10 * progress["finished"] // limit
        if job["state"] != self._state or tenths > self._tenths:
            self._state, self._tenths = job["state"], tenths
            say(status_line(job))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to clear."""


class _Screen(_Display):
    """State, curve and latest trials, redrawn in place."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4, transient=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def show(self, course: Course) -> None:
        size = self._console.size
        rows = max(3, min(10, size.height - 22))
        parts: list[RenderableType] = [
            Text(status_line(course.job), style="bold", overflow="ellipsis", no_wrap=True),
            Text(
                curve_text(
                    course.curve(),
                    width=max(40, min(size.width, 100)),
                    height=max(8, min(16, size.height - rows - 4)),
                )
            ),
            trial_table(course.trials[-rows:]),
        ]
        self._live.update(Group(*parts))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

"""Following a job to its end: live table and curve on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from cli.client import Client, ConnectionBroken
from cli.job_words import headway, search_trials, status_line
from cli.options import say
from searchspace.units import format_duration
from storage.records import FINAL_JOB_STATES

__all__ = ["follow", "say_failure"]

POLL_SECONDS = 0.25
CAPTURE_SECONDS = 5.0
QUIET_SECONDS = 20.0
"""After which lines tell how far the evaluations under way are."""
PATIENCE_SECONDS = 60.0
"""How long a service may be away before watching ends."""


def follow(
    client: Client, job_id: str, *, wait: Callable[[float], object] = time.sleep
) -> dict[str, Any]:
    """Show the convergence of a job on stderr until it has ended or is paused; returns the job.

    Args:
        client: Where the job is.
        job_id: Which one.
        wait: Waits as many seconds as it is told, or less where it hears of the job.

    Raises:
        HamtuneError: The service refuses, or has been away for a minute.
    """
    display = _display(client)
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
            # The longer a job takes, the less it matters to hear of a trial at once; each look
            # takes the time of a trial's own bookkeeping.
            wait(min(display.slowest, max(POLL_SECONDS, (time.monotonic() - begin) / 10.0)))


def say_failure(job: dict[str, Any]) -> None:
    """Tell why a job failed, with the end of the log that says it, on stderr."""
    if job["state"] == "failed":
        say(f"hamtune: job {job['id']} failed: {job['error']}")


def _display(client: Client) -> _Display:
    if not sys.stderr.isatty():
        return _Lines(client)
    from cli.screen import Screen  # and what draws it, which takes longer to load than lines need

    return Screen(client)


class _Display(AbstractContextManager["_Display"], Protocol):
    slowest: float  # seconds between two looks, at most

    def show(self, job: dict[str, Any], *, ended: bool) -> None: ...


class _Lines(_Display):
    """A line for each state, new best, tenth of the trials, and finalist that is measured.

    Where a single evaluation takes long, a line tells from time to time how far it is.
    """

    slowest = 2.0

    def __init__(self, client: Client) -> None:
        self._client = client
        self._said = time.monotonic()
        self._state = ""
        self._best: float | None = None
        self._tenths = 0
        self._measuring: tuple[int, int] | None = None
        self._capture: dict[str, Any] | None = None
        self._capture_told = time.monotonic()

    def show(self, job: dict[str, Any], *, ended: bool) -> None:
        best = job["progress"]["best"]
        finished, limit = search_trials(job)
        tenths = 10 * finished // (limit or 100)
        measuring = job["progress"].get("measuring")
        phase = measuring and (measuring["settled"], measuring["wanted"])
        news = job["state"] != self._state or tenths > self._tenths or phase != self._measuring
        if news or self._capture_moved(job["progress"].get("capture")):
            self._say(status_line(job))
        elif best and best["value"] != self._best:
            time_ = format_duration(best["value"])
            self._say(f"{job['name']}: trial {best['trial']}: best {time_}")
        elif job["state"] == "running" and time.monotonic() - self._said >= QUIET_SECONDS:
            self._say_headway(job)
        self._state, self._tenths = job["state"], tenths
        self._best = best["value"] if best else None
        self._measuring = phase

    def _capture_moved(self, capture: dict[str, Any] | None) -> bool:
        """Whether a capture is further than it was told to be, some seconds ago."""
        last, self._capture = self._capture, capture or self._capture
        if capture is None or capture == last:
            return False
        if time.monotonic() < self._capture_told + CAPTURE_SECONDS:
            return False
        self._capture_told = time.monotonic()
        return True

    def _say(self, line: str) -> None:
        say(line)
        self._said = time.monotonic()

    def _say_headway(self, job: dict[str, Any]) -> None:
        for one in self._client.get(f"/jobs/{job['id']}/trials/running"):
            if far := headway(one):
                self._say(f"{job['name']}: trial {one['trial']}: {far}")

    def __exit__(self, *raised: object) -> None:
        """Nothing to clear."""

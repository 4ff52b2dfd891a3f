"""What to say where a job waits and nothing runs that would take it up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cli.options import say
from service.datalock import DataLock
from service.settings import Settings
from storage.records import FINAL_JOB_STATES

__all__ = ["say_idle"]

_ASKED = {"pausing": "paused", "cancelling": "cancelled"}
"""What becomes of a job that somebody asked to end, once something runs."""


def say_idle(job: Mapping[str, Any], server: str | None, settings: Settings) -> None:
    """Say how a job of the data directory goes on, if no service runs over it.

    Nothing is said of one that waits for nobody: it has ended, or is paused.

    Args:
        job: As the service answers it.
        server: The service that was named, where one was.
        settings: With the data directory.
    """
    if job["state"] in (*FINAL_JOB_STATES, "paused"):
        return
    if server is None and settings.private and DataLock(settings.data).holder() is None:
        asked = _ASKED.get(job["state"])
        goes_on = f"the job goes on with 'hamtune up' or 'hamtune run --resume {job['id']}'"
        then = goes_on if asked is None else f"the job is {asked} as soon as 'hamtune up' runs"
        say(f"hamtune: nothing runs over {settings.data}; {then}")

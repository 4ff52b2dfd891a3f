"""What to say where a job waits and nothing runs that would take it up."""

from __future__ import annotations

from cli.options import say
from service.datalock import DataLock
from service.settings import Settings

__all__ = ["say_idle"]


def say_idle(job_id: str, server: str | None, settings: Settings) -> None:
    """Say how a job of the data directory goes on, if no service runs over it."""
    if server is None and settings.private and DataLock(settings.data).holder() is None:
        say(
            f"hamtune: nothing runs over {settings.data}; the job goes on with "
            f"'hamtune up' or 'hamtune run --resume {job_id}'"
        )

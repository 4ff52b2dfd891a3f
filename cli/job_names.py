"""Jobs as arguments: an id or a name, which shells complete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from searchspace.errors import HamtuneError
from service.settings import Settings

__all__ = ["JobName", "job_argument"]

F = TypeVar("F", bound=Callable[..., Any])

_MOST = 200
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+@%-]*")
"""Names that are one word in every shell; other jobs are completed by their ids."""


class JobName(click.ParamType[str]):
    """A job's id, or its name if no other job has it.

    Args:
        archived: Whether archived jobs are completed: those that the command takes.
        deleted: `only` completes deleted jobs.
    """

    name = "text"

    def __init__(self, archived: str = "include", *, deleted: str | None = None) -> None:
        self._archived = archived
        self._deleted = deleted

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The jobs that begin so, newest first; none where there is no service and no data."""
        try:
            found = _jobs(ctx, incomplete, archived=self._wanted(ctx), deleted=self._deleted)
        except (HamtuneError, OSError):
            return []
        counts = Counter(job["name"] for job in found)
        items = []
        for job in found:
            named = counts[job["name"]] == 1 and _PLAIN.fullmatch(job["name"]) is not None
            value = job["name"] if named else job["id"]
            told = f"{job['state']}, {job['id'] if named else 'of several with this name'}"
            if value.startswith(incomplete):
                items.append(CompletionItem(value, help=told))
        return items

    def _wanted(self, ctx: click.Context) -> str:
        """Those to be brought back are archived, those to be put aside are not."""
        if "undo" in ctx.params:
            return "only" if ctx.params["undo"] else "exclude"
        return self._archived


def job_argument(
    name: str = "job", *, archived: str = "include", **settings: Any
) -> Callable[[F], F]:
    """The argument J of a command.

    Args:
        name: Of its parameter.
        archived: `include`, or `exclude` where the command takes no archived job.
        settings: Further ones of `click.argument`.
    """
    return click.argument(name, type=JobName(archived), **{"metavar": "J", **settings})


def _jobs(ctx: click.Context, incomplete: str, **wanted: str | None) -> list[dict[str, Any]]:
    from cli.client import connect, live_server

    settings = ctx.params.get("settings") or Settings.from_environment(data=None)
    server = ctx.params.get("server")
    if server is None and live_server(settings.data) is None and not settings.data.exists():
        return []  # whoever presses a key makes no data directory
    with connect(server, settings) as client:
        page = client.get("/jobs", **wanted, search=incomplete or None, limit=_MOST)
        return list(page["items"])

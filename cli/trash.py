"""Deleting jobs, and restoring them; `restore` fills an empty database from a backup as well."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from cli.client import Client, NotThere, connect
from cli.input_path import InputPath
from cli.job_names import JobName, job_argument
from cli.job_words import search_trials
from cli.maintenance import restore_backup
from cli.options import example, json_option, print_json, say, server_option
from searchspace.errors import HamtuneError
from service.settings import Settings

__all__ = ["COMMANDS"]

_ARCHIVES = (".gz", ".tgz", ".tar")


class _Deleted(click.ParamType[str | Path]):
    """A backup, where a file of this name is there; else a deleted job's id or name."""

    name = "text"

    def convert(
        self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | Path:
        """The path of a backup, or the text."""
        path = Path(value)
        named = os.sep in str(value) or path.suffix in _ARCHIVES
        there = os.path.lexists(path)
        if named and not there:
            self.fail(
                f"there is no file '{value}'; a deleted job of this name is restored by its id, "
                "which 'hamtune jobs --deleted' lists",
                param,
                ctx,
            )
        if there and (named or not path.is_dir()):
            return InputPath().convert(path, param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Deleted jobs, and files."""
        jobs = JobName(deleted="only").shell_complete(ctx, param, incomplete)
        return [CompletionItem(incomplete, type="file"), *jobs]


@click.command(
    epilog=example(
        "hamtune delete old-job",
        "hamtune restore old-job",
        "hamtune delete 0k3v9m2x7q1zt8ak --now --yes",
    )
)
@job_argument()
@click.option("--now", is_flag=True, help="Delete it for good, also where it was deleted already.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of what cannot be undone.")
@json_option
@server_option
def delete(
    job: str, now: bool, yes: bool, as_json: bool, server: str | None, settings: Settings
) -> None:
    """Delete a paused or ended job with its trials and events; 'hamtune restore' brings it back.

    It can be restored for 30 days, unless the service keeps deleted jobs for another time. --now
    deletes it for good, at once; this cannot be undone. Traces and networks that other jobs use
    stay. J is a job's id, or its name if no other job has it.
    """
    with connect(server, settings, existing=True) as client:
        found = _any_job(client, job) if now else client.find_job(job)
        for_good = now or not client.get("/session").get("keep_deleted_seconds")
        if for_good and not yes and not _confirmed(found, now):
            say(f"{found['name']} ({found['id']}) stays")
            return
        answer = client.delete(f"/jobs/{found['id']}" + ("?now=true" if now else "")) or {}
    until = answer.get("restorable_until")
    if as_json:
        gone = {"id": found["id"], "name": found["name"], "state": "deleted"}
        print_json({**gone, "restorable_until": until, "restore": answer.get("restore")})
    elif until is None:
        click.echo(f"{found['name']} ({found['id']}): deleted for good")
    else:
        click.echo(
            f"{found['name']} ({found['id']}): deleted; '{answer['restore']}' brings it back "
            f"until {_day(until)}"
        )


@click.command(
    epilog=example(
        "hamtune jobs --deleted",
        "hamtune restore cg-64",
        "hamtune restore hamtune.tar.gz --data new/",
    )
)
@click.argument("deleted", type=_Deleted(), metavar="J|FILE")
@json_option
@server_option
@click.pass_context
def restore(
    context: click.Context,
    deleted: str | Path,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Bring a deleted job back as it was, or fill an empty database from a backup.

    J is a deleted job's id, or its name if no other deleted job has it. The job keeps its name,
    which another one may have got meanwhile. A file that is there is taken for a backup that
    'hamtune backup' has written: it fills database and artifact store, which have to be empty, the
    tables are brought up to date, and unfinished jobs go on once the service starts.
    """
    if isinstance(deleted, Path):
        if context.get_parameter_source("server") is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{deleted} is a file, and --server goes with jobs; a backup is restored where "
                "its database is"
            )
        restore_backup(deleted, as_json, settings)
        return
    with connect(server, settings, existing=True) as client:
        found = client.find_job(deleted, deleted=True)
        answer = client.post(f"/jobs/{found['id']}/restore")
        namesakes = client.get("/jobs", name=answer["name"], archived="include", limit=2)["items"]
    if as_json:
        print_json(answer)
        return
    click.echo(f"{answer['name']} ({answer['id']}): restored, {answer['state']}")
    if len(namesakes) > 1:
        say(f"hamtune: another job is called {answer['name']} too; tell them apart by their ids")


def _any_job(client: Client, reference: str) -> dict[str, Any]:
    """A job, which may be deleted already."""
    try:
        return client.find_job(reference)
    except NotThere:
        return client.find_job(reference, deleted=True)


def _confirmed(job: dict[str, Any], now: bool) -> bool:
    """Whether the user wants what cannot be undone.

    Raises:
        HamtuneError: Nobody answers.
    """
    trials = search_trials(job)[0]
    why = "" if now else ", for this service keeps no deleted jobs"
    question = (
        f"Delete {job['name']} ({job['id']}, {trials} trials) for good? This cannot be undone{why}."
    )
    try:
        return click.confirm(question, err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise  # Ctrl-C
        raise HamtuneError("nobody answers; --yes deletes without asking") from None


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


COMMANDS = [delete, restore]

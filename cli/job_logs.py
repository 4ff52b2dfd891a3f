"""`hamtune logs`: what building and running the program of a job printed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from cli.client import Client, connect
from cli.harmless import harmless
from cli.job_names import job_argument
from cli.options import (
    example,
    json_option,
    print_json,
    say,
    server_option,
)
from cli.output_files import show_files
from searchspace.errors import HamtuneError
from service.settings import Settings

__all__ = ["logs"]


@click.command(
    epilog=example(
        "hamtune logs cg-16",
        "hamtune logs cg-16 --build --follow",
        "hamtune logs cg-16 --files",
        "hamtune logs cg-16 --files --output results/",
    )
)
@job_argument()
@click.option("--build", "log", flag_value="build", help="Only what the build printed.")
@click.option("--run", "log", flag_value="run", help="Only what the runs printed.")
@click.option("--follow", is_flag=True, help="Go on until the program is captured.")
@click.option("--files", is_flag=True, help="List the files that the runs left, instead.")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --files: fetch them into a directory.",
)
@json_option
@server_option
def logs(
    job: str,
    log: str | None,
    follow: bool,
    files: bool,
    output: Path | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> int:
    """Show what building and running the program of a job printed.

    J is a job's id, its name if no other job has it, or the id of an application. With --files,
    show which files the last runs wrote or changed, or fetch them.
    """
    if output is not None and not files:
        raise click.UsageError("--output goes with --files")
    if files and (log or follow):
        raise click.UsageError("--files does not go with --build, --run or --follow")
    wanted = (log,) if log else ("build", "run")
    with connect(server, settings) as client:
        path = _owner_of_logs(client, job)
        if files:
            show_files(client, f"{path}/files", output, as_json=as_json)
            return 0
        if as_json:
            state = client.get(path)
            print_json(
                {
                    "application": state["id"],
                    "state": state["state"],
                    "error": state["error"],
                    **{name: client.download(f"{path}/logs/{name}").decode() for name in wanted},
                }
            )
            return 0
        shown = dict.fromkeys(wanted, 0)
        while True:
            state = client.get(path)
            for name in wanted:
                text = client.download(f"{path}/logs/{name}", offset=shown[name]).decode()
                click.echo(_shown(text), nl=False)
                shown[name] += len(text)
            if not follow or state["state"] in ("ready", "failed"):
                break
            time.sleep(1.0)
    if state["state"] == "failed":
        say(f"hamtune: {state['error'].splitlines()[0]}")
    return 0


def _shown(text: str) -> str:
    """What a program printed, as it is, but on a terminal without what would command that."""
    return harmless(text) if sys.stdout.isatty() else text


def _owner_of_logs(client: Client, reference: str) -> str:
    """The path of the application that a job or an id names."""
    try:
        job = client.find_job(reference)
    except HamtuneError as no_job:
        try:
            return f"/applications/{client.get_application(reference)['id']}"
        except HamtuneError:
            raise no_job from None
    if job["application_id"] is None:
        raise HamtuneError(f"job {job['name']!r} has no application yet, or none that is built")
    return f"/applications/{job['application_id']}"

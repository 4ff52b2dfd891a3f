"""`hamtune trials`: the trials of a job, to be read or as a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource

from cli.client import Client, connect
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, say, server_option
from service.settings import Settings
from storage.records import TrialState

__all__ = ["COMMANDS", "FORMATS", "LIST"]

FORMATS = ("csv", "parquet", "optuna")
"""The formats of the service (`service.tables.files`), which takes long to load."""
LIST = "list"
"""The format for people, which is made here."""

_PAGE = 500


@click.command(
    "trials",
    epilog=example(
        "hamtune trials cg-64 --state failed --state infeasible --format list",
        "hamtune trials cg-64 > trials.csv",
        "hamtune trials cg-64 --format parquet --output trials.parquet",
        "hamtune trials cg-64 --format optuna -o study.log && optuna-dashboard study.log",
    ),
)
@job_argument()
@click.option(
    "--state",
    "states",
    type=click.Choice(get_args(TrialState)),
    multiple=True,
    help="Only trials in this state; may be given several times.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice((*FORMATS, LIST)),
    default="csv",
    show_default=True,
    help="A table with a row for each trial, the same with types, a study of Optuna, or a list to "
    "be read: what became of each trial, and why.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; by default stdout.",
)
@json_option
@server_option
@click.pass_context
def trials(
    context: click.Context,
    job: str,
    states: tuple[str, ...],
    form: str,
    output: Path | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Write the trials of a job as a table, all of them or those in some states.

    J is a job's id, or its name if no other job has it.
    """
    if as_json:
        for name, option in (("form", "--format"), ("output", "--output")):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--json prints a document; leave {option} out")
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        if as_json:
            print_json(_listed(client, found, states))
            return
        if form == LIST:
            _print_list(client, found, states, output)
        else:
            path = f"/jobs/{found['id']}/table/{form}"
            _write(client.download(path, state=list(states)), output)
    if output is not None:
        counts = found["progress"]["trials"]
        count = sum(counts.get(state, 0) for state in states or counts)
        say(f"hamtune: {output}: {count} trials")


COMMANDS = [trials]


def _write(content: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        output.write_bytes(content)


def _listed(client: Client, job: Mapping[str, Any], states: Sequence[str]) -> list[dict[str, Any]]:
    path = f"/jobs/{job['id']}/trials"
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = client.get(path, state=list(states), after=after, limit=_PAGE)
        found += page["items"]
        after = page["cursor"]
    return found


def _print_list(
    client: Client, job: Mapping[str, Any], states: Sequence[str], output: Path | None
) -> None:
    # Its tables take a while to load, which the other formats should not pay for.
    from cli.console import table_console
    from cli.trial_list import trial_table

    found = _listed(client, job, states)
    with nullcontext() if output is None else output.open("w", encoding="utf-8") as file:
        if not found:
            wanted = " or ".join(states) + " " if states else ""
            click.echo(f"{job['name']} ({job['id']}) has no {wanted}trial", file)
            return
        table, lines = trial_table(job, found)
        table_console(file).print(table)
        for line in lines:
            click.echo(line, file)

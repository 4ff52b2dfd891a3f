"""`hamtune trials`: all trials of a job as a file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cli.client import connect
from cli.job_names import job_argument
from cli.options import example, say, server_option
from service.settings import Settings

__all__ = ["COMMANDS", "FORMATS"]

FORMATS = ("csv", "parquet", "optuna")
"""The formats of the service (`service.tables.files`), which takes long to load."""


@click.command(
    "trials",
    epilog=example(
        "hamtune trials cg-64 > trials.csv",
        "hamtune trials cg-64 --format parquet --output trials.parquet",
        "hamtune trials cg-64 --format optuna -o study.log && optuna-dashboard study.log",
    ),
)
@job_argument()
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="csv",
    show_default=True,
    help="A table with a row for each trial, the same with types, or a study of Optuna.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; by default stdout.",
)
@server_option
def trials(
    job: str, form: str, output: Path | None, server: str | None, settings: Settings
) -> None:
    """Write all trials of a job as a table.

    J is a job's id, or its name if no other job has it.
    """
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        content = client.download(f"/jobs/{found['id']}/table/{form}")
    if output is None:
        sys.stdout.buffer.write(content)
        return
    output.write_bytes(content)
    say(f"hamtune: {output}: {sum(found['progress']['trials'].values())} trials")


COMMANDS = [trials]

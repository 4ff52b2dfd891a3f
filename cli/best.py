"""`hamtune best`: the best configuration of a job."""

from __future__ import annotations

import click

from cli.client import connect
from cli.job_names import job_argument
from cli.job_words import by_both_models, decided, describe, gained, timed
from cli.options import example, json_option, print_json, server_option
from searchspace.units import format_duration
from service.settings import Settings

__all__ = ["COMMANDS"]


@click.command(epilog=example("hamtune best cg-64 --json"))
@job_argument()
@json_option
@server_option
def best(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show the best configuration of a job and what it gains over the best baseline."""
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        answer = client.get(f"/jobs/{found['id']}/best")
    if as_json:
        print_json(answer)
        return
    click.echo(f"{timed(answer)}, trial {answer['trial']} of {found['name']}")
    click.echo(gained(answer))
    for line in decided(answer):
        click.echo(line)
    for name, finished in (answer["finish_times"] or {}).items():
        click.echo(f"  {name} finishes at {format_duration(finished)}")
    click.echo(describe(answer["configuration"]))
    for line in by_both_models(answer):
        click.echo(line)


COMMANDS = [best]

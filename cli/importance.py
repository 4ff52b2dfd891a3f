"""`hamtune importance`: how much each parameter decided the time."""

from __future__ import annotations

import click

from cli.client import connect
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, server_option
from service.settings import Settings

__all__ = ["COMMANDS"]


@click.command(epilog=example("hamtune importance cg-64"))
@job_argument()
@json_option
@server_option
def importance(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show how much each parameter decided the simulated time, by the trials of a job.

    A random forest learns the time from the parameters; one matters as much as the forest errs more
    when its values are shuffled among the trials.
    """
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        answer = client.get(f"/jobs/{found['id']}/importance")
    if as_json:
        print_json(answer)
        return
    wide = max((len(one["name"]) for one in answer["parameters"]), default=0)
    for one in answer["parameters"]:
        share, deviation = round(100 * one["importance"]), round(100 * one["deviation"])
        click.echo(f"{one['name']:{wide}} {share:4}% +- {deviation}%")
    if answer["note"]:
        click.echo(answer["note"])
    if answer["parameters"]:
        sampled = f" of {answer['available']}" if answer["trials"] < answer["available"] else ""
        click.echo(
            f"{answer['method']}, {answer['trials']}{sampled} completed trials of the search "
            f"space; R^2 on trials left out: {answer['score']:.2f}"
        )


COMMANDS = [importance]

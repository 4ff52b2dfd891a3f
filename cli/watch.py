"""`hamtune watch`: the convergence of a job as it goes."""

from __future__ import annotations

import click

from cli.client import connect
from cli.follow import follow, say_failure
from cli.idle import say_idle
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, say, server_option
from service.settings import Settings

__all__ = ["COMMANDS"]


@click.command(epilog=example("hamtune watch cg-64"))
@job_argument()
@json_option
@server_option
def watch(job: str, as_json: bool, server: str | None, settings: Settings) -> int:
    """Watch a job until it ends: state, convergence curve and latest trials.

    On a terminal the view is live; elsewhere it is a line for every event worth telling. Ctrl-C
    ends the watching, not the job.
    """
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        say_idle(found, server, settings)
        try:
            ended = follow(client, found["id"])
        except KeyboardInterrupt:
            say(f"hamtune: the job goes on; watch it again with 'hamtune watch {found['id']}'")
            return 130
    if as_json:
        print_json(ended)
    say_failure(ended)
    return 1 if ended["state"] == "failed" else 0


COMMANDS = [watch]

"""`hamtune trial`: everything that is known of one trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from cli.client import Client, NotThere, connect
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, server_option
from cli.trial_words import trial_lines
from searchspace.errors import HamtuneError
from service.settings import Settings

__all__ = ["COMMANDS", "get_trial", "named", "placement"]


@click.command(
    epilog=example(
        "hamtune trial cg-64 17",
        "hamtune trial cg-64 17 --json | jq .reason",
        "hamtune compare cg-64 --trials 3,17",
    )
)
@job_argument()
@click.argument("number", metavar="N", type=click.IntRange(1, 2**31 - 1))
@json_option
@server_option
def trial(job: str, number: int, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show one trial of a job: its configuration, what became of it and why, and what it took.

    N is its number, as 'hamtune watch', 'best' and 'trials' show it.
    """
    with connect(server, settings) as client:
        found = client.find_job(job)
        answer = get_trial(client, found, number)
        placed = placement(client, found, answer)
    if as_json:
        print_json({**answer, "placement": placed})
        return
    for line in trial_lines(found, answer, placed):
        click.echo(line)


COMMANDS = [trial]


def get_trial(client: Client, job: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A trial of a job.

    Raises:
        HamtuneError: The job has no such trial; the message tells which it has.
    """
    asked = sum(job["progress"]["trials"].values())
    if number > asked:
        has = f"trials 1 to {asked}" if asked else "no trial yet"
        raise HamtuneError(f"job {job['name']} ({job['id']}) has {has}, but no trial {number}")
    return dict(client.get(f"/jobs/{job['id']}/trials/{number}"))


def placement(
    client: Client, job: Mapping[str, Any], trial: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What is known of where a trial was: see `named`; None where the service does not know."""
    if trial["state"] != "completed" or trial["summary"] is None:
        return None
    try:
        placed = client.get(f"/jobs/{job['id']}/trials/{trial['number']}/placement")
    except NotThere:
        return None  # as of a job whose trace is gone
    return named(trial["summary"]["link_loads"], placed)


def named(cables: Mapping[str, Any] | None, placed: Mapping[str, Any]) -> dict[str, Any]:
    """The hosts that the busiest cable joins, and what the algorithms are in words.

    Args:
        cables: `summary.link_loads` of a trial.
        placed: `GET /jobs/J/trials/N/placement`, which does not list the cables of large networks.
    """
    network = placed["network"] or {"edges": [], "hosts": None}
    edges, ends = network["edges"], None
    if cables is not None and cables["worst"][0]["cable"] < len(edges):
        ends = edges[cables["worst"][0]["cable"]][:2]
    return {"busiest_cable": ends, "hosts": network["hosts"], "words": placed["choices"]}

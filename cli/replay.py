"""`hamtune replay`: whether a stored trial comes out the same when it is simulated again."""

from __future__ import annotations

from typing import Any

import click

from cli.client import connect
from cli.harmless import harmless
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, server_option
from searchspace.units import format_duration
from service.settings import Settings

__all__ = ["COMMANDS"]

PATIENCE = 180.0
"""Seconds until the answer must have come; the service ends the simulation after 120."""

_SAID = {
    "same": "the same again",
    "consistent": "as it has to be: not below the bound at which it was stopped",
    "differs": "NOT the same",
}


@click.command(
    "replay",
    epilog=example(
        "hamtune replay cg-64 17", "hamtune replay cg-64 17 --json | jq .rank_finish_times"
    ),
)
@job_argument()
@click.argument("trial", type=click.IntRange(1, 2**31 - 1))
@json_option
@server_option
def replay(job: str, trial: int, as_json: bool, server: str | None, settings: Settings) -> int:
    """Simulate a trial of a job again and tell whether the same comes out.

    TRIAL is its number. The cache is not asked, no cutoff ends the simulation, and nothing is
    stored. The exit status is 1 where the outcome differs, as it may after an update of the
    simulator.
    """
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        answer = client.post(
            f"/jobs/{found['id']}/trials/{trial}/replay?whole=true", timeout=PATIENCE
        )
    if as_json:
        print_json(answer)
    else:
        _show(found["name"], answer)
    return 1 if answer["verdict"] == "differs" else 0


COMMANDS = [replay]


def _show(name: str, answer: dict[str, Any]) -> None:
    click.echo(f"trial {answer['trial']} of {name}: {_SAID[answer['verdict']]}")
    click.echo(f"  stored  {_outcome(answer['stored_state'], answer['stored_value'])}")
    click.echo(f"  now     {_outcome(answer['state'], answer['value'])}")
    if answer["difference"]:
        click.echo(f"  difference {answer['difference']:+.3g} of the stored time")
    for what, of in (("ranks", "finish at another time"), ("cables", "carry another load")):
        count = answer[f"{what}_that_differ"]
        if count is not None:
            click.echo(f"  {what} that {of}: {count}")
    if answer["reason"]:
        click.echo(f"  because {harmless(str(answer['reason'].get('message', '')))}")
    if answer["cpu_seconds"] is not None:
        click.echo(f"  {answer['cpu_seconds']:.3g} CPU s with simulator {answer['simulator']}")


def _outcome(state: str, value: float | None) -> str:
    """A state and its time with all digits: whether two are the same is what is asked."""
    if value is None:
        return state
    bound = "at least " if state == "censored" else ""
    return f"{state}, {bound}{value!r} s ({format_duration(value)})"

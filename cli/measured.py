"""`hamtune measured`: what clusters measure of a job's finalists, and the end of it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping
from typing import Any

import click
from rich.table import Table

from cli.client import connect
from cli.console import table_console
from cli.harmless import harmless
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, server_option
from searchspace.units import format_duration
from service.settings import Settings

__all__ = ["COMMANDS"]

_NOT_RUN = "dropped"
_SHOWN_CHARACTERS = 60


@click.command(
    epilog=example(
        "hamtune measured is-measured",
        "hamtune measured is-measured --end             decides by what is known now",
    )
)
@job_argument()
@click.option("--end", is_flag=True, help="Wait for no further runs: what is known decides.")
@json_option
@server_option
def measured(job: str, end: bool, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show what clusters have measured of a job's finalists.

    J is a job's id, or its name if no other job has it. Times are medians of the runs that count.
    With --end the job waits for no more of them: the best of what was measured is the best, or that
    by simulation if nothing was.
    """
    with connect(server, settings, existing=True) as client:
        path = f"/jobs/{client.find_job(job)['id']}/measured"
        found = client.post(f"{path}/end") if end else client.get(path)
    if as_json:
        print_json(found)
        return
    click.echo(_state(found))
    shown = [one for one in found["items"] if one["state"] != _NOT_RUN]
    if not shown:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("configuration", "simulated", "measured", "runs", "state"):
        table.add_column(title, no_wrap=True)
    for one in shown:
        table.add_row(*_row(one))
    table_console().print(table)


COMMANDS = [measured]


def _state(found: Mapping[str, Any]) -> str:
    if found["state"] is None:
        return "no finalists of this job have been measured"
    where = f" on {found['cluster']}" if found["cluster"] else ""
    because = f": {found['because']}" if found["because"] else ""
    if found["state"] == "decided":
        return f"decided{where} for trial {found['decided']}{because}"
    if found["state"] == "undecided":
        return f"undecided{because}; the simulation decides"
    if found["agent"] is None:
        return "waits for an agent to ask for work"
    return f"being measured{where} by {found['agent']}"


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    runs = Counter(run["state"] for run in one["runs"])
    counted = [run["seconds"] for run in one["runs"] if run["state"] == "counted"]
    others = [f"{count} {state}" for state, count in runs.items() if state != "counted"]
    reason = ""
    if one["reason"]:
        lines = str(one["reason"]["message"]).strip().splitlines()
        reason = f": {harmless(lines[-1])[:_SHOWN_CHARACTERS]}" if lines else ""
    return (
        one["label"],
        "" if one["simulated"] is None else format_duration(one["simulated"]),
        format_duration(statistics.median(counted)) if counted else "",
        ", ".join([str(len(counted)), *others]),
        f"{one['state']}{reason}",
    )

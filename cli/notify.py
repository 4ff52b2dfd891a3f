"""Who is told of jobs, by webhook or e-mail."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

import click
from rich.table import Table

from cli.client import Client, connect
from cli.console import table_console
from cli.job_names import JobName
from cli.keys import seconds_of
from cli.options import example, json_option, print_json, say, server_option
from searchspace.errors import HamtuneError
from service.settings import Settings
from storage.outbox_records import EVENTS

__all__ = ["COMMANDS", "subscribe_to"]


@click.group()
def notify() -> None:
    """Have a webhook called, or a mail sent, when jobs end or find something better.

    A service sends what its jobs have to tell; jobs of 'hamtune run' leave it to the next
    'hamtune up' over the same data directory.
    """


@notify.command(
    epilog=example(
        "hamtune notify add https://example.org/hook --job cg-64",
        "hamtune notify add ada@example.org --on failed --on incumbent --pause 30min",
    )
)
@click.argument("target")
@click.option(
    "--job", metavar="J", type=JobName(),
    help="Only this job; by default all jobs of the project, those to come as well.",
)  # fmt: skip
@click.option(
    "--on", "events", multiple=True, type=click.Choice(EVENTS),
    help="Of what; may be given several times. By default how jobs end, and not incumbents.",
)  # fmt: skip
@click.option(
    "--pause", metavar="TIME", callback=seconds_of,
    help="Between two incumbents of a job, at least; 1min by default.",
)  # fmt: skip
@click.option("--name", default="", help="What to call it.")
@json_option
@server_option
def add(
    target: str,
    job: str | None,
    events: tuple[str, ...],
    pause: float | None,
    name: str,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Subscribe TARGET, the URL of a webhook or an e-mail address, and print the id.

    The secret that signs the messages to a webhook is printed once, and never shown again.
    """
    body: dict[str, Any] = {"name": name}
    if events:
        body["events"] = list(events)
    if pause is not None:
        body["pause_seconds"] = pause
    with connect(server, settings) as client:
        job_id = None if job is None else client.find_job(job)["id"]
        made = client.post("/subscriptions", {"target": target, "job_id": job_id, **body})
    if as_json:
        print_json(made)
        return
    click.echo(made["id"])
    _tell_secret(made)


@notify.command("list", epilog=example("hamtune notify list"))
@json_option
@server_option
def list_subscriptions(as_json: bool, server: str | None, settings: Settings) -> None:
    """List who is told of what, newest first."""
    with connect(server, settings) as client:
        found = list(client.pages("/subscriptions", limit=200))
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("id", "target", "name", "job", "events", "owner"):
        table.add_column(column)
    for one in found:
        table.add_row(
            one["id"],
            one["target"],
            one["name"],
            one["job_id"] or "all",
            ", ".join(one["events"]),
            one["owner"],
        )
    table_console().print(table)


@notify.command(epilog=example("hamtune notify remove 0k3v9m2x7q1zt8as"))
@click.argument("subscription_id", metavar="ID")
@json_option
@server_option
def remove(subscription_id: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """End a subscription; what was not sent yet is not sent any more."""
    with connect(server, settings) as client:
        client.delete(_path(subscription_id))
    if as_json:
        print_json({"id": subscription_id, "removed": True})
    else:
        say(f"hamtune: subscription {subscription_id} has ended")


@notify.command(epilog=example("hamtune notify test 0k3v9m2x7q1zt8as"))
@click.argument("subscription_id", metavar="ID")
@json_option
@server_option
def test(subscription_id: str, as_json: bool, server: str | None, settings: Settings) -> int:
    """Send a message now and tell what came of it; ends with 1 where it did not arrive."""
    with connect(server, settings) as client:
        told = client.post(f"{_path(subscription_id)}/test")
    print_json(told) if as_json else click.echo(f"{told['state']}: {told['answer']}")
    return 0 if told["state"] == "sent" else 1


@notify.command(epilog=example("hamtune notify log 0k3v9m2x7q1zt8as"))
@click.argument("subscription_id", metavar="ID")
@click.option(
    "--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="At most."
)
@json_option
@server_option
def log(
    subscription_id: str, limit: int, as_json: bool, server: str | None, settings: Settings
) -> None:
    """Show what was sent and what waits, newest first."""
    with connect(server, settings) as client:
        found = client.get(f"{_path(subscription_id)}/deliveries", limit=limit)["items"]
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("id", "at", "event", "job", "state", "tries", "answer", "again"):
        table.add_column(column)
    for one in found:
        table.add_row(
            one["id"],
            _when(one["created_at"]),
            one["event"],
            one["job_id"] or "",
            one["state"],
            str(one["tries"]),
            one["answer"] or "",
            "" if one["next_at"] is None else _when(one["next_at"]),
        )
    table_console().print(table)


COMMANDS = [notify]


def subscribe_to(client: Client, job: dict[str, Any], target: str) -> None:
    """Subscribe somebody to a job that was just made, which goes on even where that fails."""
    try:
        made = client.post("/subscriptions", {"target": target, "job_id": job["id"]})
    except HamtuneError as error:
        say(f"hamtune: nobody will be told of job {job['id']}: {error}")
        return
    _tell_secret(made)


def _tell_secret(made: dict[str, Any]) -> None:
    if made["secret"] is not None:
        say(f"hamtune: messages are signed with {made['secret']}; it is not shown again")


def _path(subscription_id: str) -> str:
    return f"/subscriptions/{quote(subscription_id, safe='')}"


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

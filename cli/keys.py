"""Keys to the service: made, listed, rotated and revoked, here or at a running service."""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager, closing
from typing import Any

import click
from rich.table import Table

from cli.client import Client, connect, own
from cli.console import table_console
from cli.options import data_option, example, json_option, print_json, say
from searchspace.errors import InvalidInput
from searchspace.units import parse_duration
from service.auth.principal import ROLES, SCOPES
from service.settings import Settings

__all__ = ["COMMANDS", "administered", "administration_option", "seconds_of"]

_DAY = 86400.0


def administration_option(function: Any) -> Any:
    """Where commands of administrators go, and over which data directory."""
    return click.option(
        "--server",
        metavar="URL",
        help="Ask this service, with an administrator's HAMTUNE_API_KEY; by default the database "
        "is changed directly.",
    )(data_option(function))


def seconds_of(
    _context: click.Context, parameter: click.Parameter, text: str | None
) -> float | None:
    """A time on the command line, such as 90d, in seconds.

    Raises:
        click.BadParameter: It is none, is not finite, or is below 0: to delete what is older than
            that would be to delete everything.
    """
    if text is None:
        return None
    try:
        days = text.removesuffix("d")
        seconds = float(days) * _DAY if days != text else parse_duration(text)
    except (InvalidInput, ValueError):
        seconds = math.nan
    if seconds < 0:
        raise click.BadParameter(
            f"'{text}' is below 0; give a time such as 90d or 12h", param=parameter
        )
    if not math.isfinite(seconds):
        raise click.BadParameter(f"'{text}' is no time such as 90d or 12h", param=parameter)
    return seconds


_expires_option = click.option(
    "--expires",
    metavar="TIME",
    callback=seconds_of,
    help="When it ends, such as 90d; never if left out.",
)


@click.group()
def keys() -> None:
    """Make, list, rotate and revoke keys to a service; read its audit log.

    A service started with HAMTUNE_AUTH=keys lets in who sends one. A key belongs to a project,
    whose jobs, applications and machines nobody else sees.
    """


@keys.command(
    epilog=example(
        "hamtune keys create --project climate --role admin head",
        "hamtune keys create --role submitter --scope jobs:write --expires 90d nightly",
    )
)
@click.argument("name")
@click.option("--project", metavar="NAME", help="Whose key it is; made if it is new.")
@click.option(
    "--role", type=click.Choice(tuple(ROLES)), default="submitter", show_default=True,
    help="What it may at most.",
)  # fmt: skip
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES),
    help="Narrow it to this; may be given several times.",
)  # fmt: skip
@_expires_option
@json_option
@administration_option
def create(
    name: str,
    project: str | None,
    role: str,
    scopes: tuple[str, ...],
    expires: float | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Make a key and print it; it is never shown again."""
    document = {"name": name, "role": role, "scopes": list(scopes), "expires_in": expires}
    if project is not None:
        document["project"] = project
    with administered(server, settings) as client:
        _show_new(client.post("/keys", document), as_json)


@keys.command("list", epilog=example("hamtune keys list"))
@json_option
@administration_option
def list_keys(as_json: bool, server: str | None, settings: Settings) -> None:
    """List keys, newest first, also those that have ended."""
    with administered(server, settings) as client:
        found = list(client.pages("/keys", limit=200))
    if as_json:
        print_json(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("id", "project", "name", "role", "scopes", "state", "last used"):
        table.add_column(column)
    for key in found:
        table.add_row(
            key["id"],
            key["project"],
            key["name"],
            key["role"],
            ", ".join(key["scopes"]) or "all",
            _state(key),
            _when(key["used_at"]),
        )
    table_console().print(table)


@keys.command(epilog=example("hamtune keys rotate 0k3v9m2x7q1zt8ak --grace 1h"))
@click.argument("key_id", metavar="ID")
@click.option(
    "--grace", metavar="TIME", callback=seconds_of, help="For how long the old secret is good yet."
)
@_expires_option
@json_option
@administration_option
def rotate(
    key_id: str,
    grace: float | None,
    expires: float | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Give a key another secret and print it."""
    document = {"grace": grace or 0.0, "expires_in": expires}
    with administered(server, settings) as client:
        _show_new(client.post(f"/keys/{key_id}/rotate", document), as_json)


@keys.command(epilog=example("hamtune keys revoke 0k3v9m2x7q1zt8ak"))
@click.argument("key_id", metavar="ID")
@json_option
@administration_option
def revoke(key_id: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """End a key for good."""
    with administered(server, settings) as client:
        key = client.delete(f"/keys/{key_id}")
    print_json(key) if as_json else say(f"hamtune: key {key['id']} ({key['name']}) is revoked")


@keys.command(epilog=example("hamtune keys audit --limit 20"))
@click.option(
    "--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="At most."
)
@json_option
@administration_option
def audit(limit: int, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show what was changed with keys, and what was refused to them, newest first."""
    with administered(server, settings) as client:
        entries = client.get("/audit", limit=limit)["items"]
    if as_json:
        print_json(entries)
        return
    for entry in entries:
        click.echo(
            f"{_when(entry['at'])} {entry['actor']} {entry['address']} {entry['action']} "
            f"{entry['target']} {entry['status']}"
        )


COMMANDS = [keys]


def administered(server: str | None, settings: Settings) -> AbstractContextManager[Client]:
    """The service named, or the database itself, whose owner needs no key."""
    return closing(own(settings)) if server is None else connect(server, settings)


def _show_new(key: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(key)
        return
    say(f"hamtune: key {key['id']} of project {key['project']}; keep it, it is not shown again")
    click.echo(key["key"])


def _state(key: dict[str, Any]) -> str:
    if key["revoked_at"] is not None:
        return "revoked"
    if key["expires_at"] is None:
        return "valid"
    return "expired" if key["expires_at"] <= time.time() else f"until {_when(key['expires_at'])}"


def _when(seconds: float | None) -> str:
    return "never" if seconds is None else time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime(seconds))

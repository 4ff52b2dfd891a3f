"""Options that many commands share, and the way they print."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from service.settings import Settings

__all__ = [
    "data_option",
    "example",
    "json_option",
    "log_to_stderr",
    "method_options",
    "print_json",
    "say",
    "seed_option",
    "server_option",
]

seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random choices."
)

F = TypeVar("F", bound=Callable[..., Any])


def _settings(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Settings:
    return Settings.from_environment(data=value)


def data_option(function: F) -> F:
    """`--data`: the data directory, handed over as `settings`."""
    return click.option(
        "--data",
        "settings",
        metavar="DIR",
        type=click.Path(file_okay=False, path_type=Path),
        callback=_settings,
        help="Data directory (HAMTUNE_DATA; ~/.local/share/hamtune if neither is given).",
    )(function)


def server_option(function: F) -> F:
    """`--server` and `--data`: whom to ask."""
    return click.option(
        "--server",
        metavar="URL",
        envvar="HAMTUNE_SERVER",
        help="The service to ask (HAMTUNE_SERVER); by default the one that runs over the data "
        "directory, or the data directory itself.",
    )(data_option(function))


def json_option(function: F) -> F:
    """`--json`: one JSON document on stdout."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
    )(function)


def log_to_stderr(level: int = logging.WARNING) -> None:
    """Let the service's log appear on stderr, from this level on; all with `HAMTUNE_DEBUG`."""
    logging.basicConfig(
        level=logging.DEBUG if os.environ.get("HAMTUNE_DEBUG") else level,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    for library in ("httpx", "httpcore", "celery", "kombu", "asyncio"):
        logging.getLogger(library).setLevel(max(level, logging.WARNING))


def example(*lines: str) -> str:
    """An epilog that shows how the command is used."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def print_json(document: Any) -> None:
    """Print a document on stdout; floats keep all their digits, NaN never appears."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def say(message: str) -> None:
    """Tell the user something that is not the result: on stderr."""
    click.echo(message, err=True)


def method_options(function: F) -> F:
    """`-O NAME=VALUE`, any number of times: a method's options, handed over as a dict `options`."""

    def read(
        _context: click.Context, parameter: click.Parameter, pairs: tuple[str, ...]
    ) -> dict[str, str]:
        chosen = {}
        for pair in pairs:
            name, equals, value = pair.partition("=")
            if not equals:
                raise click.BadParameter(f"write NAME=VALUE, not '{pair}'", param=parameter)
            chosen[name] = value
        return chosen

    return click.option(
        "-O",
        "--option",
        "options",
        metavar="NAME=VALUE",
        multiple=True,
        callback=read,
        help="An option of the method; may be given several times.",
    )(function)

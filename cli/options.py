"""Options that many commands share, and the way they print."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from cli.harmless import harmless
from searchspace.collectives.equivalents import TARGETS
from service.settings import Settings

__all__ = [
    "command_argument",
    "data_option",
    "example",
    "finite",
    "json_option",
    "method_options",
    "print_json",
    "say",
    "seed_option",
    "server_option",
    "source_options",
    "target_option",
]

seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),  # more than this the kernels in C++ do not take
    default=0,
    show_default=True,
    help="Seed of random choices.",
)

F = TypeVar("F", bound=Callable[..., Any])


def _settings(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Settings:
    return Settings.from_environment(data=value)


def command_argument(form: str, **settings: Any) -> Callable[[F], F]:
    """COMMAND, which comes last: a program and its arguments, whose options are not ours.

    The click command needs `ignore_unknown_options`, and an option that it does not have, in the
    place of the program, is wrong use.

    Args:
        form: How the command is written, for that error.
        settings: Further ones of `click.argument`.
    """

    def read(
        _context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]
    ) -> tuple[str, ...]:
        if words and words[0].startswith("-"):
            name = words[0].partition("=")[0]
            raise click.UsageError(f"No such option '{name}'; the program comes after --: {form}")
        return words

    return click.argument("command", nargs=-1, type=click.UNPROCESSED, callback=read, **settings)


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


def source_options(function: F) -> F:
    """`--source` and what belongs to it, handed over as `source`: a job file's `application`."""

    @functools.wraps(function)
    def wrapped(**values: Any) -> Any:
        named = {name: values.pop(name) for name in _SOURCE}
        given = {name: value for name, value in named.items() if value is not None}
        if given and not {"source", "build", "run", "ranks"} <= given.keys():
            raise click.UsageError("--source, --build, --run and --ranks go together")
        return function(source=given or None, **values)

    for option in reversed(_SOURCE.values()):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


_SOURCE = {
    "source": click.option(
        "--source",
        metavar="DIR",
        help="Source tree of a program of your own: a directory, or a tar, tar.gz or zip archive.",
    ),
    "build": click.option("--build", metavar="CMD", help="Shell command that builds it there."),
    "run": click.option("--run", metavar="CMD", help="The program that is built, and arguments."),
    "ranks": click.option("--ranks", type=click.IntRange(1), help="Ranks of the run."),
    "captures": click.option(
        "--captures", type=click.IntRange(1), help="Runs, whose median counts; 3 by default."
    ),
    "computation": click.option(
        "--computation",
        type=click.Choice(("measured", "declared")),
        help="Whether CPU time is measured, as by default, or the program declares its flops.",
    ),
    "host_speed_of_capture": click.option(
        "--host-speed-of-capture",
        metavar="F",
        help="Speed of the machine that captures, which turns seconds into flops (2Gf); measured "
        "if left out.",
    ),
}


def target_option(function: F) -> F:
    """`--target`: the MPI library that has to run what is found, handed over as `target`."""
    return click.option(
        "--target",
        type=click.Choice(tuple(TARGETS)),
        help="Search only what this MPI library can run; all collectives, unless the job file "
        "names some.",
    )(function)


def json_option(function: F) -> F:
    """`--json`: one JSON document on stdout."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
    )(function)


def example(*lines: str) -> str:
    """An epilog that shows how the command is used."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


def finite(
    _context: click.Context, _parameter: click.Parameter, value: float | None
) -> float | None:
    """The callback of an option with a range: these let NaN pass, and infinity where open."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"must be a finite number, not {value}")
    return value


def print_json(document: Any) -> None:
    """Print a document on stdout; floats keep all their digits, NaN never appears."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def say(message: str) -> None:
    """Tell the user something that is not the result: on stderr.

    It may quote a program that was run, so nothing of it commands the terminal.
    """
    click.echo(harmless(message), err=True)


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

"""What the commands that write traces share: their options and what they tell of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cli.options import print_json
from searchspace.errors import InvalidInput
from searchspace.formats.trace import describe_trace
from searchspace.units import format_size, machine_speed
from service.applications.notes import notes_on

__all__ = ["flops_of", "one_line", "output_option", "report"]

output_option = click.option(
    "-o",
    "--output",
    metavar="T.ht",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The trace to write.",
)


def flops_of(host_speed: str | None) -> float | None:
    """The value of --host-speed in flop/s."""
    try:
        return None if host_speed is None else machine_speed(host_speed)
    except InvalidInput as error:
        raise InvalidInput(f"--host-speed: {error}") from error


def report(output: Path, as_json: bool) -> None:
    """Tell of a trace that was written."""
    summary = describe_trace(output)
    if as_json:
        print_json({"output": str(output), **summary})
        return
    click.echo(f"{output}: {one_line(summary)}")
    for line in notes_on(summary):
        click.echo(f"  {line}")


def one_line(summary: Mapping[str, Any]) -> str:
    """A trace in a line."""
    calls = sum(summary["calls"].values())
    return (
        f"{summary['program']} on {summary['ranks']} ranks: {calls} calls, "
        f"{format_size(summary['bytes'])} in messages, {summary['pairs']} pairs, "
        f"{summary['flops']:.4g} flops"
    )

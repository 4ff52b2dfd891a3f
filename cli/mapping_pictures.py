"""`--picture` of commands that map ranks: heat maps before and after, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.output_files import check_writable

if TYPE_CHECKING:
    from searchspace.hop_machine import HopMachine
    from searchspace.mapping import Places
    from searchspace.traffic import Traffic

__all__ = ["check_picture", "draw_mappings", "picture_option"]

picture_option = click.option(
    "--picture",
    metavar="F",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw what the places exchange before and after mapping (.svg or .png).",
)


def check_picture(picture: Path | None) -> None:
    """Refuses a file that no picture can be written to, before any work is done.

    Raises:
        UsageError: It is neither SVG nor PNG.
        InvalidInput: It cannot be written.
    """
    if picture is None:
        return
    if picture.suffix not in (".svg", ".png"):
        raise click.UsageError(f"--picture {picture}: pictures are .svg or .png files")
    check_writable(picture, "--picture")


def draw_mappings(
    picture: Path, traffic: Traffic, machine: HopMachine, *mappings: tuple[str, Places]
) -> None:
    """Draws what every two places exchange under each mapping, with its title."""
    from cli.figures import render
    from cli.mapping_figures import heat_map

    unit = "host" if machine.plain else "core"
    figure = heat_map(traffic, mappings, machine.places, unit=unit)
    picture.write_bytes(render(figure, "svg" if picture.suffix == ".svg" else "png"))

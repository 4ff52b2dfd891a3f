"""`hamtune front`: what no other trial of a job beats in both time and price."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cli.client import connect
from cli.options import example, json_option, print_json, say, server_option
from searchspace.errors import InvalidInput
from searchspace.terms import WEIGHED
from searchspace.units import format_duration, parse_duration
from service.settings import Settings

__all__ = ["COMMANDS"]

_UNITS = {"cost": "cost", "power": "W", "energy": "J"}


@click.command(
    epilog=example(
        "hamtune front cg-64",
        "hamtune front cg-64 --by power --picture front.svg",
        "hamtune front cg-64 --reference 200us,90000 --json",
        "hamtune export cg-64 --trial 17 --format cabling -o trial-17/",
    )
)
@click.argument("job", metavar="J")
@click.option(
    "--by",
    type=click.Choice(WEIGHED),
    help="What time is weighed against: as the job does, else cost.",
)
@click.option(
    "--reference",
    metavar="TIME,PRICE",
    help="Up to where the hypervolume is counted, to compare jobs; by default the slowest and the "
    "dearest trial.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A .svg or .png file to draw the front in.",
)
@json_option
@server_option
def front(
    job: str,
    by: str | None,
    reference: str | None,
    picture: Path | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Show the front of a job: what no other completed trial beats in both time and price.

    The price of a network is that of its switches, cables and adapters by machine.parts of the job,
    or round figures; energy is what hosts and network draw during the run. 'hamtune export J
    --trial N' writes any of these configurations.
    """
    if picture is not None and picture.suffix.lower() not in (".svg", ".png"):
        raise click.UsageError(f"--picture {picture}: pictures are .svg or .png files")
    wanted = {} if reference is None else _reference(reference)
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        answer = client.get(f"/jobs/{found['id']}/front", by=by, **wanted)
    if picture is not None:
        _draw(answer, found["name"], picture)
    if as_json:
        print_json(answer)
        return
    for line in front_table(answer):
        click.echo(line)
    if picture is not None:
        say(f"hamtune: {picture}")


def _reference(text: str) -> dict[str, float]:
    time, comma, price = text.partition(",")
    try:
        wanted = {"reference_seconds": parse_duration(time), "reference_price": float(price)}
    except (InvalidInput, ValueError):
        wanted = {}
    if not comma or not wanted or not all(value > 0 for value in wanted.values()):
        raise InvalidInput(f"--reference must be a time and a price like 200us,90000, not '{text}'")
    return wanted


def front_table(answer: Mapping[str, Any]) -> list[str]:
    """The front for people, the cheapest network first."""
    lines = []
    if answer["points"]:
        lines.append(
            f"{'trial':>6} {'time':>10} {'cost':>12} {'watts':>8} {'joules':>9} {'switches':>8}"
            f" {'cables':>7} {'diameter':>8}  network"
        )
    for one in answer["points"]:
        lines.append(
            f"{one['trial']:6} {format_duration(one['value']):>10} {one['cost']:12,.0f} "
            f"{one['power']:8,.0f} {one['energy']:9.4g} {one['switches']:8} {one['cables']:7} "
            f"{one['diameter']:8}  {one['network']}"
        )
    for one in answer["baselines"]:
        lines.append(
            f"baseline {one['label']}: {format_duration(one['value'])}, {one['cost']:,.0f}, "
            f"{one['power']:,.0f} W, {one['energy']:.4g} J"
        )
    if answer["hypervolume"] is not None:
        corner, weighed = answer["reference"], _UNITS[answer["by"]]
        share = (
            "" if answer["share"] is None else f", {answer['share']:.1%} of what one point could"
        )
        lines.append(
            f"hypervolume {answer['hypervolume']:.6g} s x {weighed} up to "
            f"{format_duration(corner['seconds'])} and {_price(corner['price'])}{share}; "
            f"{len(answer['points'])} of {len(answer['points']) + len(answer['others'])} networks "
            f"are on the front"
        )
    if answer["note"] is not None:
        lines.append(answer["note"])
    return lines


def _price(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _draw(answer: Mapping[str, Any], name: str, path: Path) -> None:
    # Matplotlib takes half a second to load, which no other command should pay for.
    from cli.figures import render
    from cli.front_figures import front_figure

    if not answer["points"]:
        raise InvalidInput(answer["note"] or "there is no front to draw")
    figure = front_figure(answer, name)
    path.write_bytes(render(figure, "svg" if path.suffix.lower() == ".svg" else "png"))


COMMANDS = [front]

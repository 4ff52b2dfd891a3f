"""`hamtune plot`: figures of the convergence of jobs, and of mappings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import click

from cli.client import Client, connect
from cli.curves import AXES, POINTS, Curve
from cli.options import example, json_option, print_json, server_option
from searchspace.errors import HamtuneError
from service.settings import Settings

__all__ = ["COMMANDS"]


Kind = Literal["convergence", "proximity"]
FileType = Literal["png", "svg"]
KINDS: tuple[Kind, ...] = ("convergence", "proximity")
FILE_TYPES: tuple[FileType, ...] = ("png", "svg")


@click.command(
    epilog=example(
        "hamtune plot cg-64 --output figures/            all figures, PNG and SVG",
        "hamtune plot cg-64 mg-64 -o proximity.svg --kind proximity",
        "hamtune plot cg-64 -o cost.png --by cpu",
        "hamtune plot cg-64 -o mapping.svg --kind mapping",
    )
)
@click.argument("jobs", metavar="J...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path(),
    help="A .png or .svg file, or a directory for all figures in both formats (default: here).",
)
@click.option(
    "--kind",
    type=click.Choice((*KINDS, "mapping")),
    help="Which figure; convergence by default. mapping: what hosts exchange with ranks in order, "
    "and in the best configuration of one job.",
)
@click.option(
    "--by",
    type=click.Choice(tuple(AXES)),
    default="trial",
    show_default=True,
    help="What convergence is drawn over: trials, wall seconds, or CPU seconds spent.",
)
@json_option
@server_option
def plot(
    jobs: tuple[str, ...],
    output: Path,
    kind: Kind | Literal["mapping"] | None,
    by: str,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Draw the convergence of jobs, with their baselines, and their proximity to the best C(n).

    Or, with --kind mapping, what hosts exchange before and after mapping.
    """
    suffix = output.suffix.lower().lstrip(".")
    single = next((file_type for file_type in FILE_TYPES if file_type == suffix), None)
    if single is None and suffix and not output.is_dir():
        raise click.UsageError(f"--output {output}: figures are .png or .svg files, or a directory")
    if kind == "mapping":
        if len(jobs) > 1:
            raise click.UsageError("--kind mapping draws one job")
        with connect(server, settings) as client:
            placed = _placement(client, jobs[0])
        paths = [output] if single else [output / f"mapping.{each}" for each in FILE_TYPES]
        _say_written([_draw_mapping(placed, path) for path in paths], as_json)
        return
    with connect(server, settings) as client:
        curves = [_curve(client, job, by) for job in jobs]
    if single is not None:
        written = [_draw(curves, kind or "convergence", output, single)]
    else:
        kinds = (kind,) if kind else KINDS
        written = [
            _draw(curves, each, output / f"{each}.{file_type}", file_type)
            for each in kinds
            for file_type in FILE_TYPES
        ]
    _say_written(written, as_json)


def _say_written(written: list[Path], as_json: bool) -> None:
    if as_json:
        print_json({"files": [str(path) for path in written]})
    else:
        for path in written:
            click.echo(path)


COMMANDS = [plot]


def _curve(client: Client, reference: str, by: str) -> Curve:
    job = client.find_job(reference)
    convergence = client.get(f"/jobs/{job['id']}/convergence", points=POINTS)
    if convergence["best"] is None:
        raise HamtuneError(f"job {job['name']!r} has no completed trial yet, so nothing to draw")
    return Curve.of(job["name"], convergence, by)


def _placement(client: Client, reference: str) -> dict[str, Any]:
    """The best trial of a job on its network."""
    job = client.find_job(reference)
    best = client.get(f"/jobs/{job['id']}/best")
    return dict(client.get(f"/jobs/{job['id']}/trials/{best['trial']}/placement"))


def _draw_mapping(placed: Mapping[str, Any], path: Path) -> Path:
    """Draws what hosts exchange before and after mapping."""
    import numpy as np

    from cli.figures import render
    from cli.mapping_figures import heat_maps

    after = placed["traffic"]
    grids = [np.asarray(table["bytes"], dtype=float) for table in (placed["before"], after)]
    titles = ("ranks in order", f"trial {placed['trial']}")
    figure = heat_maps(titles, grids, after["size"] * after["block"], unit="host")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render(figure, "svg" if path.suffix.lower() == ".svg" else "png"))
    return path


def _draw(curves: list[Curve], kind: Kind, path: Path, file_type: FileType) -> Path:
    # Matplotlib takes half a second to load, which no other command should pay for.
    from cli.figures import convergence_figure, proximity_figure, render

    figure = convergence_figure(curves) if kind == "convergence" else proximity_figure(curves)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render(figure, file_type))
    return path

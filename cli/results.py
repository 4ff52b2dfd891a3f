"""What came out of a job: the best configuration, what mattered, figures, exports."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import click

from cli.client import Client, connect
from cli.curves import AXES, POINTS, Curve
from cli.input_path import InputPath
from cli.options import example, json_option, print_json, server_option
from cli.terminal import by_both_models, decided, describe, gained
from searchspace.collectives.equivalents import TARGETS
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.units import format_duration
from service.exports.formats import ALL, FORMATS
from service.settings import Settings

__all__ = ["COMMANDS", "unpack"]

Kind = Literal["convergence", "proximity"]
FileType = Literal["png", "svg"]
KINDS: tuple[Kind, ...] = ("convergence", "proximity")
FILE_TYPES: tuple[FileType, ...] = ("png", "svg")


@click.command(epilog=example("hamtune best cg-64 --json"))
@click.argument("job", metavar="J")
@json_option
@server_option
def best(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show the best configuration of a job and what it gains over the best baseline."""
    with connect(server, settings) as client:
        found = client.find_job(job)
        answer = client.get(f"/jobs/{found['id']}/best")
    if as_json:
        print_json(answer)
        return
    time = f"{format_duration(answer['value'])} simulated ({answer['model']})"
    click.echo(f"{time}, trial {answer['trial']} of {found['name']}")
    click.echo(gained(answer))
    for line in decided(answer):
        click.echo(line)
    for name, finished in (answer["finish_times"] or {}).items():
        click.echo(f"  {name} finishes at {format_duration(finished)}")
    click.echo(describe(answer["configuration"]))
    for line in by_both_models(answer):
        click.echo(line)


@click.command(epilog=example("hamtune importance cg-64"))
@click.argument("job", metavar="J")
@json_option
@server_option
def importance(job: str, as_json: bool, server: str | None, settings: Settings) -> None:
    """Show how much each parameter decided the simulated time, by the trials of a job.

    A random forest learns the time from the parameters; one matters as much as the forest errs more
    when its values are shuffled among the trials.
    """
    with connect(server, settings) as client:
        found = client.find_job(job)
        answer = client.get(f"/jobs/{found['id']}/importance")
    if as_json:
        print_json(answer)
        return
    wide = max((len(one["name"]) for one in answer["parameters"]), default=0)
    for one in answer["parameters"]:
        share, deviation = round(100 * one["importance"]), round(100 * one["deviation"])
        click.echo(f"{one['name']:{wide}} {share:4}% +- {deviation}%")
    if answer["note"]:
        click.echo(answer["note"])
    if answer["parameters"]:
        sampled = f" of {answer['available']}" if answer["trials"] < answer["available"] else ""
        click.echo(
            f"{answer['method']}, {answer['trials']}{sampled} completed trials of the search "
            f"space; R^2 on trials left out: {answer['score']:.2f}"
        )


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


@click.command(
    epilog=example(
        "hamtune export cg-64 --format simgrid --output cg-64/",
        "hamtune export cg-64 --target openmpi-4.1 --hosts hosts.txt --output cg-64/",
        "hamtune export cg-64 --format all --hosts hosts.txt --output cg-64/",
        "hamtune export cg-64 --trial 17 --format simgrid --output trial-17/",
    )
)
@click.argument("job", metavar="J")
@click.option(
    "--format",
    "format_name",
    type=click.Choice((*FORMATS, ALL)),
    help="; ".join(f"{name}: {meaning}" for name, meaning in FORMATS.items())
    + f"; {ALL}: all that suit the job, each in a directory. With --target, by default its own.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Directory for the files; made if there is none.",
)
@click.option(
    "--trial",
    type=click.IntRange(min=1),
    help="The number of a completed trial to export instead of the best.",
)
@click.option(
    "--hosts",
    type=InputPath(read_once=True),
    help="File with the names of the machine's hosts in its order: one a line, or n[01-64].",
)
@click.option(
    "--target",
    type=click.Choice(tuple(TARGETS)),
    help="The MPI library that has to express every collective choice of the configuration.",
)
@click.option(
    "--nearest",
    is_flag=True,
    help="Where the target cannot express the configuration, export the nearest that it can.",
)
@click.option(
    "--fabric",
    type=InputPath(read_once=True),
    help="Output of ibnetdiscover, from which the machine was imported: it knows the GUIDs.",
)
@json_option
@server_option
def export(
    job: str,
    format_name: str | None,
    output: Path,
    trial: int | None,
    hosts: Path | None,
    target: str | None,
    nearest: bool,
    fabric: Path | None,
    as_json: bool,
    server: str | None,
    settings: Settings,
) -> None:
    """Write the best configuration of a job, or that of a trial, as files to install or rerun."""
    if format_name is None and target is None:
        raise click.UsageError("give --format, or a --target")
    if nearest and target is None:
        raise click.UsageError("--nearest goes with --target")
    format_name = format_name or TARGETS[str(target)].format
    wishes = {
        "trial": trial,
        "hosts": None if hosts is None else _text("--hosts", hosts),
        "fabric": None if fabric is None else _text("--fabric", fabric),
        "target": target,
        "nearest": nearest,
    }
    with connect(server, settings) as client:
        found = client.find_job(job)
        content = client.fetch(f"/jobs/{found['id']}/exports/{format_name}", wishes)
    written = unpack(content, output)
    if as_json:
        print_json({"format": format_name, "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(path)


COMMANDS = [best, importance, plot, export]


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


def _text(option: str, path: Path) -> str:
    try:
        return path.read_text()
    except UnicodeDecodeError:
        raise InvalidInput(f"{option}: {path} is not a text file") from None


def unpack(content: bytes, output: Path) -> list[Path]:
    """Write the files of an export archive; names that lead out of `output` are refused."""
    written = []
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        for entry in packed.infolist():
            name = PurePosixPath(entry.filename)
            if name.is_absolute() or ".." in name.parts:
                raise HamtuneError(f"the export holds a file outside its folder: {name}")
            path = output.joinpath(*name.parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(packed.read(entry))
            path.chmod(0o755 if entry.external_attr >> 16 & 0o111 else 0o644)
            written.append(path)
    return written

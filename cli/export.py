"""`hamtune export`: the best configuration of a job as files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import click

from cli.client import connect
from cli.host_lists import HostList
from cli.input_path import InputPath
from cli.job_names import job_argument
from cli.options import example, json_option, print_json, say, server_option
from cli.output_files import differs, say_replaced
from searchspace.collectives.equivalents import TARGETS
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.units import format_duration
from service.exports.formats import ALL, FORMATS
from service.settings import Settings

__all__ = ["COMMANDS", "unpack"]


@click.command(
    epilog=example(
        "hamtune export cg-64 --format simgrid --output cg-64/",
        "hamtune export cg-64 --target openmpi-4.1 --hosts 'n[01-16]' --output cg-64/",
        "hamtune export cg-64 --format all --hosts hosts.txt --output cg-64/",
        "hamtune export cg-64 --trial 17 --format simgrid --output trial-17/",
    )
)
@job_argument()
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
    metavar="FILE|LIST",
    type=HostList(),
    help="The names of the machine's hosts in its order: a file with one a line or n[01-64], or "
    "such a list itself.",
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
    help="Output of ibnetdiscover, from which the machine was imported: it knows GUIDs, names "
    "of switches, and ports.",
)
@json_option
@server_option
def export(
    job: str,
    format_name: str | None,
    output: Path,
    trial: int | None,
    hosts: str | None,
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
    options = {
        "trial": trial,
        "hosts": hosts,
        "fabric": None if fabric is None else _text("--fabric", fabric),
        "target": target,
        "nearest": nearest,
    }
    with connect(server, settings, existing=True) as client:
        found = client.find_job(job)
        content = client.fetch(f"/jobs/{found['id']}/exports/{format_name}", options)
    written = unpack(content, output)
    for path in written:
        if path.name == "export.json":
            _say_what_differs(json.loads(path.read_text()))
    if as_json:
        print_json({"format": format_name, "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(path)


def _say_what_differs(manifest: Mapping[str, Any]) -> None:
    """Warn where a library is not going to run what was simulated."""
    name, differing = manifest["target"], manifest.get("unlike") or []
    if not differing:
        return
    title, simulated = TARGETS[name].title, manifest["simulated"]
    for line in differing:
        say(f"hamtune: warning: {title} does not run what was simulated: {line}")
    took = ""
    if simulated.get("really") is not None and simulated["exported"] is not None:
        took = (
            f"what is exported takes {format_duration(simulated['really'])} simulated, "
            f"not {format_duration(simulated['exported'])}; "
        )
    say(
        f"hamtune: warning: {took}'--target {name} --nearest' exports the nearest that {title} "
        "can run, and 'target' in the job's search has only such searched"
    )


COMMANDS = [export]


def _text(option: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{option}: {path} is not a text file") from None


def unpack(content: bytes, output: Path) -> list[Path]:
    """Write the files of an export archive; names that lead out of `output` are refused.

    Which other files are replaced by that is told on stderr.
    """
    written, replaced = [], []
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        for entry in packed.infolist():
            name = PurePosixPath(entry.filename)
            if name.is_absolute() or ".." in name.parts:
                raise HamtuneError(f"the export holds a file outside its folder: {name}")
            path = output.joinpath(*name.parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            unpacked = packed.read(entry)
            if differs(path, unpacked):
                replaced.append(path)
            path.write_bytes(unpacked)
            path.chmod(0o755 if entry.external_attr >> 16 & 0o111 else 0o644)
            written.append(path)
    say_replaced(replaced)
    return written

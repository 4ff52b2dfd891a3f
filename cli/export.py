"""`hamtune export`: the best configuration of a job as files."""

from __future__ import annotations

import io
import itertools
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
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
from searchspace.units import format_duration, format_size
from service.exports.formats import ALL, FORMATS
from service.settings import Settings

__all__ = ["COMMANDS", "unpack"]

_MOST_BYTES = 1 << 30
_MOST_DEPTH = 16


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

    Raises:
        HamtuneError: It is no archive, or none that our service writes.
    """
    written, replaced = [], []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            entries = packed.infolist()
            _check(entries)
            for entry in entries:
                path = output.joinpath(*PurePosixPath(entry.filename).parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(entry) as file:
                    unpacked = file.read(entry.file_size)  # without a size: whatever it inflates to
                if differs(path, unpacked):
                    replaced.append(path)
                path.write_bytes(unpacked)
                path.chmod(0o755 if entry.external_attr >> 16 & 0o111 else 0o644)
                written.append(path)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise HamtuneError(f"the export cannot be read: {error}") from error
    say_replaced(replaced)
    return written


def _check(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse what a hostile service may put into an export, before anything of it is written."""
    names = [PurePosixPath(entry.filename) for entry in entries]
    above = {parent for name in names for parent in itertools.islice(name.parents, _MOST_DEPTH)}
    for name, entry in zip(names, entries, strict=True):
        if name.is_absolute() or ".." in name.parts:
            raise HamtuneError(f"the export holds a file outside its folder: {entry.filename!a}")
        plain = entry.filename.isprintable() and not entry.is_dir() and name not in above
        if not plain or not 0 < len(name.parts) <= _MOST_DEPTH:
            raise HamtuneError(f"the export holds a name of no file: {entry.filename[:80]!a}")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise HamtuneError(f"the export compresses {name} in a way that is not read")
    if sum(entry.file_size for entry in entries) > _MOST_BYTES:
        raise HamtuneError(f"the files of the export exceed {format_size(_MOST_BYTES)}")

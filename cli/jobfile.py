"""Reading job files, and bringing the traces they name to the service."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.client import Client
from cli.input_path import InputPath
from cli.options import say
from searchspace.errors import InvalidDocument, InvalidInput
from searchspace.formats.plain_file import check_file

if TYPE_CHECKING:
    from searchspace.job import JobSpec

__all__ = ["JOB_FILE", "create_job", "job_of_source", "parse_job", "read_job"]

SMALLEST_MACHINE = 16
DEFAULT_TRIALS = 100

JOB_FILE = InputPath(read_once=True, allow_dash=True)


def read_job(path: Path, *, target: str | None = None) -> JobSpec:
    """Read a job file in YAML or JSON; `-` reads stdin.

    The network of a machine may be in a file of its own, which is named relative to the job file.
    What is valid in the machine and probably not meant is told on stderr.

    Args:
        path: The file.
        target: Takes the place of the target of its search, if given.

    Raises:
        InvalidInput: It is not a valid job; the message names file and field.
    """
    try:
        # Whatever the locale: a job file is UTF-8, and an editor may have put a mark before it.
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: not a text file") from None
    folder = Path() if str(path) == "-" else path.parent
    try:
        spec = parse_job(text, folder, target=target, name=path.name)
    except InvalidDocument as error:
        raise InvalidDocument([InvalidInput(f"{path}: {one}") for one in error.errors]) from error
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
    from searchspace.cautions import cautions
    from searchspace.machine import Machine

    if isinstance(spec.machine, Machine):
        for caution in cautions(spec.machine):
            say(f"hamtune: {path}: warning: {caution}")
    return spec


def parse_job(text: str, folder: Path, *, target: str | None = None, name: str = "FILE") -> JobSpec:
    """Read the text of a job file.

    Args:
        text: YAML or JSON.
        folder: Where the files are that it names.
        target: See `read_job`.
        name: Of the file, for what is wrong with it.

    Raises:
        InvalidInput: It is not a valid job.
    """
    # The domain takes longer to load than most commands to run.
    from cli.application_files import with_files
    from cli.machine_files import read_description
    from searchspace.job import load_new_job

    document = read_description(text, name, of="job")
    if isinstance(document, dict):
        if target is not None:
            search = document.get("search")
            document["search"] = (
                {**search, "target": target} if isinstance(search, dict) else search
            )
        if "machine" in document:
            document["machine"] = _machine(document["machine"], folder)
        # Several applications may stand in the job file itself.
        document = with_files(document, folder)
        if "application" in document:
            document["application"] = with_files(document["application"], folder)
    return load_new_job(document)


def _machine(machine: Any, folder: Path) -> Any:
    """The machine with what its files tell."""
    from cli.machine_files import with_network
    from searchspace.job import NEW_NETWORK

    try:
        return with_network(machine, folder, model=NEW_NETWORK)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"machine.{error.field}") from None


def create_job(
    client: Client, spec: JobSpec, folder: Path, file: Path | None = None
) -> dict[str, Any]:
    """Create the job of a file.

    A trace or source tree that it names, relative to the folder of its file, is uploaded first: the
    service knows them by their content only.

    Args:
        client: Of the service.
        spec: The job.
        folder: To which its paths are relative.
        file: Named in what is wrong with the job.

    Raises:
        InvalidInput: The trace, the source tree or the job cannot be used.
    """
    document = spec.canonical()
    several = document["application"].get("applications")
    for place in [document] if several is None else several:
        place["application"] = _uploaded(client, place["application"], folder)
    try:
        return client.create_job(document)
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}" if file else str(error)) from error


def _uploaded(client: Client, named: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same by its id, where it names a trace or a source tree."""
    if "trace" in named:
        return {"id": _upload_trace(client, folder / named["trace"])["id"]}
    if "source" in named:
        return {"id": _upload_source(client, named, folder)["id"]}
    if "extrapolate" in named:
        smaller = named["extrapolate"]
        captures = [_uploaded(client, capture, folder) for capture in smaller["captures"]]
        return {**named, "extrapolate": {**smaller, "captures": captures}}
    return named


def _upload_trace(client: Client, trace: Path) -> dict[str, Any]:
    check_file(trace, field="application.trace")
    try:
        return client.upload_trace(trace)
    except InvalidInput as error:
        raise InvalidInput(f"{trace}: {error}") from error


def _upload_source(client: Client, named: dict[str, Any], folder: Path) -> dict[str, Any]:
    from searchspace.formats.source_archive import pack

    fields = {name: value for name, value in named.items() if name != "source"}
    with tempfile.TemporaryDirectory(prefix="hamtune-source-") as directory:
        packed = Path(directory) / "source.tar.gz"
        try:
            pack(folder / named["source"], packed)
        except InvalidInput as error:
            raise InvalidInput(error.message, field="application.source") from error
        return client.upload_source(packed, fields)


def job_of_source(
    application: dict[str, Any], base: JobSpec | None, *, trials: int | None
) -> JobSpec:
    """A job over a program of one's own.

    Args:
        application: What a job file has under `application`.
        base: A job whose program this one replaces. Without one, the machine is that of Hu et al.
            2023, section IV: 100 Gf hosts, 40 Gbps cables, switches of 60 ns, degree 4; the search
            is over networks, orderings and MPI implementations.
        trials: The budget, where that of the base is not wanted.

    Raises:
        InvalidInput: The job cannot be run.
    """
    from searchspace.job import load_new_job

    if base is not None:
        document = base.canonical()
    else:
        ranks = int(application["ranks"])
        document = {
            "name": Path((application["run"].split() or [""])[0]).name or "program",
            "machine": {
                "nodes": max(SMALLEST_MACHINE, ranks),
                "degree": 4,
                "host_speed": "100Gf",
                "link_bandwidth": "40Gbps",
                "switch_latency": "60ns",
            },
            "search": {
                "topology": ["random", "torus-2d", "mesh-2d"],
                "ordering": ["original", "hamorder"],
                "mpi": ["default", "mpich", "ompi"],
            },
            "budget": {"trials": trials or DEFAULT_TRIALS},
        }
    if trials is not None:
        document["budget"] = {**document["budget"], "trials": trials}
    return load_new_job({**document, "application": application})

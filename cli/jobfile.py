"""Reading job files, and bringing the traces they name to the service."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.client import Client
from searchspace.errors import InvalidInput

if TYPE_CHECKING:
    from searchspace.job import JobSpec

__all__ = ["JOB_FILE", "create_job", "read_job"]

JOB_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


def read_job(path: Path) -> JobSpec:
    """Read a job file in YAML or JSON; `-` reads stdin.

    The network of a machine may be in a file of its own, which is named relative to the job file.

    Raises:
        InvalidInput: It is not a valid job; the message names file and field.
    """
    # The domain takes longer to load than most commands to run.
    from cli.machine_files import with_network
    from searchspace.documents import read_document
    from searchspace.job import load_job

    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: not a text file") from None
    try:
        document = read_document(text)
        if isinstance(document, dict) and "machine" in document:
            folder = Path() if str(path) == "-" else path.parent
            document["machine"] = _in_machine(with_network, document["machine"], folder)
        return load_job(document)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def _in_machine(function: Callable[[Any, Path], Any], machine: Any, folder: Path) -> Any:
    try:
        return function(machine, folder)
    except InvalidInput as error:
        raise InvalidInput(error.message, field=f"machine.{error.field}") from None


def create_job(client: Client, spec: JobSpec, folder: Path) -> dict[str, Any]:
    """Create a job.

    A trace that it names, relative to the folder of its file, is uploaded first: the service
    knows traces by their content only.
    """
    document = spec.canonical()
    several = document["application"].get("applications")
    for place in [document] if several is None else several:
        trace = place["application"].get("trace")
        if trace is not None:
            application = client.upload_trace(folder / trace)
            place["application"] = {"id": application["id"]}
    return client.create_job(document)

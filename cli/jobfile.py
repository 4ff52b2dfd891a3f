"""Reading job files, and bringing the traces they name to the service."""

from __future__ import annotations

import sys
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

    Raises:
        InvalidInput: It is not a valid job; the message names file and field.
    """
    # The domain takes longer to load than most commands to run.
    from searchspace.job import load_job

    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: not a text file") from None
    try:
        return load_job(text)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def create_job(client: Client, spec: JobSpec, folder: Path) -> dict[str, Any]:
    """Create a job.

    A trace that it names, relative to the folder of its file, is uploaded first: the service
    knows traces by their content only.
    """
    document = spec.canonical()
    trace = document["application"].get("trace")
    if trace is not None:
        application = client.upload_trace(folder / trace)
        document["application"] = {"id": application["id"]}
    return client.create_job(document)

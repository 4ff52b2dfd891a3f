"""The export formats, by name. A new format is one module and one line here."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from searchspace.errors import InvalidInput
from service.exports.json_export import export_json
from service.exports.result import ExportFile, Result, gather
from service.exports.simgrid_export import export_simgrid
from service.version import VERSION
from storage.storage import Storage
from workers.simulator_client import simulator_version

__all__ = ["EXPORTERS", "ExportFile", "Exporter", "archive", "export_job"]


@dataclass(frozen=True)
class Exporter:
    """A format: what it is for, in one line, and the function that makes its files."""

    name: str
    description: str
    export: Callable[[Result], list[ExportFile]]


EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for exporter in (
        Exporter(
            "json",
            "the best configuration, its network and the host of every rank, as one JSON file",
            export_json,
        ),
        Exporter(
            "simgrid",
            "platform, hostfile, application and run.sh that rerun the best configuration "
            "with plain smpirun",
            export_simgrid,
        ),
    )
}


def export_job(storage: Storage, job_id: str, format_name: str) -> list[ExportFile]:
    """Export the best configuration of a job.

    Raises:
        InvalidInput: There is no such format.
        NotFound: There is no such job.
        Conflict: No trial of the job has completed yet.
    """
    exporter = EXPORTERS.get(format_name)
    if exporter is None:
        raise InvalidInput(
            f"unknown export format {format_name!r}; allowed: {', '.join(EXPORTERS)}",
            field="format",
        )
    versions = {"hamtune": VERSION, "simulator": simulator_version()}
    return exporter.export(gather(storage, job_id, versions))


def archive(files: Iterable[ExportFile]) -> bytes:
    """Pack an export as a zip archive; equal files give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in files:
            entry = zipfile.ZipInfo(file.name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if file.executable else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, file.content)
    return buffer.getvalue()

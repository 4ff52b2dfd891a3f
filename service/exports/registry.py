"""The export formats, by name. A new format is one module, its line in `formats` and one here."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from searchspace.collectives.equivalents import TARGETS, Target
from searchspace.errors import InvalidInput
from searchspace.units import format_duration
from service.exports.cabling_export import export_cabling
from service.exports.cray_export import export_cray
from service.exports.formats import ALL, FORMATS
from service.exports.graphml_export import export_graphml
from service.exports.hosts import host_names, known_devices, known_ports
from service.exports.intelmpi_export import export_intelmpi
from service.exports.json_export import export_json
from service.exports.mpich_export import export_mpich
from service.exports.mvapich2_export import export_mvapich2
from service.exports.nearest import SIMULATIONS, for_target, unlike
from service.exports.openmpi_export import export_openmpi
from service.exports.opensm_export import export_opensm
from service.exports.result import ExportFile, ExportOptions, Result, gather
from service.exports.simgrid_export import export_simgrid
from service.exports.slurm_export import export_slurm
from service.exports.untuned import by_fluid, untuned, without_target
from service.exports.wording import readme
from service.version import VERSION
from storage.errors import Conflict
from storage.view import StorageView
from workers.simulator_client import simulator_version

__all__ = ["EXPORTERS", "ExportFile", "ExportOptions", "Exporter", "archive", "export_job"]


@dataclass(frozen=True)
class Exporter:
    """A format: the function that makes its files, and whether they are for one MPI library."""

    name: str
    export: Callable[[Result], list[ExportFile]]
    library: bool = False

    @property
    def description(self) -> str:
        """What it is for, in one line."""
        return FORMATS[self.name]


EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for exporter in (
        Exporter("json", export_json),
        Exporter("simgrid", export_simgrid),
        Exporter("openmpi", export_openmpi, library=True),
        Exporter("mpich", export_mpich, library=True),
        Exporter("mvapich2", export_mvapich2, library=True),
        Exporter("intelmpi", export_intelmpi, library=True),
        Exporter("slurm", export_slurm),
        Exporter("opensm", export_opensm),
        Exporter("cray", export_cray),
        Exporter("cabling", export_cabling),
        Exporter("graphml", export_graphml),
    )
}


def export_job(
    storage: StorageView, job_id: str, format_name: str, options: ExportOptions | None = None
) -> list[ExportFile]:
    """Export the best configuration of a job, or that of another trial.

    Args:
        storage: Where the job is.
        job_id: Its id.
        format_name: One of `EXPORTERS`, or `all`.
        options: What else is asked of it.

    Raises:
        InvalidInput: There is no such format, the target is another format's, or the lists of
            hosts or GUIDs do not fit the machine.
        NotFound: There is no such job or trial.
        Conflict: No trial of the job, or not the chosen one, has completed yet, the format does
            not suit the job, or the target cannot express the configuration.
        Busy: Another export is being simulated in this process.
    """
    options = options or ExportOptions()
    if format_name != ALL and format_name not in EXPORTERS:
        allowed = ", ".join((*EXPORTERS, ALL))
        raise InvalidInput(
            f"unknown export format {format_name!r}; allowed: {allowed}", field="format"
        )
    target = options.target
    if target is not None and format_name != target.format and _is_library(format_name):
        raise InvalidInput(
            f"{target.name} is exported by the format {target.format}, not by {format_name}",
            field="target",
        )
    with SIMULATIONS.of_one_export():
        result = _simulated(storage, job_id, format_name, options)
    if math.isnan(result.value) and not _is_library(format_name):
        raise Conflict(
            f"{result.what} is not measured yet: until then it is exported for MPI libraries alone"
        )
    if format_name == ALL:
        return _everything(result)
    return EXPORTERS[format_name].export(result)


def _simulated(
    storage: StorageView, job_id: str, format_name: str, options: ExportOptions
) -> Result:
    """What is exported, with all that is simulated for it."""
    target = options.target
    versions = {"hamtune": VERSION, "simulator": simulator_version()}
    result = gather(storage, job_id, versions, options.trial)
    if options.hosts is not None:
        result = replace(result, hosts=host_names(options.hosts, result.machine))
    if options.fabric is not None:
        result = _of_fabric(result, options.fabric)
    if target is not None:
        result = for_target(storage, result, target, nearest=options.nearest)
    if result.application.kind != "workload" and result.simulated:
        selectors = _selectors(format_name, target)
        result = replace(result, untuned=untuned(storage, result, selectors))
        if target is None:
            made = without_target(storage, result, _targets(format_name))
            result = replace(result, really=made)
        if format_name in (ALL, "simgrid") and result.machine.trial_model == "packets":
            result = replace(result, fluid=by_fluid(storage, result))
    return result


def _of_fabric(result: Result, text: str) -> Result:
    """The result with the devices and ports of a fabric, as `ibnetdiscover` shows it.

    Raises:
        InvalidInput: The fabric is not the network that is exported.
    """
    topology = result.configuration["topology"]
    if topology != "given":
        raise InvalidInput(
            f"what is exported has the network {topology!r}, which the fabric is not; export a "
            "trial of the network 'given', or leave the fabric away",
            field="fabric",
        )
    devices = known_devices(text, result.machine)
    order = result.resolved.order
    numbers = (*order, *range(len(order), result.resolved.network.nodes))
    renumbered = {new: devices[old] for new, old in enumerate(numbers)}
    return replace(result, devices=renumbered, ports=known_ports(text, renumbered))


def _is_library(format_name: str) -> bool:
    return format_name != ALL and EXPORTERS[format_name].library


def _selectors(format_name: str, target: Target | None) -> list[str]:
    """The decision tables of the libraries that files are written for."""
    if format_name != ALL and not _is_library(format_name):
        return []
    if target is not None:
        return [target.selector]
    return list(dict.fromkeys(one.selector for one in _targets(format_name)))


def _targets(format_name: str) -> list[Target]:
    """The libraries of a format, or of all."""
    return [one for one in TARGETS.values() if format_name in (ALL, one.format)]


def _everything(result: Result) -> list[ExportFile]:
    """Every format in its folder, and a README that says which is which."""
    files: list[ExportFile] = []
    written: list[str] = []
    left_out: list[str] = []
    for exporter in EXPORTERS.values():
        if exporter.library and result.target and exporter.name != result.target.format:
            left_out.append(f"{exporter.name}: the export is for {result.target.title}")
            continue
        try:
            made = exporter.export(result)
        except Conflict as error:
            left_out.append(f"{exporter.name}: {error}")
            continue
        written.append(f"{exporter.name}/  {exporter.description}")
        files += [replace(file, name=f"{exporter.name}/{file.name}") for file in made]
    parts = [["Each folder has a README of its own.", *written], _inexact(result)]
    if left_out:
        parts.append(["Left out:", *left_out])
    return [
        ExportFile(name="README.txt", content=readme(result, *parts, _equivalents(files))),
        *files,
    ]


def _inexact(result: Result) -> list[str]:
    """The libraries that do not run all as it was simulated, with the time of what they run."""
    if not result.simulated or result.application.kind == "workload":
        return []
    return [
        f"{target.title} does not run all of it: what its files hold takes "
        + (
            "a time that was not simulated"
            if time is None
            else f"{format_duration(time)} simulated"
        )
        for target in _targets(ALL)
        if result.target in (None, target) and unlike(result, target)
        for time in [result.really.get(target.name)]
    ]


def _equivalents(files: Iterable[ExportFile]) -> list[str]:
    """What the READMEs of the libraries say of each collective choice."""
    lines = []
    for file in files:
        folder, _, name = file.name.partition("/")
        if name == "README.txt" and EXPORTERS[folder].library:
            paragraphs = file.content.decode().split("\n\n")
            lines += [part for part in paragraphs if part.startswith("For ")]
    return lines


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

"""Files for an MPI library from a configuration and a machine alone, without a job."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from searchspace.collectives import Groups, called_collectives
from searchspace.collectives.by_size import ranges_of
from searchspace.collectives.equivalents import Target
from searchspace.configuration import Configuration
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.kernels import trace_summary
from searchspace.machine import Machine
from searchspace.platform import TrafficOf, resolve
from service.exports.mpich_export import export_mpich
from service.exports.openmpi_export import export_openmpi
from service.exports.result import ExportFile, Result
from service.version import VERSION
from storage.records import Application, Job, Trial

__all__ = ["export_configuration", "standalone_result", "write_files"]

_EXPORTERS = {"openmpi": export_openmpi, "mpich": export_mpich}
_EXECUTABLE = 0o755


def export_configuration(
    machine: Machine,
    configuration: Configuration,
    target: Target,
    directory: Path,
    *,
    ranks: int,
    collectives: Sequence[str] | None = None,
    trace: Path | None = None,
) -> None:
    """Write what the exporter of a library writes for a configuration.

    Args:
        machine: Where it is to run.
        configuration: What is to act.
        target: The library.
        directory: Where the files go; made if it is not there.
        ranks: Of the program; those of the trace where there is one.
        collectives: What the program calls, on all ranks; without a trace by default those that
            the configuration decides.
        trace: Of the program.

    Raises:
        Infeasible: The configuration cannot be run on the machine.
        InvalidInput: It is no configuration for it.
    """
    result = standalone_result(
        machine, configuration, ranks=ranks, collectives=collectives, trace=trace, target=target
    )
    write_files(_EXPORTERS[target.format](result), directory)


def standalone_result(
    machine: Machine,
    configuration: Configuration,
    *,
    ranks: int,
    collectives: Sequence[str] | None = None,
    trace: Path | None = None,
    target: Target | None = None,
) -> Result:
    """What exporters need, of a configuration that no job came to; for arguments see above."""
    if trace is not None:
        summary: Mapping[str, object] = trace_summary(trace)
        ranks = trace_summary(trace)["ranks"]
    else:
        named = decided(configuration) if collectives is None else collectives
        summary = {"calls": dict.fromkeys(named, 1), "communicators": {n: [[]] for n in named}}
    calls: dict[str, Groups] = called_collectives(summary)
    traffic: TrafficOf | None = None if trace is None else TracesTraffic((trace,))
    resolved = resolve(configuration, machine, ranks, collectives=calls, traffic=traffic)
    now = time.time()
    return Result(
        job=_job(now),
        application=Application(
            id="",
            name="program",
            kind="trace",
            key="",
            trace_sha256="",
            ranks=ranks,
            summary=dict(summary),
            created_at=now,
        ),
        machine=machine,
        trial=_trial(configuration, now),
        best=None,
        value=math.nan,
        configuration=configuration,
        baselines=(),
        resolved=resolved,
        trace=trace or Path(),
        versions={"hamtune": VERSION},
        target=target,
        origin=(f"Hamtune: a configuration for {ranks} ranks, given by hand",),
    )


def decided(configuration: Configuration) -> list[str]:
    """The collectives whose algorithms a configuration names."""
    return list(ranges_of(configuration))


def write_files(files: Sequence[ExportFile], directory: Path) -> None:
    """Write an export into a directory."""
    for file in files:
        path = directory / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        if file.executable:
            path.chmod(_EXECUTABLE)


def _job(now: float) -> Job:
    return Job(
        id="",
        name="by hand",
        state="completed",
        spec={},
        seed=0,
        application_id=None,
        space=None,
        error=None,
        ended_because=None,
        lease_owner=None,
        lease_token=0,
        lease_expires_at=None,
        created_at=now,
        started_at=None,
        finished_at=None,
        active_seconds=0.0,
    )


def _trial(configuration: Configuration, now: float) -> Trial:
    return Trial(
        id="",
        job_id="",
        number=1,
        kind="search",
        label=None,
        inside=True,
        configuration=configuration.to_dict(),
        configuration_sha256="",
        technique=None,
        state="completed",
        cutoff=None,
        value=None,
        cached=False,
        reason=None,
        result=None,
        cpu_seconds=None,
        wall_seconds=None,
        peak_rss_bytes=None,
        worker=None,
        created_at=now,
        started_at=None,
        finished_at=None,
    )

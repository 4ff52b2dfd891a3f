"""What a job came to, gathered once for every export format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from searchspace.configuration import Configuration
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.machine import Machine
from searchspace.platform import Resolved, resolve
from storage.errors import Conflict
from storage.networks import ProjectNetworks
from storage.records import Application, Job, Trial
from storage.storage import Storage
from workers.subject import read_spec, traces_of

__all__ = ["ExportFile", "Result", "gather"]


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """One file of an export; `name` is relative, with `/` between folders."""

    name: str
    content: bytes
    executable: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """A job's best configuration and all that it was measured with.

    Attributes:
        trial: The best trial; always completed.
        baselines: The baselines that completed, in trial order.
        resolved: The trial's configuration on the machine.
        trace: The trace that was replayed.
        versions: Of Hamtune, and of the simulator with its SimGrid.
    """

    job: Job
    application: Application
    machine: Machine
    trial: Trial
    baselines: tuple[Trial, ...]
    resolved: Resolved
    trace: Path
    versions: dict[str, str]

    @property
    def value(self) -> float:
        """Simulated time of the best configuration, seconds."""
        assert self.trial.value is not None
        return self.trial.value


def gather(storage: Storage, job_id: str, versions: dict[str, str]) -> Result:
    """Collect what the exporters need of a job.

    Raises:
        NotFound: There is no such job.
        Conflict: No trial of the job has completed yet.
    """
    job = storage.get_job(job_id)
    trial = storage.best_trial(job_id)
    if trial is None or job.application_id is None:
        raise Conflict(
            f"job {job.name!r} has no completed trial yet, so there is nothing to export"
        )
    application = storage.get_application(job.application_id)
    machine = read_spec(storage, job).described_machine
    configuration = Configuration.from_json(trial.configuration)
    return Result(
        job=job,
        application=application,
        machine=machine,
        trial=trial,
        baselines=tuple(
            other
            for other in storage.list_trials(job_id, state="completed", limit=50)
            if other.kind == "baseline"
        ),
        resolved=resolve(
            configuration,
            machine,
            application.ranks,
            traffic=TracesTraffic(traces_of(storage, application)),
            kept=ProjectNetworks(storage, job.project),
        ),
        trace=storage.artifact_path(application.trace_sha256),
        versions=versions,
    )

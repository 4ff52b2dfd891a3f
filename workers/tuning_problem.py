"""The tuning problem of a job: what all its trials share, as trace, machine and limits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any

from searchspace.collectives import Groups, called_collectives
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.job import JobSpec, load_job
from searchspace.jobspec import Limits, Reference
from searchspace.machine import Machine
from searchspace.platform import Resolved
from searchspace.workload import split
from storage.records import DEFAULT_PROJECT, Application, Job, Trial
from storage.traces import traces_of
from storage.view import StorageView

__all__ = [
    "LEAST_MESSAGES",
    "MESSAGES_FACTOR",
    "Replayed",
    "TuningProblem",
    "TuningProblems",
    "Workload",
    "read_spec",
    "request_for",
    "workload_of",
]

_KEPT = 32

_MANY_RANKS = 512
"""Of fewer ranks a message for each pair is soon simulated."""
MESSAGES_FACTOR = 16
LEAST_MESSAGES = 250_000
"""A trial of the search may send so many times what the baseline does that sends most, or so many
messages, whichever is more."""


@dataclass(frozen=True)
class Replayed:
    """The traces to replay, one an application, and their identity."""

    sha256: str
    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Workload:
    """Applications that run at once: what `workers.applications.workload` stored of each."""

    parts: tuple[dict[str, Any], ...]
    objective: str


@dataclass(frozen=True)
class TuningProblem:
    """What the trials of a job evaluate: traces on a machine, within limits."""

    limits: Limits
    machine: Machine
    ranks: int  # of all applications
    whole: Replayed
    calls: Mapping[str, Groups]  # the collectives of the trace, and their communicators
    truncated: Replayed | None  # where the search takes place, if not on the whole trace
    workload: Workload | None  # where there are several applications
    comparison_limits: Callable[[], Limits]  # of trials that repeat others with the fluid model
    most_messages: Callable[[], int | None] = lambda: None  # of trials of the search
    project: str = DEFAULT_PROJECT

    def machine_of(self, trial: Trial) -> Machine:
        """The machine, as the network model of a trial evaluates it."""
        machine = self.machine
        model = "fluid" if trial.kind == "comparison" else machine.trial_model
        return machine.simulated_by(model)

    def limits_of(self, trial: Trial) -> Limits:
        """What the evaluation of a trial may take.

        Raises:
            Unavailable: The database is away, and knows what the search took.
        """
        return self.comparison_limits() if trial.kind == "comparison" else self.limits

    def messages_of(self, trial: Trial) -> int | None:
        """The most messages that the evaluation of a trial may simulate; None for any number.

        Raises:
            Unavailable: The database is away, and knows what the baselines took.
        """
        return self.most_messages() if trial.kind in ("search", "refinement") else None

    def replayed(self, trial: Trial) -> Replayed:
        """The trace that a trial replays."""
        if trial.fidelity == "low":
            assert self.truncated is not None, "only jobs with a truncated trace estimate"
            return self.truncated
        return self.whole

    @cached_property
    def traffic(self) -> TracesTraffic:
        """What the ranks exchange in the whole trace, by the algorithms of collectives."""
        return TracesTraffic(self.whole.paths)

    def request(self, resolved: Resolved) -> dict[str, Any]:
        """What the simulator is asked for a resolved configuration."""
        return request_for(resolved, self.workload)


def request_for(resolved: Resolved, workload: Workload | None) -> dict[str, Any]:
    """What the simulator is asked for a resolved configuration of one application or several."""
    request = resolved.simulator_request()
    if workload is not None:
        parts = workload.parts
        hosts = split(resolved.rank_hosts, [part["ranks"] for part in parts])
        request["applications"] = [
            {
                "trace": index,
                "hosts": list(hosts[index]),
                "start": part["start"],
                "weight": part["weight"],
            }
            for index, part in enumerate(parts)
        ]
        request["objective"] = workload.objective
    return request


def workload_of(application: Application) -> Workload | None:
    """The applications that a stored one stands for, where it is several."""
    if application.kind != "workload":
        return None
    summary = application.summary
    return Workload(tuple(summary["applications"]), summary["objective"])


class TuningProblems:
    """Reads the tuning problems of jobs from storage, each once: they never change."""

    def __init__(self, storage: StorageView) -> None:
        self._storage = storage
        self._known: OrderedDict[str, TuningProblem] = OrderedDict()
        self._lock = Lock()

    def of(self, job_id: str) -> TuningProblem:
        """The tuning problem of a prepared job.

        Raises:
            NotFound: It, its trace or its machine is not stored.
            ArtifactDamaged: Its trace was altered.
        """
        with self._lock:
            known = self._known.get(job_id)
            if known is None:
                known = self._read(self._storage.jobs.get(job_id))
                self._known[job_id] = known
            self._known.move_to_end(job_id)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            return known

    def _read(self, job: Job) -> TuningProblem:
        assert job.application_id is not None, "trials exist only of prepared jobs"
        application = self._storage.applications.get(job.application_id)
        spec = read_spec(self._storage, job)
        paths = traces_of(self._storage, application)
        return TuningProblem(
            limits=spec.limits,
            machine=spec.described_machine,
            ranks=application.ranks,
            whole=Replayed(application.trace_sha256, paths),
            calls=called_collectives(application.summary),
            truncated=self._truncated(job),
            workload=workload_of(application),
            comparison_limits=lambda: spec.comparison_limits(
                self._storage.trials.search_seconds(job.id)
            ),
            most_messages=cache(partial(self._most_messages, job.id, spec, application.ranks)),
            project=job.project,
        )

    def _most_messages(self, job_id: str, spec: JobSpec, ranks: int) -> int | None:
        """What may be simulated of a trial whose algorithms send far more than any baseline's.

        A message for each pair of thousands of ranks takes minutes and gigabytes before its cutoff,
        where there are sparing ways to do the same. All baselines have ended before the search
        begins where trials have cutoffs, so the limit is the same whoever evaluates.
        """
        if spec.cutoff_factor is None or ranks < _MANY_RANKS:
            return None
        points = self._storage.trials.baseline_points(job_id)
        sent = [
            (self._storage.trials.get(job_id, point.number).result or {}).get("messages") or 0
            for point in points
            if point.kind == points[0].kind and point.state == "completed"
        ]
        return max(MESSAGES_FACTOR * max(sent), LEAST_MESSAGES) if any(sent) else None

    def _truncated(self, job: Job) -> Replayed | None:
        digest = ((job.space or {}).get("fidelity") or {}).get("trace_sha256")
        return None if digest is None else Replayed(digest, (self._storage.artifacts.path(digest),))


def read_spec(storage: StorageView, job: Job) -> JobSpec:
    """The specification of a job, with its machine's description in it.

    Raises:
        InvalidInput: The stored specification is not valid, or does not fit the machine.
        NotFound: It refers to a machine that is not stored.
    """
    spec = load_job(job.spec)
    if isinstance(spec.machine, Reference):
        machine = storage.machines.get(spec.machine.id)
        spec = load_job({**spec.canonical(), "machine": machine.description})
    return spec

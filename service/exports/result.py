"""What a job came to, gathered once for every export format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from searchspace.collectives import Groups, called_collectives
from searchspace.collectives.equivalents import Target
from searchspace.configuration import Configuration
from searchspace.formats.fabric import Fabric
from searchspace.formats.trace_traffic import TracesTraffic
from searchspace.machine import Machine
from searchspace.platform import Resolved, resolve
from service.exports.hosts import Device
from service.jobs.yardsticks import SCRIPTED
from storage.errors import Conflict
from storage.networks import ProjectNetworks
from storage.records import Application, Job, Trial
from storage.traces import traces_of
from storage.view import StorageView
from workers.tuning_problem import read_spec

__all__ = ["ExportFile", "ExportOptions", "Result", "gather"]


OPEN_STATES = ("pending", "running")
"""Of trials that a script is to measure, for which it needs their files."""


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """One file of an export; `name` is relative, with `/` between folders."""

    name: str
    content: bytes
    executable: bool = False


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What the user asks of an export beside its format.

    Attributes:
        trial: Number of the trial; None for the best.
        hosts: Text that names the hosts, in the order of the machine's.
        fabric: Output of `ibnetdiscover`, which knows the GUIDs.
        target: The library that the files are for; None for all that the format has.
        nearest: Whether, where the target cannot express the configuration, the nearest one that
            it can is exported.
    """

    trial: int | None = None
    hosts: str | None = None
    fabric: str | None = None
    target: Target | None = None
    nearest: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """A job's best configuration, or that of another trial, and all that it was measured with.

    Attributes:
        trial: The trial; completed, unless a script is to measure it.
        best: The best trial; None where none of the search space has completed.
        value: Time of what is exported, seconds; not the trial's where a nearest is. NaN where
            nobody knows it.
        configuration: What is exported.
        baselines: The baselines that completed, in trial order.
        resolved: The configuration on the machine.
        trace: The trace that was replayed.
        versions: Of Hamtune, and of the simulator with its SimGrid.
        hosts: The user's names of the hosts, in the machine's order; empty without.
        devices: What the fabric calls them, by node of the resolved network; None where that is
            not known.
        ports: Where the fabric's cables are plugged in, by their two nodes, lower one first: a port
            of each for every cable; None where that is not known.
        target: The library asked for, if one was.
        untuned: Simulated seconds of the same network with ranks in order and all choices left to
            a library, by its decision table; those that could be simulated.
        really: Simulated seconds of what a library makes of the export, by target, where it cannot
            run all as it was simulated; those that could be simulated.
        compared: The best trials that were evaluated with the fluid model as well, each with the
            trial that did it.
        fluid: Simulated seconds of what is exported by the fluid model, where packets decided and
            a format asks for it; None where that is not known, or not soon.
        origin: Where there is no such job in a storage, what files say of themselves instead.
    """

    job: Job
    application: Application
    machine: Machine
    trial: Trial
    best: Trial | None
    value: float
    configuration: Configuration
    baselines: tuple[Trial, ...]
    resolved: Resolved
    trace: Path
    versions: dict[str, str]
    hosts: tuple[str, ...] = ()
    devices: Mapping[int, Device] | None = None
    ports: Mapping[tuple[int, int], list[tuple[str, str]]] | None = None
    target: Target | None = None
    untuned: Mapping[str, float] = field(default_factory=dict)
    really: Mapping[str, float] = field(default_factory=dict)
    compared: tuple[tuple[Trial, Trial], ...] = ()
    fluid: float | None = None
    origin: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of every node of the network after ordering: hosts, then switches."""
        hosts = (
            tuple(self.hosts[host] for host in self.resolved.order)
            if self.hosts
            else self.resolved.host_names
        )
        switches = self.resolved.network.switches
        return (*hosts, *(f"switch-{switch}" for switch in range(switches)))

    @property
    def device_names(self) -> tuple[str, ...]:
        """The same, but what the fabric calls its switches where that is known."""
        if self.devices is None:
            return self.names
        hosts = self.resolved.network.hosts
        switches = range(hosts, self.resolved.network.nodes)
        return (*self.names[:hosts], *(self.devices[node].name for node in switches))

    @property
    def placeholders(self) -> bool:
        """Whether nobody has named the hosts, so that their names here are ours."""
        return not self.hosts and not (self.machine.topology and self.machine.topology.host_names)

    @property
    def rank_names(self) -> list[str]:
        """The name of the host of every rank."""
        return [self.names[host] for host in self.resolved.rank_hosts]

    @property
    def fabric(self) -> Fabric:
        """The network with the names of its nodes."""
        return Fabric(self.resolved.network, self.names)

    @property
    def calls(self) -> dict[str, Groups]:
        """The collectives that the application calls, and on which communicators."""
        return called_collectives(self.application.summary)

    @property
    def title(self) -> str:
        """The job's name as one line."""
        return " ".join(self.job.name.split())

    @property
    def simulated(self) -> bool:
        """Whether times are simulated; else a script has measured them."""
        return self.job.spec.get("external") != "measurements"

    @property
    def model(self) -> str:
        """Where times come from: the network model with what it rests on, or a script."""
        return self.machine.model_text if self.simulated else SCRIPTED

    @property
    def what(self) -> str:
        """What is exported, in words."""
        if self.best is not None and self.best.number == self.trial.number:
            return "the best configuration"
        return f"the configuration of trial {self.trial.number}"


def gather(
    storage: StorageView, job_id: str, versions: dict[str, str], number: int | None = None
) -> Result:
    """Collect what the exporters need of a job and its best trial, or the one of a number.

    Raises:
        NotFound: There is no such job or trial.
        Conflict: No trial of the job has completed yet, or the chosen one has not.
    """
    job = storage.jobs.get(job_id)
    best = storage.trials.best(job_id)
    trial = best if number is None else storage.trials.get(job_id, number)
    open_states = OPEN_STATES if job.spec.get("external") == "measurements" else ()
    is_open = trial is not None and trial.state in open_states
    if trial is not None and not is_open and (trial.state != "completed" or trial.value is None):
        raise Conflict(
            f"trial {trial.number} of job {job.name!r} is {trial.state}: only trials that have "
            "completed are exported"
        )
    if trial is None or job.application_id is None:
        raise Conflict(
            f"job {job.name!r} has no completed trial yet, so there is nothing to export"
        )
    application = storage.applications.get(job.application_id)
    machine = read_spec(storage, job).described_machine
    if trial.kind == "comparison":
        machine = machine.simulated_by("fluid")
    configuration = Configuration.from_json(trial.configuration)
    return Result(
        job=job,
        application=application,
        machine=machine,
        trial=trial,
        best=best,
        value=math.nan if trial.value is None else trial.value,
        configuration=configuration,
        baselines=tuple(
            other
            for other in storage.trials.of_job(job_id, states=["completed"], limit=50)
            if other.kind == "baseline"
        ),
        resolved=resolve(
            configuration,
            machine,
            application.ranks,
            traffic=TracesTraffic(traces_of(storage, application)),
            cache=ProjectNetworks(storage.networks, job.project),
        ),
        trace=storage.artifacts.path(application.trace_sha256),
        versions=versions,
        compared=tuple(storage.trials.comparisons(job_id)),
    )

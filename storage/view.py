"""What those have in common who use the storage of one project, or of all."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from storage.allowances import ProjectAllowances
from storage.applications import Applications
from storage.attempts import ProjectAttempts
from storage.audit import ProjectAudit
from storage.convergence import Convergence
from storage.events import ProjectEvents
from storage.failures import Failures
from storage.jobs import ProjectJobs
from storage.keys import ProjectKeys
from storage.leases import ProjectLeases
from storage.machines import Machines
from storage.measured import ProjectMeasuredRuns
from storage.measurements import Measurements
from storage.networks import Networks
from storage.outlooks import ProjectOutlooks
from storage.preparations import ProjectPreparations
from storage.processes import ProjectProcesses
from storage.project_trials import ProjectTrials
from storage.projects import OwnProject
from storage.scripts import ProjectScripts
from storage.subscriptions import Subscriptions
from storage.trash import Trash

__all__ = ["ArtifactStore", "StorageView"]


class ArtifactStore(Protocol):
    """Where artifacts are put, and found by their digests."""

    def put(self, source: Path | bytes) -> str:
        """Store a file or bytes under the SHA-256 of the content, which is returned."""
        ...

    def path(self, digest: str) -> Path:
        """A local, verified, read-only file with the content of an artifact."""
        ...


class StorageView(Protocol):
    """What `ProjectStorage` and `Storage` both offer: what a project may do.

    To a function that takes one it is all the same whether it is handed the share of a project or,
    for an operator, everything.
    """

    @property
    def artifacts(self) -> ArtifactStore:
        """Traces and source trees."""
        ...

    @property
    def applications(self) -> Applications:
        """See `Applications`."""
        ...

    @property
    def machines(self) -> Machines:
        """See `Machines`."""
        ...

    @property
    def projects(self) -> OwnProject:
        """See `OwnProject`."""
        ...

    @property
    def keys(self) -> ProjectKeys:
        """See `ProjectKeys`."""
        ...

    @property
    def audit(self) -> ProjectAudit:
        """See `ProjectAudit`."""
        ...

    @property
    def jobs(self) -> ProjectJobs:
        """See `ProjectJobs`."""
        ...

    @property
    def trash(self) -> Trash:
        """See `Trash`."""
        ...

    @property
    def leases(self) -> ProjectLeases:
        """See `ProjectLeases`."""
        ...

    @property
    def preparations(self) -> ProjectPreparations:
        """See `ProjectPreparations`."""
        ...

    @property
    def trials(self) -> ProjectTrials:
        """See `ProjectTrials`."""
        ...

    @property
    def attempts(self) -> ProjectAttempts:
        """See `ProjectAttempts`."""
        ...

    @property
    def convergence(self) -> Convergence:
        """See `Convergence`."""
        ...

    @property
    def failures(self) -> Failures:
        """See `Failures`."""
        ...

    @property
    def outlooks(self) -> ProjectOutlooks:
        """See `ProjectOutlooks`."""
        ...

    @property
    def networks(self) -> Networks:
        """See `Networks`."""
        ...

    @property
    def scripts(self) -> ProjectScripts:
        """See `ProjectScripts`."""
        ...

    @property
    def measurements(self) -> Measurements:
        """See `Measurements`."""
        ...

    @property
    def measured_runs(self) -> ProjectMeasuredRuns:
        """See `ProjectMeasuredRuns`."""
        ...

    @property
    def events(self) -> ProjectEvents:
        """See `ProjectEvents`."""
        ...

    @property
    def subscriptions(self) -> Subscriptions:
        """See `Subscriptions`."""
        ...

    @property
    def allowances(self) -> ProjectAllowances:
        """See `ProjectAllowances`."""
        ...

    @property
    def processes(self) -> ProjectProcesses:
        """See `ProjectProcesses`."""
        ...

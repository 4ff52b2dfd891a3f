"""A project's share of the storage: what belongs to others does not exist in it."""

from __future__ import annotations

from storage.allowances import ProjectAllowances
from storage.applications import Applications
from storage.artifacts import Artifacts, ProjectArtifacts
from storage.attempts import ProjectAttempts
from storage.audit import ProjectAudit
from storage.convergence import Convergence
from storage.database import Database
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
from storage.scopes import OneProject
from storage.scripts import ProjectScripts
from storage.subscriptions import Subscriptions
from storage.trash import Trash

__all__ = ["ProjectStorage"]


class ProjectStorage:
    """The storage as a project may use it: repositories that are bound to it.

    What is for those who serve all projects (coordinators, workers, operators) is not here. What is
    shared shows nothing of anybody but how much there is to do: artifacts are found by their
    digests alone, networks by those of their descriptions.

    Args:
        database: That of all projects.
        artifacts: Those of all projects.
        project: The project.
    """

    def __init__(self, database: Database, artifacts: Artifacts, project: str) -> None:
        scope = OneProject(database, project)
        self.project = project
        self.artifacts = ProjectArtifacts(artifacts)
        self.applications = Applications(database, scope, artifacts)
        self.machines = Machines(database, scope)
        self.projects = OwnProject(database, scope)
        self.keys = ProjectKeys(database, scope)
        self.audit = ProjectAudit(database, scope)
        self.jobs = ProjectJobs(database, scope)
        self.trash = Trash(database, scope)
        self.leases = ProjectLeases(database)
        self.preparations = ProjectPreparations(database, scope)
        self.trials = ProjectTrials(database, scope)
        self.attempts = ProjectAttempts(database, scope)
        self.convergence = Convergence(database, scope)
        self.failures = Failures(database, scope)
        self.outlooks = ProjectOutlooks(database, scope)
        self.networks = Networks(database)
        self.scripts = ProjectScripts(database, scope)
        self.measurements = Measurements(database, scope)
        self.measured_runs = ProjectMeasuredRuns(database, scope)
        self.events = ProjectEvents(database, scope)
        self.subscriptions = Subscriptions(database, scope)
        self.allowances = ProjectAllowances(database, scope)
        self.processes = ProjectProcesses(database)

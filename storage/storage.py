"""`Storage`: all that is kept, behind one object."""

from __future__ import annotations

from pathlib import Path

from storage import backup, schema
from storage.allowances import Allowances
from storage.applications import Applications, fill_stored_bytes
from storage.artifacts import Artifacts
from storage.attempts import Attempts
from storage.audit import Audit
from storage.backup import BackupSummary
from storage.convergence import Convergence
from storage.database import Database
from storage.deliveries import Deliveries
from storage.errors import UnknownRevision
from storage.evaluations import Evaluations
from storage.events import Events
from storage.failures import Failures
from storage.jobs import Jobs
from storage.keys import Keys
from storage.leases import Leases
from storage.machines import Machines
from storage.measured import MeasuredRuns
from storage.measurements import Measurements
from storage.networks import Networks
from storage.notifications import Notifications
from storage.outlooks import Outlooks
from storage.preparations import Preparations
from storage.processes import Processes
from storage.project_storage import ProjectStorage
from storage.projects import Projects
from storage.retention import Retention
from storage.scopes import EveryProject
from storage.scripts import Scripts
from storage.statistics import Statistics
from storage.subscriptions import Subscriptions
from storage.trash import Trash
from storage.trials import Trials

__all__ = ["Storage"]


class Storage:
    """Database and artifacts, of all projects: a repository for each noun.

    Synchronous; every call is a transaction; safe for many threads.

    Example:
        >>> storage = Storage.open("sqlite:////tmp/h/hamtune.db", "file:///tmp/h/artifacts")
        >>> storage.upgrade()
        >>> job = storage.jobs.create(name="cg", spec={}, seed=1)
        >>> storage.jobs.get(job.id).state
        'queued'
    """

    def __init__(self, database: Database, artifacts: Artifacts) -> None:
        scope = EveryProject(database)
        self._database = database
        self.artifacts = artifacts
        self.applications = Applications(database, scope, artifacts)
        self.machines = Machines(database, scope)
        self.projects = Projects(database, scope)
        self.keys = Keys(database, scope)
        self.audit = Audit(database, scope)
        self.jobs = Jobs(database, scope)
        self.trash = Trash(database, scope)
        self.leases = Leases(database)
        self.preparations = Preparations(database, scope)
        self.trials = Trials(database, scope)
        self.attempts = Attempts(database, scope)
        self.convergence = Convergence(database, scope)
        self.failures = Failures(database, scope)
        self.outlooks = Outlooks(database, scope)
        self.evaluations = Evaluations(database)
        self.networks = Networks(database)
        self.scripts = Scripts(database, scope)
        self.measurements = Measurements(database, scope)
        self.measured_runs = MeasuredRuns(database, scope)
        self.events = Events(database, scope)
        self.subscriptions = Subscriptions(database, scope)
        self.deliveries = Deliveries(database)
        self.allowances = Allowances(database, scope)
        self.processes = Processes(database)
        self.statistics = Statistics(database)
        self.retention = Retention(database, artifacts)

    @classmethod
    def open(
        cls,
        url: str,
        artifacts_url: str,
        *,
        cache: Path | None = None,
        cache_bytes: int | None = None,
    ) -> Storage:
        """Open a database and an artifact store; connects at first use.

        Args:
            url: `sqlite:///path` or `postgresql+psycopg://user@host/database`.
            artifacts_url: `file:///directory` or another URL that fsspec knows.
            cache: Where copies of remote artifacts are kept (see `Artifacts`).
            cache_bytes: How much of them.

        Raises:
            InvalidInput: One of the URLs cannot be used.
        """
        return cls(Database(url), Artifacts(artifacts_url, cache=cache, cache_bytes=cache_bytes))

    def of_project(self, project: str) -> ProjectStorage:
        """The share that a project has of it."""
        return ProjectStorage(self._database, self.artifacts, project)

    @property
    def notifications(self) -> Notifications:
        """Who subscribes here is told of events as they are committed (see `hears_all`)."""
        return self._database.notifications

    def hears_all(self) -> bool:
        """Whether notifications of other processes arrive too; where not, one has to look often.

        Over PostgreSQL the first call begins to listen.
        """
        return self._database.listen()

    @property
    def kind(self) -> str:
        """The kind of database: `sqlite` or `postgresql`."""
        return "sqlite" if self._database.is_sqlite else "postgresql"

    def revision(self) -> str:
        """The revision of the tables.

        Raises:
            UnknownRevision: They are not those of this version.
        """
        found = schema.current_revision(self._database)
        if found != schema.newest_revision():
            raise UnknownRevision(
                f"the tables are of revision {found}, not {schema.newest_revision()}; start this "
                "version of Hamtune once to bring them up to date"
            )
        return str(found)

    def upgrade(self) -> None:
        """Bring the tables to the newest revision, and what no migration can fill."""
        schema.upgrade(self._database)
        fill_stored_bytes(self._database, self.artifacts)

    def back_up(self, target: Path) -> BackupSummary:
        """Write all that is stored to an archive (see `storage.backup`)."""
        return backup.write_backup(self._database, self.artifacts, target)

    def restore(self, source: Path) -> BackupSummary:
        """Fill an empty database and the artifact store from an archive."""
        return backup.restore(source, self._database, self.artifacts)

    def close(self) -> None:
        """Close all connections; the object is of no use afterwards."""
        self._database.close()

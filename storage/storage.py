"""`Storage`: all that is kept, behind one object."""

from __future__ import annotations

from pathlib import Path

from storage import backup, schema
from storage.allowances import Allowances
from storage.applications import Applications
from storage.artifacts import Artifacts
from storage.attempts import Attempts
from storage.backup import BackupSummary
from storage.convergence import Convergences
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
from storage.quotas import QuotaKeeping
from storage.retention import Retention
from storage.scripts import Scripts
from storage.statistics import Statistics
from storage.subscriptions import Subscriptions
from storage.trash import Trash
from storage.trials import Trials

__all__ = ["Storage"]


class Storage(
    Applications,
    Machines,
    Jobs,
    Trash,
    Leases,
    Preparations,
    Trials,
    Convergences,
    Attempts,
    Evaluations,
    Networks,
    Measurements,
    MeasuredRuns,
    Failures,
    Outlooks,
    Scripts,
    Subscriptions,
    Deliveries,
    Allowances,
    Events,
    Keys,
    QuotaKeeping,
    Processes,
    Statistics,
    Retention,
):
    """Database and artifacts. Synchronous; every call is a transaction; safe for many threads.

    Example:
        >>> storage = Storage.open("sqlite:////tmp/h/hamtune.db", "file:///tmp/h/artifacts")
        >>> storage.upgrade()
        >>> job = storage.create_job(name="cg", spec={}, seed=1)
        >>> storage.get_job(job.id).state
        'queued'
    """

    def __init__(self, database: Database, artifacts: Artifacts) -> None:
        self._database = database
        self._artifacts = artifacts

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
        """Bring the tables to the newest revision."""
        schema.upgrade(self._database)

    def back_up(self, target: Path) -> BackupSummary:
        """Write all that is stored to an archive (see `storage.backup`)."""
        return backup.write_backup(self._database, self._artifacts, target)

    def restore(self, source: Path) -> BackupSummary:
        """Fill an empty database and the artifact store from an archive."""
        return backup.restore(source, self._database, self._artifacts)

    def close(self) -> None:
        """Close all connections; the object is of no use afterwards."""
        self._database.close()

    def put_artifact(self, source: Path | bytes) -> str:
        """Store a file or bytes under the SHA-256 of the content, which is returned."""
        return self._artifacts.put(source)

    def artifact_path(self, sha256: str) -> Path:
        """A local, verified, read-only file with the content of an artifact.

        Raises:
            NotFound: There is no such artifact.
            ArtifactDamaged: Its bytes have another digest.
        """
        return self._artifacts.path(sha256)

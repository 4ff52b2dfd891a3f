"""The revision of the database's tables: where it stands, and how it is moved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, String, column, func, inspect, select, table

from storage.database import Database, plainly
from storage.errors import UnknownRevision

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = [
    "current_revision",
    "downgrade",
    "hold",
    "is_known",
    "migrate",
    "newest_revision",
    "revision_of",
    "take_back",
    "upgrade",
]

_MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"
_VERSION_TABLE = "alembic_version"
_MIGRATION_LOCK = 0x48544D47  # advisory lock of migrations: "HTMG"


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring the tables to a revision; does nothing where they are there already.

    Raises:
        UnknownRevision: A newer Hamtune has changed the tables.
    """
    if revision == "head":
        stands = current_revision(database)
        if stands == newest_revision():
            return
        if stands is not None and not is_known(stands):
            raise UnknownRevision(
                f"the database is of revision {stands}, and this Hamtune knows those up to "
                f"{newest_revision()}: start the version that last used it, or restore a backup"
            )
    with database.migrating() as connection:
        migrate(connection, revision)


def hold(connection: Connection) -> None:
    """Hold up other migrations until the end of a transaction.

    Several processes may start at once: one migrates, the others wait and find it done.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))


def migrate(connection: Connection, revision: str) -> None:
    """Bring the tables to a revision within a transaction, which holds up other migrations.

    Args:
        connection: From `Database.migrating`.
        revision: One that is known, or `head`.
    """
    from alembic import command  # half a second, for nothing where there is nothing to do

    command.upgrade(_configuration(connection), revision)


def downgrade(database: Database, revision: str) -> None:
    """Take the tables back to an earlier revision (`base` removes them)."""
    with database.migrating() as connection:
        take_back(connection, revision)


def take_back(connection: Connection, revision: str) -> None:
    """The same within a transaction, which holds up other migrations."""
    from alembic import command

    command.downgrade(_configuration(connection), revision)


def current_revision(database: Database) -> str | None:
    """The revision that the tables have; None where there are none."""
    with plainly(), database.engine.connect() as connection:
        return revision_of(connection)


def revision_of(connection: Connection) -> str | None:
    """The revision that the tables have in a transaction; None where there are none."""
    if not inspect(connection).has_table(_VERSION_TABLE):
        return None
    version = column("version_num", String)
    revision: str | None = connection.scalar(
        select(version).select_from(table(_VERSION_TABLE, version))
    )
    return revision


def newest_revision() -> str:
    """The last of the migrations."""
    return max(_revisions())


def is_known(revision: str) -> bool:
    """Whether it is one of the migrations."""
    return revision in _revisions()


def _revisions() -> set[str]:
    """All migrations, whose files begin with their revisions."""
    return {path.name.partition("_")[0] for path in _MIGRATIONS.glob("versions/[0-9]*.py")}


def _configuration(connection: Connection) -> Config:
    hold(connection)
    from alembic.config import Config

    configuration = Config()
    configuration.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    configuration.attributes["connection"] = connection
    return configuration

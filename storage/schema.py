"""The revision of the database's tables: where it stands, and how it is moved."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, func, select

from storage.database import Database

__all__ = ["current_revision", "downgrade", "upgrade"]

_MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"
_MIGRATION_LOCK = 0x48544D47  # advisory lock of migrations: "HTMG"


def upgrade(database: Database, revision: str = "head") -> None:
    """Bring the tables to a revision; does nothing where they are there already."""
    with database.migrating() as connection:
        command.upgrade(_configuration(connection), revision)


def downgrade(database: Database, revision: str) -> None:
    """Take the tables back to an earlier revision (`base` removes them)."""
    with database.migrating() as connection:
        command.downgrade(_configuration(connection), revision)


def current_revision(database: Database) -> str | None:
    """The revision that the tables have; None where there are none."""
    with database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _configuration(connection: Connection) -> Config:
    if connection.dialect.name == "postgresql":
        # Several processes may start at once: one migrates, the others wait and find it done.
        connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
    configuration = Config()
    configuration.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    configuration.attributes["connection"] = connection
    return configuration

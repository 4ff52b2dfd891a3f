from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from storage import schema
from storage.database import Database
from storage.errors import UnknownRevision
from storage.models import Base


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database without tables."""
    if request.param == "sqlite":
        opened = Database(f"sqlite:///{tmp_path}/hamtune.db")
    else:
        create: Callable[[], str] = request.getfixturevalue("create_database")
        opened = Database(create())
    yield opened
    opened.close()


def test_the_migrations_lead_to_the_tables_of_the_models(database: Database) -> None:
    schema.upgrade(database)

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_the_migrations_can_be_taken_back_and_made_again(database: Database) -> None:
    schema.upgrade(database)
    schema.downgrade(database, "base")

    assert set(inspect(database.engine).get_table_names()) <= {"alembic_version"}
    assert schema.current_revision(database) is None

    schema.upgrade(database)
    assert set(Base.metadata.tables) <= set(inspect(database.engine).get_table_names())


def test_upgrading_twice_changes_nothing(database: Database) -> None:
    schema.upgrade(database)
    revision = schema.current_revision(database)
    schema.upgrade(database)

    assert schema.current_revision(database) == revision


def test_processes_that_start_at_once_migrate_once(database: Database) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: schema.upgrade(database), range(3)))

    assert schema.current_revision(database) is not None


def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    schema.upgrade(database)
    with database.migrating() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(UnknownRevision, match="is of revision 9999, and this Hamtune knows"):
        schema.upgrade(database)

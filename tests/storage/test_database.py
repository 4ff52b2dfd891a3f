from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import InternalError, ProgrammingError
from sqlalchemy.pool import QueuePool

from searchspace.errors import InvalidInput
from storage.database import Database, plainly
from storage.errors import Unavailable
from storage.storage import Storage


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "this is no database URL"),
        ("mysql://host/db", "databases of kind mysql are not supported"),
        ("sqlite://", "several processes share the database: give a file"),
        ("sqlite:///:memory:", "several processes share the database: give a file"),
    ],
)
def test_a_database_that_cannot_be_used_is_refused_plainly(url: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Database(url)


def test_the_directory_of_a_sqlite_file_is_made(tmp_path: Path) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/a/b/hamtune.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    storage.close()

    assert (tmp_path / "a/b/hamtune.db").exists()


def test_a_database_that_is_away_is_said_to_be_so(tmp_path: Path) -> None:
    for url in (
        "postgresql+psycopg://hamtune@127.0.0.1:1/hamtune",
        f"sqlite:///{tmp_path}/without-tables.db",
    ):
        storage = Storage.open(url, str(tmp_path / "artifacts"))
        with pytest.raises(Unavailable, match="the database cannot be used now: "):
            storage.events.last_id()
        storage.close()


def test_a_failed_transaction_leaves_nothing(storage: Storage) -> None:
    with pytest.raises(RuntimeError), storage._database.writing() as session:
        storage._database.note(session, "j", "message", {})
        raise RuntimeError("the worker died")

    assert storage.events.last_id() == 0


def test_many_threads_write_at_once_without_losing_a_write(storage: Storage) -> None:
    def create(n: int) -> None:
        storage.jobs.create(name=f"job-{n}", spec={}, seed=n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(create, range(64)))

    assert {job.seed for job in storage.jobs.page().items} == set(range(64))


def test_a_server_that_only_reads_cannot_be_used_now(migrated_url: str, tmp_path: Path) -> None:
    """As a standby is for the seconds until it is promoted."""
    url = f"{migrated_url}?options=-c%20default_transaction_read_only%3Don"
    storage = Storage.open(url, str(tmp_path / "artifacts"))
    with pytest.raises(Unavailable, match="cannot be used now: cannot execute INSERT in a"):
        storage.jobs.create(name="j", spec={}, seed=1)
    storage.close()


@pytest.mark.parametrize("code", ["25006", "25P03", "25P04", "57P01", "58000"])
def test_what_a_server_says_of_its_own_state_can_be_tried_again(
    migrated_url: str, code: str
) -> None:
    """Read-only, idle for too long, open for too long, shut down, failed by its system."""
    database = Database(migrated_url)
    with pytest.raises(Unavailable, match="cannot be used now: not now"):
        raise_there(database, code)
    database.close()


def test_what_a_server_says_of_a_mistake_is_no_matter_of_its_state(migrated_url: str) -> None:
    database = Database(migrated_url)
    with pytest.raises(InternalError, match="not now"):
        raise_there(database, "XX000")
    with pytest.raises(ProgrammingError), database.reading() as session:
        session.execute(text("SELECT nothing FROM nowhere"))
    database.close()


def raise_there(database: Database, code: str) -> None:
    """Have the server raise an error of its own of this SQLSTATE."""
    with database.writing() as session:
        session.execute(
            text(f"DO $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '{code}'; END $$")
        )


def test_connections_that_are_all_in_use_are_said_to_be_so(tmp_path: Path) -> None:
    engine = create_engine(
        f"sqlite:///{tmp_path}/small.db",
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        pool_timeout=0.01,
    )
    with engine.connect(), pytest.raises(Unavailable, match="are in use; try again"), plainly():
        engine.connect()
    engine.dispose()

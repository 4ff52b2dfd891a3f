from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from searchspace.errors import InvalidInput
from storage.database import Database
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

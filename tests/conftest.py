"""What tests of several rooms share: real servers, started once where a test asks for them."""

from __future__ import annotations

import itertools
import logging
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import cache

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import make_url
from xdist.scheduler import LoadFileScheduling

from deploy import servers
from storage import schema
from storage.database import Database
from storage.storage import Storage

# No test hangs on the clock: neither an example's time nor the time that drawing one takes, which
# on a new checkout includes building Hypothesis's tables of characters.
settings.register_profile("hamtune", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hamtune")

# In the background of a script Ctrl-C is ignored, and programs inherit that: those started here are
# sent it on purpose.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count(1)
_PAGE = "tests/service/page/"


@pytest.fixture(autouse=True)
def log_of_one_test() -> Iterator[None]:
    """What a test logs to its own stderr is not logged there by those after it, nor kept back."""
    yield
    root = logging.getLogger()
    for handler in [each for each in root.handlers if type(each) is logging.StreamHandler]:
        root.removeHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("hamtune").setLevel(logging.NOTSET)
    logging.disable(logging.NOTSET)  # as benchmarks do, whose optimisers log much


@pytest.fixture(scope="session", autouse=True)
def tables_are_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Storage in a new SQLite file has the tables that the migrations have made in another one.

    To migrate takes a tenth of a second, and a thousand tests have a storage of their own. What is
    started in a process of its own migrates, and so do the tests of the migrations.
    """

    @cache
    def statements() -> list[str]:
        path = tmp_path_factory.mktemp("tables") / "hamtune.db"
        database = Database(f"sqlite:///{path}")
        schema.upgrade(database)
        database.close()
        with closing(sqlite3.connect(path)) as connection:
            begin, *made, commit = connection.iterdump()
        assert (begin, commit) == ("BEGIN TRANSACTION;", "COMMIT;")
        return made

    upgrade = Storage.upgrade

    def copy_or_upgrade(storage: Storage) -> None:
        database = storage._database
        if database.is_sqlite and schema.current_revision(database) is None:
            made = statements()
            with database.migrating() as connection:
                if schema.current_revision(database) is None:
                    for statement in made:
                        connection.exec_driver_sql(statement)
        upgrade(storage)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Storage, "upgrade", copy_or_upgrade)
        yield


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """An empty database of a real PostgreSQL server."""
    with servers.PostgreSQL() as server:
        yield server.url


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A real Redis server."""
    with servers.Redis() as server:
        yield server.url


@pytest.fixture(scope="session")
def s3_environment() -> Iterator[dict[str, str]]:
    """The environment that leads to a server that speaks S3."""
    with servers.S3() as server:
        yield server.environment


@pytest.fixture(scope="session")
def create_database(postgresql_url: str) -> Callable[[], str]:
    """Makes a fresh, empty database in the server; returns its URL."""
    address = make_url(postgresql_url)

    def create() -> str:
        name = f"test_{next(_numbers)}"
        conninfo = (
            f"host={address.host} port={address.port} user={address.username} dbname=postgres"
        )
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        return address.set(database=name).render_as_string(hide_password=False)

    return create


@pytest.fixture
def reserve_port() -> Iterator[Callable[[], int]]:
    """Gives ports that nobody listens on, and which are given to nobody else during the test."""
    with ExitStack() as reserved:
        yield lambda: reserved.enter_context(servers.ReservedPort()).number


class _ByFile(LoadFileScheduling):  # type: ignore[misc]
    """Tests of a file stay in one process, as they share what is made for them once.

    Those of the page are as one file: they share a browser and a service.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return _PAGE if file.startswith(_PAGE) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _ByFile:
    """Which process a test runs in.

    Not by xdist's groups, which pytest-xdist 3.8 leaves apart without a word under pytest 9.2.
    """
    return _ByFile(config, log)

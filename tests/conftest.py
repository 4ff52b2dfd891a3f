"""What tests of several rooms share: real servers, started once where a test asks for them."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import make_url

from deploy import servers

# No test hangs on the clock: neither an example's time nor the time that drawing one takes, which
# on a new checkout includes building Hypothesis's tables of characters.
settings.register_profile("hamtune", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hamtune")

# In the background of a script Ctrl-C is ignored, and programs inherit that: those started here are
# sent it on purpose.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count(1)


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that need a server in one process, so that each is started once."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        if names & {"postgresql_url", "redis_url", "s3_environment"}:
            item.add_marker(pytest.mark.xdist_group("servers"))

"""The conformance suite: its tests take `storage` and so run on every kind of database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from storage.models import Base
from storage.proposal import Proposal
from storage.records import Trial
from storage.storage import Storage


@pytest.fixture(scope="session")
def migrated_url(
    create_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A PostgreSQL database with the newest tables, which the tests use one after another."""
    url = create_database()
    storage = Storage.open(url, str(tmp_path_factory.mktemp("artifacts")))
    storage.upgrade()
    storage.close()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """An empty storage."""
    if request.param == "sqlite":
        opened = Storage.open(f"sqlite:///{tmp_path}/hamtune.db", str(tmp_path / "artifacts"))
        opened.upgrade()
    else:
        opened = Storage.open(request.getfixturevalue("migrated_url"), str(tmp_path / "artifacts"))
        with opened._database.writing() as session:
            names = ", ".join(set(Base.metadata.tables) - {"projects"})
            session.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
            session.execute(text("DELETE FROM projects WHERE name <> 'default'"))
    yield opened
    opened.close()


@pytest.fixture
def running_job(storage: Storage) -> tuple[str, int]:
    """A job that a coordinator drives: its id and the lease's token."""
    job = storage.jobs.create(name="cg-64", spec={"name": "cg-64"}, seed=1)
    leased = storage.leases.acquire("coordinator", 60.0, job.id)
    assert leased is not None
    storage.jobs.transition(job.id, "preparing", token=leased.lease_token)
    storage.jobs.transition(job.id, "running", token=leased.lease_token)
    return job.id, leased.lease_token


@pytest.fixture
def propose(storage: Storage, running_job: tuple[str, int]) -> Callable[..., Trial]:
    """Proposes trials of the running job: `propose(number, cutoff=...)`."""
    job_id, token = running_job

    def propose_trial(number: int, cutoff: float | None = None) -> Trial:
        return storage.trials.propose(
            job_id,
            token,
            Proposal(
                number=number,
                kind="search",
                configuration={"ordering": "original", "topology_seed": number},
                configuration_sha256=f"{number:064d}",
                technique="greedy",
                cutoff=cutoff,
            ),
        )

    return propose_trial

"""Deleting and restoring from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.client import connect
from service.settings import Settings
from service.trash.emptying import empty
from storage.storage import Storage
from tests.cli.conftest import Hamtune
from tests.cli.test_completion import completed


@pytest.fixture
def ended(hamtune: Hamtune, job: dict[str, Any]) -> str:
    """A cancelled job of the name `ended`."""
    with connect(None, Settings.under(hamtune.data)) as client:
        created = client.create_job({**job, "name": "ended"})
        client.post(f"/jobs/{created['id']}/cancel")
    return str(created["id"])


def test_a_deleted_job_comes_back(hamtune: Hamtune, ended: str) -> None:
    said = hamtune("delete", "ended").stdout
    assert said.startswith(
        f"ended ({ended}): deleted; 'hamtune restore {ended}' brings it back until "
    )
    assert hamtune.json("jobs") == hamtune.json("jobs", "--archived", "include") == []
    (listed,) = hamtune.json("jobs", "--deleted")
    assert listed["restorable_until"] - listed["deleted_at"] == 30 * 86400.0
    assert "for good" in hamtune("jobs", "--deleted").stdout.splitlines()[0]
    assert f"'hamtune restore {ended}'" in hamtune.refused("show", ended, status=1)
    assert f"'hamtune restore {ended}'" in hamtune.refused("show", "ended", status=1)

    assert hamtune("restore", "ended").stdout == f"ended ({ended}): restored, cancelled\n"
    assert hamtune.json("show", ended)["deleted_at"] is None
    assert "is not deleted" in hamtune.refused("restore", "ended", status=1)
    told = hamtune.json("delete", ended)
    assert (told["state"], told["restore"]) == ("deleted", f"hamtune restore {ended}")
    assert hamtune.json("restore", ended)["state"] == "cancelled"


def test_for_good_is_asked_for(hamtune: Hamtune, ended: str) -> None:
    assert "nobody answers; --yes" in hamtune.refused("delete", ended, "--now", status=1)
    hamtune("delete", "ended")
    assert "nobody answers; --yes" in hamtune.refused("delete", "ended", "--now", status=1)
    assert len(hamtune.json("jobs", "--deleted")) == 1
    said = hamtune("delete", "ended", "--now", "--yes")
    assert said.stdout == f"ended ({ended}): deleted for good\n"
    assert hamtune.json("jobs", "--deleted") == []
    assert f"no deleted job {ended}" in hamtune.refused("restore", ended, status=1)


def test_a_service_that_keeps_none_asks_before_it_deletes(hamtune: Hamtune, ended: str) -> None:
    hamtune.environment = {"HAMTUNE_KEEP_DELETED": "0"}
    assert "nobody answers; --yes" in hamtune.refused("delete", ended, status=1)
    assert hamtune("delete", ended, "--yes").stdout == f"ended ({ended}): deleted for good\n"
    hamtune.environment = {"HAMTUNE_KEEP_DELETED": "soon"}
    assert "HAMTUNE_KEEP_DELETED: 'soon'" in hamtune.refused("jobs")


def test_names_that_are_not_the_only_ones(
    hamtune: Hamtune, job: dict[str, Any], ended: str
) -> None:
    hamtune("delete", ended)
    with connect(None, Settings.under(hamtune.data)) as client:
        other = client.create_job({**job, "name": "ended"})["id"]
        client.post(f"/jobs/{other}/cancel")
    done = hamtune("restore", "ended")
    assert done.stdout.startswith(f"ended ({ended}): restored")
    assert "another job is called ended too" in done.stderr
    for identifier in (ended, other):
        hamtune("delete", identifier)
    assert "2 deleted jobs are called 'ended'; say which by id" in hamtune.refused(
        "restore", "ended", status=1
    )


def test_a_file_is_a_backup(hamtune: Hamtune, tmp_path: Path, ended: str) -> None:
    """What `restore` meant before it also took jobs stays."""
    file = tmp_path / "b.tar.gz"
    hamtune("backup", file)
    hamtune("delete", ended)
    assert "is not empty" in hamtune.refused("restore", file, status=1)
    assert "there is no file 'nosuch.tar.gz'" in hamtune.refused("restore", "nosuch.tar.gz")
    assert "--server goes with jobs" in hamtune.refused(
        "restore", file, "--server", "http://127.0.0.1:9"
    )
    (hamtune.directory / "ended").mkdir()
    assert hamtune("restore", "ended").stdout.startswith(f"ended ({ended}): restored")


def test_deleted_jobs_are_completed_where_they_are_taken(
    hamtune: Hamtune, tmp_path: Path, ended: str
) -> None:
    assert completed(hamtune, tmp_path, "hamtune restore end") == set()
    hamtune("delete", ended)
    assert completed(hamtune, tmp_path, "hamtune restore end") == {"ended"}
    assert completed(hamtune, tmp_path, "hamtune show end") == set()


def test_they_expire(hamtune: Hamtune, ended: str) -> None:
    settings = Settings.under(hamtune.data)
    hamtune("delete", ended)
    expired = dict.fromkeys(("jobs", "deleted", "evaluations", "networks", "audit", "artifacts"), 0)
    assert hamtune.json("expire") == expired
    # Those that ended long ago have been promised to whoever deleted them.
    assert hamtune.json("expire", "--jobs", "0d") == expired
    storage = Storage.open(settings.database_url, settings.artifacts_url)
    try:
        (job,) = storage.jobs.page(deleted="only").items
        assert job.restorable_until is not None
        assert empty(storage, job.restorable_until - 1.0) == 0
        storage.trash.restore(ended)
        storage.trash.put(ended, 0.0)
    finally:
        storage.close()
    assert hamtune.json("expire", "--dry-run")["deleted"] == [ended]
    assert hamtune.json("expire") == {**expired, "deleted": 1}
    assert f"no deleted job {ended}" in hamtune.refused("restore", ended, status=1)

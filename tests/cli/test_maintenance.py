"""Doctor, backup, restoration and retention from the command line."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.client import connect
from cli.maintenance import backup, expire, migrate
from searchspace.errors import HamtuneError
from service.settings import Settings
from storage.errors import Unavailable
from storage.storage import Storage
from tests.cli.conftest import Hamtune, tiny_job


def test_a_backup_is_checked_and_restored(hamtune: Hamtune, tmp_path: Path) -> None:
    hamtune("keys", "create", "--project", "climate", "head")
    file = tmp_path / "b.tar.gz"
    made = hamtune.json("backup", file)
    assert made["checked"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert made["rows"]["api_keys"] == 1
    hamtune.environment = {"HAMTUNE_DATA": str(tmp_path / "new")}
    assert hamtune.json("restore", file)["rows"] == made["rows"]
    assert [key["name"] for key in hamtune.json("keys", "list")] == ["head"]
    assert "is not empty" in hamtune.refused("restore", file, status=1)
    deleted = hamtune.json("expire", "--jobs", "1d", "--evaluations", "1d", "--audit", "1d")
    assert deleted == {
        "jobs": 0, "deleted": 0, "evaluations": 0, "networks": 0, "audit": 0, "artifacts": 0
    }  # fmt: skip


def test_a_check_without_room_says_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Storage, "restore", full)
    file = tmp_path / "b.tar.gz"
    done = CliRunner().invoke(backup, [str(file), "--data", str(tmp_path / "data")])
    assert isinstance(done.exception, HamtuneError)
    assert "set TMPDIR" in str(done.exception)
    assert "--no-check" in str(done.exception)
    assert file.exists()


def test_a_migration_waits_for_its_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.retry._PAUSE_SECONDS", 0.001)
    upgrade, tries = Storage.upgrade, iter(range(9))

    def away(storage: Storage) -> None:
        if next(tries) < 8:
            raise Unavailable("the database cannot be used now")
        upgrade(storage)

    monkeypatch.setattr(Storage, "upgrade", away)
    done = CliRunner().invoke(migrate, ["--data", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["database"] == "sqlite"


def test_a_migration_does_not_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: Storage) -> None:
        raise Unavailable("the database cannot be used now")

    monkeypatch.setattr(Storage, "upgrade", away)
    done = CliRunner().invoke(migrate, ["--data", str(tmp_path), "--wait", "1s"])
    assert isinstance(done.exception, HamtuneError)
    assert "the database was away for 1 s; --wait gives it longer" in str(done.exception)


def test_nothing_expires_by_the_clock_of_a_host_that_is_ahead(
    create_database: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage.open(url := create_database(), str(tmp_path / "data/artifacts"))
    storage.upgrade()
    ended, deleted = (storage.jobs.create(name="j", spec={}, seed=1).id for _ in range(2))
    for job_id in (ended, deleted):
        storage.jobs.transition(job_id, "cancelled")
    storage.trash.put(deleted, 86400.0)
    storage.audit.add(actor="a", address="::1", action="x", target="/", status=200)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 40 * 86400.0)
    monkeypatch.setenv("HAMTUNE_DATABASE_URL", url)

    found = CliRunner().invoke(
        expire,
        ["--json", "--jobs", "30d", "--audit", "30d", "--data", str(tmp_path / "data")],
        catch_exceptions=False,
    )

    assert not any(json.loads(found.output).values())
    assert storage.jobs.get(ended).id == ended
    assert storage.trash.restore(deleted).id == deleted
    assert len(storage.audit.page().items) == 1
    storage.close()


@pytest.mark.parametrize("time", ["-180d", "nand", "-infd"])
def test_a_time_that_would_delete_everything_is_refused(hamtune: Hamtune, time: str) -> None:
    with connect(None, Settings.under(hamtune.data)) as client:
        job_id = client.create_job(tiny_job())["id"]
        client.post(f"/jobs/{job_id}/cancel")

    for option in ("--jobs", "--evaluations", "--audit"):
        assert f"'{option}'" in hamtune.refused("expire", f"{option}={time}")

    assert hamtune.json("show", job_id)["state"] == "cancelled"


def test_the_doctor_tells_what_is_there_and_what_is_missing(hamtune: Hamtune) -> None:
    found = hamtune.json("doctor")
    checks = {check["name"]: check for check in found["checks"]}
    assert found["healthy"]
    assert {"python", "simulator", "sandbox", "database", "artifacts", "broker"} <= set(checks)
    assert "simgrid-" in checks["simulator"]["text"]
    assert checks["engine"] == {
        "name": "engine",
        "status": "ok",
        "text": "express 1.2 on SimGrid 3.32",
    }

    hamtune.environment = {
        "HAMTUNE_DATABASE_URL": "postgresql://h:secret@127.0.0.1:9/h",
        "HAMTUNE_BROKER_URL": "redis://:secret@127.0.0.1:9/0",
        "HAMTUNE_SIMULATOR": "/nosuch/simulator",
    }
    done = hamtune("doctor", "--json")
    assert done.returncode == 1
    assert "secret" not in done.stdout + done.stderr
    failed = {one["name"] for one in json.loads(done.stdout)["checks"] if one["status"] == "failed"}
    assert failed == {"simulator", "database", "broker"}


def test_the_doctor_tells_why_our_engine_is_off(hamtune: Hamtune, tmp_path: Path) -> None:
    """Before SimGrid a library is loaded that gives itself out as another release."""
    source = Path(__file__).parents[1] / "workers/broken_simgrid.cpp"
    other = tmp_path / "other.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-DVERSION", source, "-o", other], check=True)
    hamtune.environment = {"LD_PRELOAD": str(other), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = hamtune.json("doctor")
    (engine,) = (check for check in found["checks"] if check["name"] == "engine")
    assert found["healthy"]
    assert engine["status"] == "warning"
    assert engine["text"].startswith(
        "simgrid 3.32 (express off: it was built for SimGrid 3.32, and this is 3.99); "
    )


def test_the_doctor_tells_why_programs_cannot_be_shut_in(hamtune: Hamtune, tmp_path: Path) -> None:
    fake = tmp_path / "bin/bwrap"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    hamtune.environment = {"PATH": f"{fake.parent}:{os.environ['PATH']}"}
    checks = json.loads(hamtune("doctor", "--json").stdout)["checks"]
    (sandbox,) = (check for check in checks if check["name"] == "sandbox")
    assert sandbox["status"] == "failed"
    assert "No permissions to create new namespace" in sandbox["text"]

"""Backups are worth what can be restored from them, into either kind of database."""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from searchspace.errors import InvalidInput
from storage import backup, schema
from storage.database import Database
from storage.errors import ArtifactDamaged, Conflict, Unavailable, UnknownRevision
from storage.records import Outcome, Trial
from storage.storage import Storage
from tests.migrations.test_data import REVISIONS, fill


@pytest.fixture
def filled(
    storage: Storage, propose: Callable[..., Trial], running_job: tuple[str, int]
) -> Storage:
    """A storage with something of everything."""
    result = {"rank_finish_times": [0.5, 1.0], "link_loads": {"a": float("inf")}}
    done = Outcome(status="completed", value=1.0, cpu_seconds=2.0, result=result)
    trial = propose(1)
    attempt = storage.attempts.open(trial.id, running_job[1])
    storage.attempts.begin(attempt.id, "w")
    storage.attempts.finish(attempt.id, done, evaluation_key="e" * 64)
    propose(2, cutoff=0.5)
    storage.applications.add(
        name="é", kind="trace", key="k", trace_sha256=storage.artifacts.put(b"trace"), ranks=2,
        summary={"calls": {}},
    )  # fmt: skip
    storage.projects.add("climate")
    share = storage.of_project("climate")
    share.keys.add(
        name="k", role="viewer", scopes=["jobs:read"], sha256="0" * 64, expires_at=None,
        created_by="t",
    )  # fmt: skip
    share.machines.add(name="m", description={"nodes": 4})
    storage.audit.add(actor="a", address="::1", action="x", target="/", status=200)
    storage.processes.register("p", "api", version="1", contract=1)
    return storage


def contents(storage: Storage) -> Any:
    (job,) = storage.jobs.page().items
    return (
        job,
        [storage.trials.get(job.id, trial.number) for trial in storage.trials.of_job(job.id)],
        storage.events.after(0),
        storage.applications.page().items,
        storage.machines.page().items,
        storage.keys.page().items,
        storage.audit.page().items,
        storage.projects.all(),
        storage.evaluations.find("e" * 64, None),
        [storage.artifacts.path(name).read_bytes() for name in storage.artifacts.names()],
    )


def test_what_is_restored_is_what_was_backed_up(
    filled: Storage, tmp_path: Path, create_database: Callable[[], str]
) -> None:
    summary = filled.back_up(tmp_path / "b.tar.gz")
    assert (summary.rows["jobs"], summary.rows["trials"], summary.artifacts) == (1, 2, 1)
    assert "processes" not in summary.rows
    for number, url in enumerate((f"sqlite:///{tmp_path}/other.db", create_database())):
        restored = Storage.open(url, str(tmp_path / f"restored-{number}"))
        assert restored.restore(tmp_path / "b.tar.gz") == summary
        assert contents(restored) == contents(filled)
        before = restored.events.last_id()
        assert restored.events.append("x", "message", {}).id > before
        with restored._database.engine.connect() as connection:
            nulls = connection.scalar(text("SELECT count(*) FROM jobs WHERE space IS NULL"))
        assert nulls == 1
        with pytest.raises(Conflict, match="is not empty"):
            restored.restore(tmp_path / "b.tar.gz")
        restored.close()


def test_a_damaged_backup_is_refused(tmp_path: Path) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/a.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    storage.artifacts.put(b"trace")
    storage.back_up(tmp_path / "good.tar.gz")
    with tarfile.open(tmp_path / "good.tar.gz") as archive:
        members = {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]
    manifest = json.loads(members["manifest.json"])
    wrong: dict[str, dict[str, bytes]] = {
        "is damaged in the backup": {"tables/projects.jsonl": b'["name"]\n'},
        "no complete backup": {"manifest.json": b"{"},
        "of another format": {"manifest.json": json.dumps({**manifest, "format": 2}).encode()},
        "is of revision 9999, and this Hamtune knows those up to": {
            "manifest.json": json.dumps({**manifest, "revision": "9999"}).encode()
        },
        "does not belong": {"tables/../../evil": b"x"},
        "artifact .* is damaged": {f"artifacts/{manifest['artifacts'][0]}": b"other"},
        "artifact .* is missing": {
            "manifest.json": json.dumps({**manifest, "artifacts": ["0" * 64]}).encode()
        },
        "names what is no artifact": {
            "manifest.json": json.dumps({**manifest, "artifacts": ["../../evil"]}).encode()
        },
        "no complete backup: 'rows'": {
            "manifest.json": json.dumps(
                {name: value for name, value in manifest.items() if name != "rows"}
            ).encode()
        },
    }
    for number, (message, changes) in enumerate(wrong.items()):
        path = tmp_path / f"{number}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, content in {**changes, **members, **changes}.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        target = Storage.open(f"sqlite:///{tmp_path}/t{number}.db", str(tmp_path / f"t{number}"))
        with pytest.raises((InvalidInput, ArtifactDamaged, UnknownRevision), match=message):
            target.restore(path)
        assert schema.current_revision(target._database) is None
        target.close()
    (tmp_path / "short.tar.gz").write_bytes((tmp_path / "good.tar.gz").read_bytes()[:200])
    target = Storage.open(f"sqlite:///{tmp_path}/s.db", str(tmp_path / "s"))
    with pytest.raises(InvalidInput, match="no complete backup"):
        target.restore(tmp_path / "short.tar.gz")
    target.close()
    storage.close()


def test_an_archive_is_its_owners_alone(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while it grows; and two that are made at once are both whole."""
    target = tmp_path / "b.tar.gz"
    names = storage.artifacts.names
    modes: list[int] = []

    def look() -> list[str]:
        modes.extend(path.stat().st_mode & 0o777 for path in tmp_path.glob(".b.tar.gz*"))
        monkeypatch.setattr(storage.artifacts, "names", names)
        storage.back_up(target)  # another one to the same place
        return names()

    monkeypatch.setattr(storage.artifacts, "names", look)
    before = os.umask(0o022)
    try:
        summary = storage.back_up(target)
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert target.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".b.tar.gz*"))
    other = Storage.open(f"sqlite:///{tmp_path}/other.db", str(tmp_path / "other"))
    assert other.restore(target) == summary
    other.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """A storage without tables."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/empty.db"
    else:
        url = request.getfixturevalue("create_database")()
    opened = Storage.open(url, str(tmp_path / "empty"))
    yield opened
    opened.close()


@pytest.mark.parametrize("fails", ["artifacts", "rows", "counts"])
def test_a_restoration_that_failed_can_be_repeated(
    tmp_path: Path, empty: Storage, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/a.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    storage.jobs.create(name="j", spec={}, seed=1)
    storage.artifacts.put(b"trace")
    summary = storage.back_up(tmp_path / "b.tar.gz")

    def fail(*_: object) -> None:
        raise Unavailable("the disk is full")

    steps: dict[str, tuple[object, str]] = {
        "artifacts": (empty.artifacts, "put"),
        "rows": (backup, "_load"),
        "counts": (backup, "_compare"),
    }
    with monkeypatch.context() as patch:
        patch.setattr(*steps[fails], fail)
        with pytest.raises(Unavailable, match="the disk is full"):
            empty.restore(tmp_path / "b.tar.gz")
    assert schema.current_revision(empty._database) is None

    assert empty.restore(tmp_path / "b.tar.gz") == summary
    assert contents(empty) == contents(storage)
    storage.close()


@pytest.mark.parametrize("revision", REVISIONS[:-1:6])
def test_a_backup_of_an_earlier_version_is_brought_up_to_date(
    tmp_path: Path, empty: Storage, revision: str
) -> None:
    old = Database(f"sqlite:///{tmp_path}/old.db")
    schema.upgrade(old, revision)
    with old.migrating() as connection:
        rows = fill(connection)
    summary = backup.write_backup(old, empty.artifacts, tmp_path / "b.tar.gz")
    old.close()

    assert empty.restore(tmp_path / "b.tar.gz") == summary
    assert empty.revision() == schema.newest_revision()
    assert empty.machines.page().items[0].id == rows["machines"]["id"]


def test_a_database_that_somebody_used_meanwhile_is_left_alone(
    tmp_path: Path, empty: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/a.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    storage.artifacts.put(b"trace")
    storage.back_up(tmp_path / "b.tar.gz")
    put = empty.artifacts.put

    def start(source: Path | bytes) -> str:
        """A service starts while artifacts are restored, and is given a job."""
        empty.upgrade()
        empty.jobs.create(name="mine", spec={}, seed=1)
        return put(source)

    monkeypatch.setattr(empty.artifacts, "put", start)
    with pytest.raises(Conflict, match="is not empty"):
        empty.restore(tmp_path / "b.tar.gz")
    assert [job.name for job in empty.jobs.page().items] == ["mine"]
    storage.close()


def test_tables_in_which_nothing_is_are_replaced(tmp_path: Path, empty: Storage) -> None:
    """As `hamtune migrate` leaves them, and any command that opens a new database."""
    storage = Storage.open(f"sqlite:///{tmp_path}/a.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    storage.jobs.create(name="j", spec={}, seed=1)
    summary = storage.back_up(tmp_path / "b.tar.gz")
    empty.upgrade()
    assert empty.restore(tmp_path / "b.tar.gz") == summary
    assert empty.revision() == schema.newest_revision()
    assert contents(empty) == contents(storage)
    with pytest.raises(Conflict, match="is not empty"):
        empty.restore(tmp_path / "b.tar.gz")
    storage.close()


def test_a_stream_that_does_not_inflate_is_no_backup(
    tmp_path: Path, empty: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.upgrade()
    empty.back_up(tmp_path / "b.tar.gz")

    def broken(*_: object) -> None:
        raise zlib.error("Error -3 while decompressing data: invalid code")

    monkeypatch.setattr(backup, "_copy", broken)
    with pytest.raises(InvalidInput, match="no complete backup"):
        empty.restore(tmp_path / "b.tar.gz")


def test_a_lack_of_room_is_no_fault_of_the_backup(
    tmp_path: Path, empty: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.upgrade()
    empty.back_up(tmp_path / "b.tar.gz")

    @contextmanager
    def full(*_: object, **__: object) -> Iterator[str]:
        with made() as directory:
            Path(directory, "tables").write_text("")  # in place of a directory
            yield directory

    made = tempfile.TemporaryDirectory
    monkeypatch.setattr("storage.backup.tempfile.TemporaryDirectory", full)
    with pytest.raises(Unavailable, match="set TMPDIR to a directory with room"):
        empty.restore(tmp_path / "b.tar.gz")


def test_what_expires_meanwhile_is_left_out_of_a_backup(
    tmp_path: Path, empty: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.upgrade()
    gone, kept = empty.artifacts.put(b"gone"), empty.artifacts.put(b"kept")
    names = empty.artifacts.names

    def look() -> list[str]:
        found = names()
        assert empty.artifacts.delete(gone, older_than=-1e9)
        return found

    monkeypatch.setattr(empty.artifacts, "names", look)
    assert empty.back_up(tmp_path / "b.tar.gz").artifacts == 1
    monkeypatch.undo()
    assert empty.artifacts.names() == [kept]


def test_an_altered_artifact_makes_no_backup(tmp_path: Path) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/a.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    digest = storage.artifacts.put(b"trace")
    path = storage.artifacts.path(digest)
    path.chmod(0o600)
    path.write_bytes(b"other")
    with pytest.raises(ArtifactDamaged):
        storage.back_up(tmp_path / "b.tar.gz")
    assert not list(tmp_path.glob("*.tar.gz*"))
    assert not list(tmp_path.glob(".b*"))
    storage.close()


def test_what_is_old_and_unused_goes(filled: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    unused = filled.artifacts.put(b"unused")
    assert filled.retention.unreferenced_artifacts() == [unused]
    assert filled.retention.delete_unreferenced_artifacts() == 0  # too young
    monkeypatch.setattr("storage.retention._YOUNG_SECONDS", -1.0)
    assert filled.retention.delete_unreferenced_artifacts() == 1
    later = 4e9
    assert filled.retention.expire(jobs=later, evaluations=None) == (0, 0)  # still at work
    (job,) = filled.jobs.page().items
    filled.jobs.transition(job.id, "cancelling")
    filled.jobs.transition(job.id, "cancelled")
    assert filled.retention.expired_jobs(0.0) == []
    assert filled.retention.expire(jobs=later, evaluations=later) == (1, 1)
    assert filled.jobs.page().items == []
    assert filled.events.after(0, job_id=job.id) == []
    assert filled.retention.unreferenced_artifacts() == []

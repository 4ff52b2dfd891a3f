"""Backups are worth what can be restored from them, into either kind of database."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from searchspace.errors import InvalidInput
from storage.errors import ArtifactDamaged, Conflict
from storage.project_storage import ProjectStorage
from storage.records import Outcome, Trial
from storage.storage import Storage


@pytest.fixture
def filled(
    storage: Storage, propose: Callable[..., Trial], running_job: tuple[str, int]
) -> Storage:
    """A storage with something of everything."""
    result = {"rank_finish_times": [0.5, 1.0], "link_loads": {"a": float("inf")}}
    done = Outcome(status="completed", value=1.0, cpu_seconds=2.0, result=result)
    trial = propose(1)
    attempt = storage.open_attempt(trial.id, running_job[1])
    storage.begin_attempt(attempt.id, "w")
    storage.finish_attempt(attempt.id, done, evaluation_key="e" * 64)
    propose(2, cutoff=0.5)
    storage.add_application(
        name="é", kind="trace", key="k", trace_sha256=storage.put_artifact(b"trace"), ranks=2,
        summary={"calls": {}},
    )  # fmt: skip
    storage.add_project("climate")
    share = ProjectStorage.of(storage, "climate")
    share.add_key(
        name="k", role="viewer", scopes=["jobs:read"], sha256="0" * 64, expires_at=None,
        created_by="t",
    )  # fmt: skip
    share.add_machine(name="m", description={"nodes": 4})
    storage.add_audit(actor="a", address="::1", action="x", target="/", status=200)
    storage.register_process("p", "api", version="1", contract=1)
    return storage


def contents(storage: Storage) -> Any:
    (job,) = storage.list_jobs().items
    return (
        job,
        [storage.get_trial(job.id, trial.number) for trial in storage.list_trials(job.id)],
        storage.events_after(0),
        storage.list_applications().items,
        storage.list_machines().items,
        storage.list_keys().items,
        storage.list_audit().items,
        storage.list_projects(),
        storage.find_evaluation("e" * 64, None),
        [storage.artifact_path(name).read_bytes() for name in storage._artifacts.names()],
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
        before = restored.last_event_id()
        assert restored.append_event("x", "message", {}).id > before
        with restored._database.engine.connect() as connection:
            nulls = connection.scalar(text("SELECT count(*) FROM jobs WHERE space IS NULL"))
        assert nulls == 1
        with pytest.raises(Conflict, match="is not empty"):
            restored.restore(tmp_path / "b.tar.gz")
        restored.close()


def test_a_damaged_backup_is_refused(tmp_path: Path) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/a.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    storage.put_artifact(b"trace")
    storage.back_up(tmp_path / "good.tar.gz")
    with tarfile.open(tmp_path / "good.tar.gz") as archive:
        members = {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]
    manifest = json.loads(members["manifest.json"])
    wrong: dict[str, dict[str, bytes]] = {
        "is damaged in the backup": {"tables/projects.jsonl": b'["name"]\n'},
        "no complete backup": {"manifest.json": b"{"},
        "of another format": {"manifest.json": json.dumps({**manifest, "format": 2}).encode()},
        "does not belong": {"tables/../../evil": b"x"},
        "artifact .* is damaged": {f"artifacts/{manifest['artifacts'][0]}": b"other"},
    }
    for number, (message, changes) in enumerate(wrong.items()):
        path = tmp_path / f"{number}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, content in {**changes, **members, **changes}.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        target = Storage.open(f"sqlite:///{tmp_path}/t{number}.db", str(tmp_path / f"t{number}"))
        with pytest.raises((InvalidInput, ArtifactDamaged), match=message):
            target.restore(path)
        target.close()
    (tmp_path / "short.tar.gz").write_bytes((tmp_path / "good.tar.gz").read_bytes()[:200])
    target = Storage.open(f"sqlite:///{tmp_path}/s.db", str(tmp_path / "s"))
    with pytest.raises(InvalidInput, match="no complete backup"):
        target.restore(tmp_path / "short.tar.gz")
    target.close()
    storage.close()


def test_an_altered_artifact_makes_no_backup(tmp_path: Path) -> None:
    storage = Storage.open(f"sqlite:///{tmp_path}/a.db", str(tmp_path / "artifacts"))
    storage.upgrade()
    digest = storage.put_artifact(b"trace")
    path = storage.artifact_path(digest)
    path.chmod(0o600)
    path.write_bytes(b"other")
    with pytest.raises(ArtifactDamaged):
        storage.back_up(tmp_path / "b.tar.gz")
    assert not list(tmp_path.glob("*.tar.gz*"))
    assert not list(tmp_path.glob(".b*"))
    storage.close()


def test_what_is_old_and_unused_goes(filled: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    unused = filled.put_artifact(b"unused")
    assert filled.unreferenced_artifacts() == [unused]
    assert filled.delete_unreferenced_artifacts() == 0  # too young
    monkeypatch.setattr("storage.retention._YOUNG_SECONDS", -1.0)
    assert filled.delete_unreferenced_artifacts() == 1
    later = 4e9
    assert filled.expire(jobs=later, evaluations=None) == (0, 0)  # still at work
    (job,) = filled.list_jobs().items
    filled.transition(job.id, "cancelling")
    filled.transition(job.id, "cancelled")
    assert filled.expired_jobs(0.0) == []
    assert filled.expire(jobs=later, evaluations=later) == (1, 1)
    assert filled.list_jobs().items == []
    assert filled.events_after(0, job_id=job.id) == []
    assert filled.unreferenced_artifacts() == []

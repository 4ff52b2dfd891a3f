from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest

from searchspace.errors import InvalidInput
from storage.artifacts import Artifacts
from storage.database import Database
from storage.errors import ArtifactDamaged, NotFound
from storage.retention import Retention
from storage.schema import upgrade


@pytest.fixture(params=["local", "remote"])
def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> Artifacts:
    """A store on disk, and one behind fsspec as S3 would be."""
    if request.param == "local":
        return Artifacts(f"file://{tmp_path}/artifacts")
    return Artifacts(f"memory://{uuid.uuid4().hex}", cache=tmp_path / "cache")


def test_an_artifact_is_named_by_its_bytes(artifacts: Artifacts, tmp_path: Path) -> None:
    source = tmp_path / "trace.ht"
    source.write_bytes(b"HAMTRACE" * 1000)

    digest = artifacts.put(source)

    assert digest == hashlib.sha256(b"HAMTRACE" * 1000).hexdigest()
    assert artifacts.put(b"HAMTRACE" * 1000) == digest
    assert artifacts.path(digest).read_bytes() == source.read_bytes()
    assert source.exists()


@pytest.mark.parametrize("name", ["0" * 64, "../../etc/passwd", "", "A" * 64])
def test_a_missing_artifact_is_not_found(artifacts: Artifacts, name: str) -> None:
    with pytest.raises(NotFound):
        artifacts.path(name)


def test_bytes_altered_on_disk_are_noticed(artifacts: Artifacts) -> None:
    digest = artifacts.put(b"as it was")
    path = artifacts.path(digest)
    path.chmod(0o644)
    path.write_bytes(b"as it should not be")

    with pytest.raises(ArtifactDamaged, match="was altered"):
        artifacts.path(digest)


def test_an_altered_copy_of_a_remote_artifact_is_fetched_anew(tmp_path: Path) -> None:
    artifacts = Artifacts(f"memory://{uuid.uuid4().hex}", cache=tmp_path / "cache")
    digest = artifacts.put(b"as it was")
    path = artifacts.path(digest)
    path.chmod(0o644)
    path.write_bytes(b"as it should not be")
    with pytest.raises(ArtifactDamaged):
        artifacts.path(digest)

    assert artifacts.path(digest).read_bytes() == b"as it was"


def test_bytes_altered_in_a_remote_store_are_noticed(tmp_path: Path) -> None:
    bucket = uuid.uuid4().hex
    digest = Artifacts(f"memory://{bucket}", cache=tmp_path / "one").put(b"as it was")
    fsspec.filesystem("memory").pipe_file(f"/{bucket}/{digest[:2]}/{digest[2:]}", b"altered")

    with pytest.raises(ArtifactDamaged, match="was altered in its store"):
        Artifacts(f"memory://{bucket}", cache=tmp_path / "two").path(digest)


def test_the_cache_of_a_remote_store_forgets_what_was_used_longest_ago(tmp_path: Path) -> None:
    artifacts = Artifacts(
        f"memory://{uuid.uuid4().hex}", cache=tmp_path / "cache", cache_bytes=2500
    )
    first, second, third = (artifacts.put(bytes([n]) * 1000) for n in range(3))
    for digest in (first, second, first, third):
        artifacts.path(digest)

    held = {"".join(path.parts[-2:]) for path in (tmp_path / "cache").glob("??/*")}

    assert held == {first, third}
    assert artifacts.path(second).read_bytes() == bytes([1]) * 1000


def test_nothing_is_left_behind(artifacts: Artifacts, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        artifacts.put(tmp_path / "missing")
    artifacts.path(artifacts.put(b"something"))

    assert list(tmp_path.rglob(".arriving-*")) == []


@pytest.mark.parametrize("done", ["retention", "fetching"])
def test_what_a_killed_process_left_behind_goes(tmp_path: Path, done: str) -> None:
    place = tmp_path / "cache"
    artifacts = Artifacts(f"memory://{uuid.uuid4().hex}", cache=place)
    digest = artifacts.put(b"something")
    for name in (".arriving-killed", ".arriving-still"):
        (place / name).write_bytes(b"half")
    os.utime(place / ".arriving-killed", (0.0, 0.0))

    if done == "retention":
        database = Database(f"sqlite:///{tmp_path}/hamtune.db")
        upgrade(database)
        Retention(database, artifacts).delete_unreferenced_artifacts()
        database.close()
    else:
        artifacts.path(digest)

    assert [path.name for path in place.glob(".arriving-*")] == [".arriving-still"]


@pytest.fixture
def default_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are kept unless something else is said."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"hamtune-artifacts-{os.getuid()}"


def test_the_default_cache_is_this_users_alone(default_cache: Path) -> None:
    bucket = f"memory://{uuid.uuid4().hex}"
    for _ in range(2):
        artifacts = Artifacts(bucket)
        assert artifacts.path(artifacts.put(b"x")).is_relative_to(default_cache)
    assert default_cache.stat().st_mode & 0o777 == 0o700


def test_a_default_cache_that_others_may_change_is_refused(
    default_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        with pytest.raises(InvalidInput, match=r"of this user alone.*HAMTUNE_CACHE$"):
            Artifacts("memory://bucket")

    for target in ("nowhere", "elsewhere"):
        default_cache.symlink_to(tmp_path / target)
        refused()
        default_cache.unlink()
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
    default_cache.write_bytes(b"")
    refused()
    default_cache.unlink()
    default_cache.mkdir()
    default_cache.chmod(0o770)
    refused()
    default_cache.chmod(0o700)
    uid = os.getuid()
    default_cache.rename(tmp_path / f"hamtune-artifacts-{uid + 1}")
    monkeypatch.setattr(os, "getuid", lambda: uid + 1)
    refused()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert Artifacts("memory://bucket", cache=tmp_path / "elsewhere").put(b"x")


def test_writers_of_the_same_bytes_do_not_disturb_each_other(tmp_path: Path) -> None:
    # On disk: files of fsspec's memory have one place to read at, whoever reads them.
    artifacts = Artifacts(f"file://{tmp_path}/artifacts")
    start = threading.Barrier(4)

    def put_and_read(_: int) -> bytes:
        start.wait()
        return artifacts.path(artifacts.put(b"x" * 100_000)).read_bytes()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(put_and_read, range(4))) == {b"x" * 100_000}


def test_an_unknown_kind_of_store_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot use nosuch://bucket for artifacts"):
        Artifacts("nosuch://bucket")

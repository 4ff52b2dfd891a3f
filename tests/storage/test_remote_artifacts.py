"""Artifacts in an object store: a real server that speaks S3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest

from storage.artifacts import Artifacts
from storage.errors import ArtifactDamaged, NotFound, Unavailable

CONTENT = b"trace" * 1000
OPTIONS = {"skip_instance_cache": True}


@pytest.fixture
def url(s3_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty bucket."""
    for name, value in s3_environment.items():
        monkeypatch.setenv(name, value)
    fsspec.config.conf["s3"] = OPTIONS
    files = fsspec.filesystem("s3")
    files.mkdir("hamtune")
    yield "s3://hamtune/artifacts"
    files.rm("hamtune", recursive=True)
    del fsspec.config.conf["s3"]


@pytest.fixture
def machine(url: str, tmp_path: Path) -> Callable[..., Artifacts]:
    """The store as another machine sees it, with a cache of its own."""
    return lambda name, **more: Artifacts(url, cache=tmp_path / name, **more)


def test_what_one_machine_puts_another_fetches_verifies_and_keeps(
    machine: Callable[..., Artifacts], tmp_path: Path
) -> None:
    digest = machine("api").put(CONTENT)
    worker = machine("worker")
    path = worker.path(digest)
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(tmp_path / "worker")
    assert not (tmp_path / "api" / digest[:2]).exists()
    fsspec.filesystem("s3").rm(f"hamtune/artifacts/{digest[:2]}/{digest[2:]}")
    assert worker.path(digest) == path
    with pytest.raises(NotFound, match=f"there is no artifact {digest}"):
        machine("late").path(digest)


def test_an_altered_artifact_is_refused_and_healed_by_putting_it_again(
    machine: Callable[..., Artifacts], tmp_path: Path
) -> None:
    api = machine("api")
    digest = api.put(CONTENT)
    fsspec.filesystem("s3").pipe(f"hamtune/artifacts/{digest[:2]}/{digest[2:]}", b"other")
    with pytest.raises(ArtifactDamaged, match="was altered in its store"):
        machine("worker").path(digest)
    assert not list((tmp_path / "worker").rglob("*.*"))
    api.put(CONTENT)
    assert machine("worker").path(digest).read_bytes() == CONTENT


def test_writers_of_the_same_bytes_do_not_disturb_each_other(
    machine: Callable[..., Artifacts],
) -> None:
    api = machine("api")
    with ThreadPoolExecutor(4) as pool:
        digests = set(pool.map(api.put, [CONTENT] * 4))
    assert len(digests) == 1
    assert machine("worker").path(digests.pop()).read_bytes() == CONTENT


def test_what_another_process_deleted_meanwhile_is_gone(machine: Callable[..., Artifacts]) -> None:
    one = machine("one")
    digest = one.put(CONTENT)
    assert one.delete(digest, older_than=-1e9)
    assert not one.delete(digest, older_than=-1e9)


def test_the_cache_keeps_to_its_size(machine: Callable[..., Artifacts], tmp_path: Path) -> None:
    digests = [machine("api").put(bytes([number]) * 1000) for number in range(5)]
    worker = machine("worker", cache_bytes=2500)
    for digest in digests:
        worker.path(digest)
    kept = list((tmp_path / "worker").glob("??/*"))
    assert sum(path.stat().st_size for path in kept) <= 2500
    assert worker.path(digests[0]).read_bytes() == bytes(1000)


def test_a_store_that_is_away_is_no_fault_of_the_artifact(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reserve_port: Callable[[], int],
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{reserve_port()}")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    gone = Artifacts(url, cache=tmp_path / "gone")
    with pytest.raises(Unavailable, match="the artifact store cannot be used now"):
        gone.path("0" * 64)
    with pytest.raises(Unavailable, match="the artifact store cannot be used now"):
        gone.put(CONTENT)
    assert list((tmp_path / "gone").iterdir()) == []

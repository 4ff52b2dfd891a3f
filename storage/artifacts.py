"""Artifacts: files named by the SHA-256 of their bytes, on a disk or in an object store.

Local stores are used in place. Remote ones (any URL that fsspec knows, such as S3) are read through
a cache on the local disk that forgets what was used longest ago.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import fsspec
from fsspec.implementations.local import LocalFileSystem

from searchspace.errors import HamtuneError, InvalidInput
from storage.errors import ArtifactDamaged, ArtifactMissing, Unavailable

__all__ = ["Artifacts", "ProjectArtifacts"]

_CHUNK_BYTES = 1 << 20
_CACHE_BYTES = 10 << 30
_ARRIVING = ".arriving-"
_ABANDONED_SECONDS = 86400.0  # nothing takes as long to arrive


class Artifacts:
    """A store of artifacts. Safe for use by many threads and processes.

    Args:
        url: A directory, `file:///directory`, or an fsspec URL such as `s3://bucket/prefix`.
        cache: Directory for copies of remote artifacts; by default one for this user under the
            system's temporary directory, which has to be nobody else's.
        cache_bytes: Size from which the cache forgets; 10 GiB by default.

    Raises:
        InvalidInput: No file system is known for the URL, or somebody else may write to the
            default cache.
    """

    def __init__(
        self, url: str, *, cache: Path | None = None, cache_bytes: int | None = None
    ) -> None:
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise InvalidInput(f"cannot use {url} for artifacts: {error}") from None
        self._is_local = isinstance(self._files, LocalFileSystem)
        chosen = Path(self._root) if self._is_local else cache
        if chosen is None:
            self._local = _default_cache()
        else:
            self._local = chosen
            self._local.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._cache_bytes = _CACHE_BYTES if cache_bytes is None else cache_bytes
        self._lock = threading.Lock()
        self._verified: dict[str, tuple[int, int]] = {}

    def put(self, source: Path | bytes) -> str:
        """Store a file or bytes; storing the same again changes nothing.

        Returns:
            The SHA-256 that names it.
        """
        arriving, digest = self._receive(source)
        try:
            if self._is_local:
                self._adopt(arriving, digest)
            else:
                # Also where it is stored already: that heals one that was altered.
                with _reaching():
                    self._files.makedirs(self._files._parent(self._remote(digest)), exist_ok=True)
                    self._files.put_file(str(arriving), self._remote(digest))
        finally:
            arriving.unlink(missing_ok=True)
        return digest

    def path(self, digest: str) -> Path:
        """A local file with the artifact's bytes, verified since it last changed. Do not write it.

        Raises:
            NotFound: There is no such artifact.
            ArtifactDamaged: Its bytes have another digest.
        """
        self._check_name(digest)
        path = self._path(digest)
        if not self._is_local and not path.exists():
            self._fetch(digest)
        try:
            self._verify(path, digest)
            if not self._is_local:
                os.utime(path)  # the time of last use orders what the cache forgets
                self._verify(path, digest)
        except FileNotFoundError:
            raise ArtifactMissing(f"there is no artifact {digest}") from None
        return path

    def size(self, digest: str) -> int:
        """The bytes of an artifact; 0 where there is none."""
        if not _is_digest(digest):
            return 0
        try:
            return self._path(digest).stat().st_size
        except FileNotFoundError:
            if self._is_local:
                return 0
        try:
            with _reaching():
                return int(self._files.size(self._remote(digest)) or 0)
        except FileNotFoundError:
            return 0

    def names(self) -> list[str]:
        """The digests of all artifacts that are stored, in order."""
        if self._is_local:
            found = [f"{path.parent.name}{path.name}" for path in self._local.glob("??/*")]
        else:
            with _reaching():
                self._files.invalidate_cache()
                listed = self._files.find(self._root)
            found = ["".join(str(path).rsplit("/", 2)[-2:]) for path in listed]
        return sorted(name for name in found if _is_digest(name))

    def delete(self, digest: str, *, older_than: float) -> bool:
        """Delete an artifact that nothing refers to; whether it was there and old enough.

        Args:
            digest: Its name.
            older_than: Seconds; a younger one may be about to be referred to.
        """
        self._check_name(digest)
        path = self._path(digest)
        if not self._is_local:
            if not self._delete_remote(digest, older_than):
                return False
        elif not path.exists() or time.time() - path.stat().st_mtime < older_than:
            return False
        path.unlink(missing_ok=True)
        return True

    def _delete_remote(self, digest: str, older_than: float) -> bool:
        """Delete an artifact from a remote store; whether it was there and old enough."""
        try:
            with _reaching():
                made = self._files.modified(self._remote(digest)).timestamp()
                if time.time() - made < older_than:
                    return False
                self._files.rm_file(self._remote(digest))
        except FileNotFoundError:  # another process deleted it
            return False
        return True

    def delete_abandoned(self) -> None:
        """Delete what began to arrive here more than a day ago; processes were killed over it."""
        for path in self._local.glob(f"{_ARRIVING}*"):
            try:
                if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                    path.unlink()
            except FileNotFoundError:  # it has arrived, or another process deleted it
                continue

    def _receive(self, source: Path | bytes) -> tuple[Path, str]:
        """Copy a source to a fresh file of this store, on disk for good, and digest it."""
        handle, name = tempfile.mkstemp(prefix=_ARRIVING, dir=self._local)
        digest = hashlib.sha256()
        try:
            with os.fdopen(handle, "wb") as written:
                for chunk in _chunks(source):
                    digest.update(chunk)
                    written.write(chunk)
                written.flush()
                os.fsync(written.fileno())
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return Path(name), digest.hexdigest()

    def _fetch(self, digest: str) -> None:
        handle, name = tempfile.mkstemp(prefix=_ARRIVING, dir=self._local)
        arriving = Path(name)
        try:
            with os.fdopen(handle, "wb") as written:
                self._copy(digest, written)
            if _sha256(arriving) != digest:
                raise ArtifactDamaged(f"artifact {digest} was altered in its store; put it again")
            self._adopt(arriving, digest)
        finally:
            arriving.unlink(missing_ok=True)
        self._forget_oldest(keep=digest)

    def _copy(self, digest: str, target: BinaryIO) -> None:
        """Copy what the remote store has."""
        try:
            with _reaching(), self._files.open(self._remote(digest), "rb") as read:
                while chunk := read.read(_CHUNK_BYTES):
                    target.write(chunk)
        except FileNotFoundError:
            raise ArtifactMissing(f"there is no artifact {digest}") from None

    def _adopt(self, arriving: Path, digest: str) -> None:
        """Give a complete file its name; readers see it whole or not at all."""
        path = self._path(digest)
        path.parent.mkdir(exist_ok=True)
        arriving.chmod(0o444)
        arriving.replace(path)
        found = path.stat()
        with self._lock:
            self._verified[digest] = (found.st_size, found.st_mtime_ns)

    def _verify(self, path: Path, digest: str) -> None:
        found = path.stat()
        seen = (found.st_size, found.st_mtime_ns)
        with self._lock:
            if self._verified.get(digest) == seen:
                return
        if _sha256(path) != digest:
            if not self._is_local:
                path.unlink(missing_ok=True)
            raise ArtifactDamaged(f"artifact {digest} was altered on disk; put it again")
        with self._lock:
            self._verified[digest] = seen

    def _forget_oldest(self, keep: str) -> None:
        self.delete_abandoned()
        held: list[tuple[float, int, Path]] = []
        for path in self._local.glob("??/*"):
            try:
                found = path.stat()
            except FileNotFoundError:  # another process forgot it
                continue
            held.append((found.st_mtime, found.st_size, path))
        total = sum(size for _, size, _ in held)
        for _, size, path in sorted(held):
            if total <= self._cache_bytes:
                break
            if path != self._path(keep):
                path.unlink(missing_ok=True)
                total -= size

    def _path(self, digest: str) -> Path:
        return self._local / digest[:2] / digest[2:]

    def _remote(self, digest: str) -> str:
        return f"{self._root.rstrip('/')}/{digest[:2]}/{digest[2:]}"

    @staticmethod
    def _check_name(digest: str) -> None:
        if not _is_digest(digest):
            raise ArtifactMissing(
                "artifacts are named by the 64 hexadecimal digits of their SHA-256"
            )


class ProjectArtifacts:
    """What a project may do with artifacts, which are found by their digests alone.

    Args:
        artifacts: Those of all projects.
    """

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts

    def put(self, source: Path | bytes) -> str:
        """Store a file or bytes under the SHA-256 of the content, which is returned."""
        return self._artifacts.put(source)

    def path(self, digest: str) -> Path:
        """A local, verified, read-only file with the content of an artifact.

        Raises:
            NotFound: There is no such artifact.
            ArtifactDamaged: Its bytes have another digest.
        """
        return self._artifacts.path(digest)


def _default_cache() -> Path:
    """A directory that nobody but this user can write to, under one that anybody can.

    Raises:
        InvalidInput: Somebody else made it, or may change what is in it.
    """
    path = Path(tempfile.gettempdir()) / f"hamtune-artifacts-{os.getuid()}"
    # A file is verified when it is found, not while it is read, so whoever owns the directory
    # decides what is read.
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not is_ours or found.st_mode & 0o077:
        raise InvalidInput(
            f"{path} is no directory of this user alone, so copies of artifacts are not safe there:"
            " remove it, or name another directory with HAMTUNE_CACHE"
        )
    return path


def _is_digest(name: str) -> bool:
    return len(name) == 64 and set(name) <= set("0123456789abcdef")


@contextmanager
def _reaching() -> Iterator[None]:
    """Say in plain words that a remote store is away: each kind of store has its own errors."""
    try:
        yield
    except (FileNotFoundError, HamtuneError):
        raise
    except Exception as error:
        raise Unavailable("the artifact store cannot be used now", str(error)) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _chunks(source: Path | bytes) -> Iterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    with source.open("rb") as read:
        while chunk := read.read(_CHUNK_BYTES):
            yield chunk

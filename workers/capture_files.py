"""The files that the runs of a capture leave beside their trace, packed for who wants to read them.

The tree is a stranger's: links in it are not followed, only plain files are read, and how much of
them is bounded.
"""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

__all__ = ["LeftFiles", "OutputFile", "Stamps", "pack_left", "stamps"]

Stamps = dict[str, tuple[int, int, int]]
"""Of each plain file, by its path: bytes, nanoseconds of its last change, and which file it is.

The time of its last change of owner is not among them: runs are given a user of their own."""

MOST_FILES = 1000
MOST_BYTES = 64 << 20
_MOST_LOOKED_AT = 200_000
_MOST_LISTED = 1000
_MOST_PATH = 1024


@dataclass(frozen=True)
class OutputFile:
    """A file that runs left: its path in the folder where they ran, and its size."""

    path: str
    bytes: int


@dataclass(frozen=True)
class LeftFiles:
    """What runs left.

    Attributes:
        archive: The files (.tar.gz); goes with the sandbox.
        files: Those in it, by path.
        left_out: Those that are not: too many, too large, or not to be read.
    """

    archive: Path
    files: tuple[OutputFile, ...]
    left_out: tuple[OutputFile, ...]

    def listing(self) -> dict[str, Any]:
        """Both lists as a document."""
        return {
            "files": [asdict(file) for file in self.files],
            "left_out": [asdict(file) for file in self.left_out],
        }


def stamps(root: Path) -> Stamps:
    """The plain files below a directory, so that one can tell later which of them changed."""
    return dict(islice(_walk(root), _MOST_LOOKED_AT))


def pack_left(root: Path, before: Stamps, archive: Path) -> LeftFiles:
    """Pack the plain files below a directory that are new, or have changed.

    The smallest go first, so that a large one leaves no small one out.

    Args:
        root: Where the runs wrote; nothing may write there any more.
        before: Its files before the runs.
        archive: The archive to write (.tar.gz).
    """
    news = [
        OutputFile(path, stamp[0])
        for path, stamp in stamps(root).items()
        if before.get(path) != stamp
    ]
    kept: list[OutputFile] = []
    left_out: list[OutputFile] = []
    room = MOST_BYTES
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0, compresslevel=6) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in sorted(news, key=lambda one: (one.bytes, one.path)):
            fits = len(kept) < MOST_FILES and file.bytes <= room and _is_shown(file.path)
            if fits and _add(tar, root, file):
                kept.append(file)
                room -= file.bytes
            else:
                left_out.append(OutputFile(_shown(file.path), file.bytes))
    by_path = sorted(left_out, key=lambda one: one.path)[:_MOST_LISTED]
    return LeftFiles(archive, tuple(sorted(kept, key=lambda one: one.path)), tuple(by_path))


def _walk(root: Path) -> Iterator[tuple[str, tuple[int, int, int]]]:
    folders = [""]
    while folders:
        folder = folders.pop()
        with suppress(OSError), os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{path}/")
                elif entry.is_file(follow_symlinks=False):
                    found = entry.stat(follow_symlinks=False)
                    yield path, (found.st_size, found.st_mtime_ns, found.st_ino)


def _is_shown(path: str) -> bool:
    return len(path) <= _MOST_PATH and path.isprintable()


def _shown(path: str) -> str:
    return path if _is_shown(path) else ascii(path)[:_MOST_PATH]


def _add(tar: tarfile.TarFile, root: Path, file: OutputFile) -> bool:
    """Whether a file could be read and is in the archive now."""
    try:
        content = _opened(root / file.path)
    except OSError:
        return False
    with content:
        entry = tarfile.TarInfo(file.path)
        entry.size = file.bytes
        tar.addfile(entry, content)
    return True


def _opened(path: Path) -> IO[bytes]:
    """A plain file, opened for reading; one that was a file before may be none now.

    Raises:
        OSError: It is none, or cannot be read.
    """
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"{path} is no plain file")
    return os.fdopen(number, "rb")

"""Source trees as archives: packed in one form, read from foreign archives without trusting them.

A foreign archive is never unpacked on disk as it stands: its entries are checked one by one, and
what is accepted is written anew, sorted and without times and owners. So a directory and archives
of it have the same hash.
"""

from __future__ import annotations

import gzip
import os
import posixpath
import stat
import struct
import tarfile
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from searchspace.disk_room import check_room, told_when_full
from searchspace.errors import InvalidInput
from searchspace.formats.plain_file import check_plain
from searchspace.formats.source_tar import open_part, read_members
from searchspace.units import format_size

__all__ = ["MAX_ENTRIES", "MAX_TREE_BYTES", "pack", "unpack"]

MAX_TREE_BYTES = 1 << 30
"""What all files of a source tree together may hold."""
MAX_ENTRIES = 100_000
"""Files, directories and links of a source tree."""

_MAX_DEPTH = 64
_MAX_NAME = 1024
_MAX_TAR = MAX_TREE_BYTES + MAX_ENTRIES * 2048
_MAX_ZIP_DIRECTORY = 16 << 20
_ZIP64_END = 76  # the record with 64-bit sizes and the 20 bytes that tell where it is
_CHUNK = 1 << 20
_WRITTEN = "a source tree"
_BLOCK = 4096  # of which disks give files whole ones
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Those of which `zipfile` inflates a piece at a time: of others a kilobyte becomes gigabytes."""
_TIME = 946_684_800  # every file is as old as the others, so that make rebuilds nothing for that
_ARCHIVES_AT_A_TIME = threading.BoundedSemaphore(2)
"""Each may take twice `MAX_TREE_BYTES` of temporary files while it is packed."""
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})


@dataclass(frozen=True)
class _Entry:
    """A file (with how to open it, and its size), a directory, or a link (with its target)."""

    open: Callable[[], IO[bytes]] | None = None
    size: int = 0
    link: str | None = None
    executable: bool = False


_Tree = dict[PurePosixPath, _Entry]

_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError,
)  # fmt: skip
"""What the libraries end with on archives that they cannot read."""


@told_when_full(_WRITTEN)
def pack(source: Path, target: Path) -> None:
    """Write a source tree as an archive whose bytes depend on its content alone.

    Args:
        source: A directory, whose version control is left out, or a tar, tar.gz or zip archive.
            An archive with everything in one directory stands for that directory.
        target: The archive to write (.tar.gz).

    Raises:
        InvalidInput: It is none of these, or holds what a source tree must not hold: links that
            lead out of it, devices, names that climb, too many files or too large ones.
        NoRoom: The disk of temporary files or that of the target has no room for it.
    """
    with _ARCHIVES_AT_A_TIME, _read(source) as tree, target.open("wb") as raw:
        _check(tree)
        # Each file is copied before it is packed, and random bytes are packed no smaller.
        largest = max((entry.size for entry in tree.values()), default=0)
        check_room(target.parent, "the packed source tree", _size(tree) + largest)
        with (
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            left = MAX_TREE_BYTES
            for name in sorted(tree):
                left -= _add(archive, name, tree[name], left)


@told_when_full(_WRITTEN)
def unpack(archive: Path, target: Path) -> None:
    """Write the files of an archive, `pack`ed or foreign, below an empty directory.

    Raises:
        InvalidInput: As for `pack`.
        NoRoom: The disk of temporary files or that of the target has no room for it.
    """
    with _read(archive) as tree:
        _check(tree)
        check_room(target, "the source tree", _size(tree), len(tree))
        left = MAX_TREE_BYTES
        for name in sorted(tree):
            entry, path = tree[name], target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if entry.link is not None:
                path.symlink_to(entry.link)
            elif entry.open is None:
                path.mkdir(exist_ok=True)
            else:
                with entry.open() as file, path.open("xb") as written:
                    left -= _copy(file, written, left)
                path.chmod(0o755 if entry.executable else 0o644)
                os.utime(path, (_TIME, _TIME))


def _size(tree: _Tree) -> int:
    """What the files of a tree take on a disk; refuses those that hold too much."""
    if sum(entry.size for entry in tree.values()) > MAX_TREE_BYTES:
        raise InvalidInput(f"the files exceed {format_size(MAX_TREE_BYTES)}")
    return sum(_BLOCK + -(-entry.size // _BLOCK) * _BLOCK for entry in tree.values())


def _add(archive: tarfile.TarFile, name: PurePosixPath, entry: _Entry, left: int) -> int:
    info = tarfile.TarInfo(str(name))
    info.mtime = _TIME
    info.mode = 0o755
    if entry.link is not None:
        info.type, info.linkname = tarfile.SYMTYPE, entry.link
    elif entry.open is None:
        info.type = tarfile.DIRTYPE
    else:
        info.mode = 0o755 if entry.executable else 0o644
        with tempfile.TemporaryFile() as whole:
            with entry.open() as file:
                info.size = _copy(file, whole, left)
            whole.seek(0)
            archive.addfile(info, whole)
        return info.size
    archive.addfile(info)
    return 0


def _copy(source: IO[bytes], target: IO[bytes], most: int) -> int:
    size = 0
    try:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > most:
                raise InvalidInput(f"the files exceed {format_size(MAX_TREE_BYTES)}")
            with told_when_full(_WRITTEN):  # which is no fault of the archive
                target.write(chunk)
    except _DAMAGED as error:
        raise InvalidInput(f"the archive is damaged: {error}") from error
    return size


def _check(tree: _Tree) -> None:
    """Refuse entries that would be written outside the tree or could not be written."""
    implied: set[PurePosixPath] = set()
    for name, entry in tree.items():
        text = str(name)
        if not text.isprintable() or len(text) > _MAX_NAME or len(name.parts) > _MAX_DEPTH:
            raise InvalidInput(f"the name {text[:80]!a} cannot be used in a source tree")
        _imply(tree, name, implied)
        if entry.link is not None and not _stays_inside(name, entry.link):
            raise InvalidInput(f"the link {name} leads out of the source tree")


def _imply(tree: _Tree, name: PurePosixPath, implied: set[PurePosixPath]) -> None:
    """Count the directories above an entry that have no entries of their own."""
    for parent in name.parents[:-1]:
        above = tree.get(parent)
        if above is not None and (above.open is not None or above.link is not None):
            raise InvalidInput(f"{name}: {parent} is not a directory")
        if above is not None or parent in implied:
            return  # those above that one are looked at from there
        implied.add(parent)
        if len(tree) + len(implied) > MAX_ENTRIES:
            raise InvalidInput(f"there are more than {MAX_ENTRIES} files and directories")


def _stays_inside(name: PurePosixPath, link: str) -> bool:
    """Whether a link climbs no further than to the tree's root, and only in its beginning.

    A `..` after a name could follow a link to a directory and climb from there.
    """
    parts = PurePosixPath(link).parts
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    return (
        link.isprintable()
        and bool(parts)
        and not link.startswith("/")
        and climbs < len(name.parts)
        and ".." not in parts[climbs:]
    )


@contextmanager
def _read(source: Path) -> Iterator[_Tree]:
    """The entries of a directory or archive, which can be opened until the context ends."""
    if source.is_dir():
        yield _read_directory(source)
        return
    check_plain(source)
    try:
        file = source.open("rb")
    except OSError as error:
        raise InvalidInput(f"cannot read {source}: {error.strerror}") from error
    with ExitStack() as opened:
        opened.enter_context(file)
        start = file.read(4)
        file.seek(0)
        try:
            if start[:2] == b"PK":
                tree = _read_zip(file, opened)
            else:
                tree = _read_tar(file, opened, packed=start[:2] == b"\x1f\x8b")
        except _DAMAGED as error:
            raise InvalidInput(f"the archive cannot be read: {error}") from error
        yield _without_top(tree)


def _without_top(tree: _Tree) -> _Tree:
    tops = {name.parts[0] for name in tree}
    if len(tops) != 1:
        return tree
    top = PurePosixPath(tops.pop())
    entry = tree.get(top)
    if entry is not None and (entry.open is not None or entry.link is not None):
        return tree
    return {name.relative_to(top): entry for name, entry in tree.items() if name != top}


def _put(tree: _Tree, text: str, entry: _Entry) -> None:
    name = PurePosixPath(text)
    if text.startswith("/") or ".." in name.parts or "\\" in text or "\0" in text:
        raise InvalidInput(f"the name {text[:80]!a} leads out of the archive")
    if name.parts:
        tree[name] = entry
    if len(tree) > MAX_ENTRIES:
        raise InvalidInput(f"there are more than {MAX_ENTRIES} files")


def _read_directory(directory: Path) -> _Tree:
    tree: _Tree = {}
    for path, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in _VERSION_CONTROL)
        for name in sorted((*folders, *files)):
            whole = Path(path, name)
            about = whole.lstat()
            mode = about.st_mode
            entry = _Entry()
            if stat.S_ISLNK(mode):
                entry = _Entry(link=str(whole.readlink()))
            elif stat.S_ISREG(mode):
                entry = _Entry(_opener(whole), about.st_size, executable=bool(mode & 0o100))
            elif not stat.S_ISDIR(mode):
                raise InvalidInput(f"{whole} is neither a file nor a directory nor a link")
            _put(tree, whole.relative_to(directory).as_posix(), entry)
    return tree


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


def _read_zip(file: IO[bytes], opened: ExitStack) -> _Tree:
    _check_zip_directory(file)
    archive = opened.enter_context(zipfile.ZipFile(file))
    tree: _Tree = {}
    for info in archive.infolist():
        if not info.filename:
            raise InvalidInput("the archive is damaged: a file has no name")
        if info.flag_bits & 1:
            raise InvalidInput(f"{info.filename} is encrypted")
        if info.compress_type not in _ZIP_METHODS:
            raise InvalidInput(
                f"{info.filename} is compressed by method {info.compress_type}, which cannot be "
                "read here; pack it as plain zip (deflate) or tar.gz"
            )
        mode = info.external_attr >> 16
        if info.is_dir():
            entry = _Entry()
        elif stat.S_ISLNK(mode):
            with _zip_opener(archive, info)() as link:
                entry = _Entry(link=link.read(_MAX_NAME).decode())
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise InvalidInput(f"{info.filename} is neither a file nor a directory nor a link")
        else:
            opener = _zip_opener(archive, info)
            entry = _Entry(opener, info.file_size, executable=bool(mode & 0o100))
        _put(tree, info.filename, entry)
    return tree


def _zip_opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        try:
            return archive.open(info)
        except _DAMAGED as error:
            raise InvalidInput(f"{info.filename!a} is damaged: {error}") from error

    return opened


def _check_zip_directory(file: IO[bytes]) -> None:
    """Refuse an archive whose table of contents, which is read into memory, is too large."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 65_557 - _ZIP64_END))
    end = file.read()
    at = end.rfind(b"PK\5\6")
    if at < 0 or len(end) < at + 22:
        raise InvalidInput("the archive cannot be read: it has no table of contents")
    (directory,) = struct.unpack("<I", end[at + 12 : at + 16])
    if at >= 20 and end[at - 20 : at - 16] == b"PK\6\7":
        # ZIP64: `zipfile` then believes the record before this one alone
        record = end[max(0, at - _ZIP64_END) : at - 20]
        if not record.startswith(b"PK\6\6") or len(record) != _ZIP64_END - 20:
            raise InvalidInput("the archive cannot be read: it has no table of contents")
        (directory,) = struct.unpack("<Q", record[40:48])
    if directory > _MAX_ZIP_DIRECTORY:
        raise InvalidInput(f"there are more than {MAX_ENTRIES} files")
    file.seek(0)


def _read_tar(file: IO[bytes], opened: ExitStack, *, packed: bool) -> _Tree:
    plain = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (entered)
    stream: IO[bytes] = gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[assignment]
    size = 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > _MAX_TAR:
            raise InvalidInput(f"the archive inflates to more than {format_size(MAX_TREE_BYTES)}")
        # How large it becomes only its end tells.
        check_room(Path(tempfile.gettempdir()), "the next part of the archive", len(chunk))
        with told_when_full(_WRITTEN):
            plain.write(chunk)
    tree: _Tree = {}
    for info in read_members(plain, MAX_ENTRIES):
        if info.issym():
            entry = _Entry(link=info.linkname)
        elif info.isdir():
            entry = _Entry()
        elif info.islnk():
            entry = _linked(tree, info)
        else:
            opener = _tar_opener(plain, info)
            entry = _Entry(opener, info.size, executable=bool(info.mode & 0o100))
        _put(tree, info.name, entry)
    return tree


def _tar_opener(plain: IO[bytes], info: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    start, size = info.offset_data, info.size
    return lambda: open_part(plain, start, size)


def _linked(tree: _Tree, info: tarfile.TarInfo) -> _Entry:
    """What a hard link is another name of: an entry before it, itself never a hard link."""
    entry = tree.get(PurePosixPath(posixpath.normpath(info.linkname)))
    if entry is None:
        raise InvalidInput(f"{info.name} is a link to a file that is not there")
    if entry.open is None and entry.link is None:
        raise InvalidInput(f"{info.name} is a link to something that is no file")
    return entry

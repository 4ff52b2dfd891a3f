"""Members of tar archives, read without trusting their headers.

`tarfile` reads headers of any length whole, keeps every member with its own copy of what extended
headers say, follows sizes that lead back, and looks for the target of a hard link among all
members: a small archive takes hours, or all memory. Here one header is in memory at a time, each
lies behind the one before, and their number, length and names are bounded.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from typing import IO, Any

from searchspace.errors import InvalidInput
from searchspace.units import format_size

__all__ = ["open_part", "read_members"]

_HEADERS = 4
"""Most headers for each member: its own, an extended one, a long name and a long link."""
_RECORDS = 20
"""Most records of extended headers for each member: names, times, owners, attributes."""
_MAX_EXTENSION = 1 << 20
_MAX_NAMES = 16 << 20

_BLOCK = tarfile.BLOCKSIZE
_PATH, _LINK, _SIZE = b"path", b"linkpath", b"size"
_SPARSE, _SPARSE_NAME = b"GNU.sparse.", b"GNU.sparse.name"
_USED = frozenset({_PATH, _LINK, _SIZE, _SPARSE_NAME})
_LONG = {tarfile.GNUTYPE_LONGNAME: _PATH, tarfile.GNUTYPE_LONGLINK: _LINK}
_EXTENSIONS = frozenset({*_LONG, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.XGLTYPE})
_AGAIN = "pack the source tree again as a plain tar.gz"

_Said = dict[bytes, bytes]
"""What extended headers say of one member."""


def read_members(file: IO[bytes], most: int) -> Iterator[tarfile.TarInfo]:
    """The files, directories, symbolic and hard links of an archive, in its order.

    Args:
        file: The archive, uncompressed.
        most: How many members it may have, roughly: it is a bound for work, not for the tree.

    Raises:
        InvalidInput: It is damaged, its headers exceed what that many members need, or it holds
            a device, a pipe, a sparse file or what is unknown.
    """
    reader = _Reader(file, most)
    said: _Said = {}
    while (info := reader.header()) is not None:
        if info.type in _EXTENSIONS:
            said = reader.extension(info) | said  # of two names the first holds, as in `tarfile`
        else:
            _apply(info, said)
            said = {}
            reader.pass_content(info)
            yield info
    if said:
        raise InvalidInput("the archive is damaged: it ends with the header of a missing file")


def open_part(file: IO[bytes], start: int, size: int) -> IO[bytes]:
    """The bytes of a file from `start` on, as a file of their own that leaves the other open."""
    return io.BufferedReader(_Part(file, start, size))


class _Reader:
    """Reads headers one after the other, and counts what they cost."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        self._file = file
        self._end = file.seek(0, os.SEEK_END)
        self._at = 0
        self._most = most
        self._headers = _HEADERS * most
        self._records = _RECORDS * most
        self._names = _MAX_NAMES

    def header(self) -> tarfile.TarInfo | None:
        """The next header, whatever it is of; None at the end of the archive."""
        self._file.seek(self._at)
        block = self._file.read(_BLOCK)
        if not block.strip(b"\0") and (self._at or len(block) == _BLOCK):
            return None
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            if self._at == 0:
                raise InvalidInput(
                    "the archive cannot be read: it is neither tar, tar.gz nor zip; "
                    "pack the source tree as one of these"
                ) from error
            raise InvalidInput(
                f"the archive is damaged: there is no header at byte {self._at}"
            ) from error
        self._headers -= 1
        self._check_work()
        self._at += _BLOCK
        info.offset_data = self._at
        return info

    def extension(self, info: tarfile.TarInfo) -> _Said:
        """What an extended header says of the member after it."""
        if info.size > _MAX_EXTENSION:
            raise InvalidInput(
                f"the archive cannot be read: a header is too large ({format_size(info.size)}, "
                f"at most {format_size(_MAX_EXTENSION)}); {_AGAIN}"
            )
        self._skip(info.size)
        self._file.seek(info.offset_data)
        content = self._file.read(info.size)
        if info.type in _LONG:
            return {_LONG[info.type]: content.partition(b"\0")[0]}
        said: _Said = {}
        for keyword, value in _records(content):
            self._records -= 1
            self._check_work()
            if keyword in _USED:
                said[keyword] = value
            if keyword.startswith(_SPARSE):
                said[_SPARSE] = b""  # one mark for all of them, which may be thousands
        if said and info.type == tarfile.XGLTYPE:
            raise InvalidInput(
                f"the archive cannot be read: a global header names or measures all files; {_AGAIN}"
            )
        return said

    def pass_content(self, info: tarfile.TarInfo) -> None:
        """Go on behind the content of a member; only regular files have one."""
        self._names -= len(info.name) + len(info.linkname)
        if self._names < 0:
            raise InvalidInput(
                f"the names of all files together exceed {format_size(_MAX_NAMES)}; "
                "leave out what the build does not need"
            )
        if info.isreg():
            self._skip(info.size)

    def _skip(self, size: int) -> None:
        # a negative size would lead back, to read the same headers for ever
        if not 0 <= size <= self._end - self._at:
            raise InvalidInput(
                f"the archive is damaged: {size} bytes that the header at byte "
                f"{self._at - _BLOCK} announces are not there; make or fetch it again"
            )
        self._at += -(-size // _BLOCK) * _BLOCK

    def _check_work(self) -> None:
        if self._headers < 0 or self._records < 0:
            raise InvalidInput(
                f"the archive cannot be read: it has more headers than {self._most} files need; "
                f"{_AGAIN}"
            )


def _records(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keywords and values of a pax header: `LENGTH KEYWORD=VALUE` and the end of the line each."""
    at = 0
    while at < len(content) and content[at]:
        blank = content.find(b" ", at, at + 20)
        length = content[at : max(at, blank)]
        end = at + int(length) if length.isdigit() else 0
        keyword, equals, value = content[blank + 1 : max(0, end - 1)].partition(b"=")
        if not keyword or not equals or content[end - 1 : end] != b"\n":
            raise InvalidInput("the archive is damaged: an extended header cannot be read")
        yield keyword, value
        at = end


def _apply(info: tarfile.TarInfo, said: _Said) -> None:
    """Give a member what its extended headers say of it, and refuse what is in no source tree."""
    if (name := said.get(_SPARSE_NAME, said.get(_PATH))) is not None:
        info.name = name.decode("utf-8", "surrogateescape")
    if _LINK in said:
        info.linkname = said[_LINK].decode("utf-8", "surrogateescape")
    if _SIZE in said:
        size = said[_SIZE]
        if not size.isdigit() or len(size) > 20:
            raise InvalidInput(f"the archive is damaged: {info.name} has no size")
        info.size = int(size)
    if info.type == tarfile.GNUTYPE_SPARSE or _SPARSE in said:
        raise InvalidInput(f"{info.name} is stored as a sparse file; pack it without --sparse")
    if not (info.isreg() or info.isdir() or info.issym() or info.islnk()):
        raise InvalidInput(f"{info.name} is neither a file nor a directory nor a link")


class _Part(io.RawIOBase):
    """Some bytes of a file that others read too."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file = file
        self._at = start
        self._end = start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        chunk = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(chunk)] = chunk
        self._at += len(chunk)
        return len(chunk)

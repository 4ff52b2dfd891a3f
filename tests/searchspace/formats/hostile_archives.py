"""Archives written block by block, as no tool does it, and packing in little memory."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

MIB = 1 << 20

_PACK = """
import resource, sys
from pathlib import Path
from searchspace.errors import InvalidInput
from searchspace.formats.source_archive import pack

source, target, more = sys.argv[1:]
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(more), used + int(more)))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
try:
    pack(Path(source), Path(target))
except InvalidInput as error:
    print(error)
"""


def pack_within(memory: int, source: Path) -> str:
    """What `pack` refuses an archive with, nothing if it packs it; in so many more bytes."""
    done = subprocess.run(
        [sys.executable, "-c", _PACK, source, source.with_name("packed"), str(memory)],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-300:]
    return done.stdout


def header(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, link: str = "") -> bytes:
    """A header of a tar archive, whatever it says."""
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, size, link
    return info.tobuf(tarfile.GNU_FORMAT)


def member(name: str, kind: bytes, content: bytes) -> bytes:
    """A header and what belongs to it."""
    return header(name, kind, len(content)) + content + bytes(-len(content) % 512)


def extended(records: Iterable[tuple[str, str]], kind: bytes = tarfile.XHDTYPE) -> bytes:
    """A pax header, of the member after it or of all."""
    content = b""
    for keyword, value in records:
        rest = f" {keyword}={value}\n".encode()
        length = len(rest) + 1
        while len(str(length)) + len(rest) != length:
            length += 1
        content += str(length).encode() + rest
    return member("extended", kind, content)


def write(path: Path, *blocks: bytes, zeros: int = 0) -> Path:
    """An archive of these blocks, and before its end so many zeros, which take no disk."""
    with path.open("wb") as file:
        file.writelines(blocks)
        file.truncate(file.tell() + zeros + 1024)
    return path

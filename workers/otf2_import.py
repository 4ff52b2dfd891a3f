"""Imports OTF2 archives: their library, which may fall over strange ones, runs in a sandbox."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from searchspace.errors import InvalidInput
from searchspace.formats.plain_file import check_plain
from searchspace.formats.trace import RankFile, TraceHeader, write_checked_trace
from workers.capture_limits import Limits
from workers.capture_sandbox import CaptureFailed, Sandbox

__all__ = ["Imported", "find_anchor", "import_otf2"]

_ROOT = Path(__file__).resolve().parent.parent
_MODULE = "searchspace.formats.otf2_archive"
_RESULT = "result.json"
_MOST_RESULT = 64 << 20
_LIMITS = Limits(memory_bytes=8 << 30, processes=64, file_bytes=2 << 30, disk_bytes=4 << 30)


@dataclass(frozen=True)
class Imported:
    """A trace that was written, and what of the archive it says nothing about.

    Attributes:
        header: Of the trace.
        ignored: How many events of each kind left nothing.
    """

    header: TraceHeader
    ignored: dict[str, int]


def find_anchor(path: Path) -> Path | None:
    """The `.otf2` file of an archive: the path itself, or the only one in a directory.

    Raises:
        InvalidInput: The directory has several.
    """
    if not path.is_dir():
        return path if path.suffix == ".otf2" else None
    anchors = sorted(path.glob("*.otf2"))
    if len(anchors) > 1:
        raise InvalidInput(f"{path} holds several archives; name the .otf2 file of one")
    return anchors[0] if anchors else None


def import_otf2(anchor: Path, output: Path, *, host_speed: float, sandbox: bool = True) -> Imported:
    """Write the trace that an OTF2 archive holds.

    Args:
        anchor: Its `.otf2` file.
        output: The trace to write.
        host_speed: Flop/s that turn the seconds between MPI calls into flops.
        sandbox: Whether bubblewrap shuts the library in. Its limits hold either way.

    Raises:
        InvalidInput: The archive is damaged, or holds what no trace can.
        CaptureFailed: Reading it met a limit, or bubblewrap cannot run here.
    """
    packages = find_spec("otf2")
    if packages is None or packages.origin is None:
        raise InvalidInput(
            "OTF2 archives cannot be read here: the Python package otf2 is not installed "
            "(it comes with requirements.lock)"
        )
    site = Path(packages.origin).resolve().parent.parent
    anchor = anchor.resolve()
    for file in _archive(anchor):
        check_plain(file)
    own = (Path(sys.base_prefix), site, _ROOT / "searchspace", anchor.parent)
    readable = tuple(path.resolve() for path in own if not path.resolve().is_relative_to("/usr"))
    with Sandbox.temporary(readable, _LIMITS, confined=sandbox) as box:
        command = [str(Path(sys.executable).resolve()), "-P", "-s", "-B", "-m", _MODULE]
        command += [str(anchor), repr(host_speed), str(box.workspace)]
        environment = {"PYTHONPATH": f"{site}:{_ROOT}"}
        status = box.run(command, environment)
        if status < 0 or status > 128:
            raise InvalidInput(f"{anchor.name}: the OTF2 library crashed on this archive")
        if status:
            raise CaptureFailed(f"{anchor.name} could not be read", box.log())
        result = _result(box.workspace, anchor)
        if "refused" in result:
            raise InvalidInput(f"{anchor.name}: {result['refused']}")
        counts = result["operations"]
        files = [_rank_file(box.workspace, rank, int(count)) for rank, count in enumerate(counts)]
        header = TraceHeader(
            ranks=len(files),
            program=anchor.stem or "trace",
            captured_by="OTF2 archive",
            host_speed=host_speed,
        )
        ignored = {str(name): int(count) for name, count in result["ignored"].items()}
        return Imported(write_checked_trace(output, header, files), ignored)


def _archive(anchor: Path) -> list[Path]:
    """The files of an archive: its anchor, its definitions, and those in the folder beside them."""
    folder = anchor.with_suffix("")
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    return [anchor, anchor.with_suffix(".def"), *inside]


def _result(workspace: Path, anchor: Path) -> dict[str, Any]:
    path = workspace / _RESULT
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_RESULT:
        raise InvalidInput(f"{anchor.name}: the OTF2 library left no result")
    result: dict[str, Any] = json.loads(path.read_text())
    return result


def _rank_file(workspace: Path, rank: int, operations: int) -> RankFile:
    path = workspace / f"rank-{rank}.operations"
    if path.is_symlink() or not path.is_file():
        raise InvalidInput(f"the OTF2 library left no operations of rank {rank}")
    return RankFile(path, operations)

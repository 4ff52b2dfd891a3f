"""Puts the files that the ranks of a recorded run left together into one trace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from searchspace.errors import InvalidInput
from searchspace.formats.measured import Measured, parse_end
from searchspace.formats.operations import encode
from searchspace.formats.plain_file import check_plain
from searchspace.formats.trace import (
    MAX_RANKS,
    MAX_TEXT,
    RankFile,
    TraceHeader,
    write_checked_trace,
)

__all__ = ["merge"]

_RUN = re.compile(r"ranks (\d{1,9})\nspeed ([0-9.e+-]{1,40})\nlibrary ([^\n]*)\n", re.ASCII)
_MOST_BYTES = 1 << 18
_MOST_END = 200
_MOST_REASON = 2000
_SHOWN = 8
_FINALIZE = encode("finalize")
_AGAIN = "copy the files again from where the rank ran, or record the run again"
# What the reader of traces says of one rank's operations, and of ranks that disagree.
_DAMAGED = re.compile(r"rank (\d+) of the trace: (.*)", re.ASCII)
_DISAGREEING = re.compile(r"rank \d+, ", re.ASCII)


@dataclass(frozen=True)
class _Run:
    """What one rank says of the run it was part of."""

    ranks: int
    speed: float
    library: str
    command: tuple[str, ...]


def merge(directory: Path, output: Path) -> TraceHeader:
    """Merge a recording and write its trace.

    Args:
        directory: What HAMTUNE_RECORD_DIRECTORY named in the run.
        output: The trace to write.

    Returns:
        The header of the trace.

    Raises:
        InvalidInput: The recording is not whole: the recorder refused the run, ranks are missing or
            did not finish, files are damaged, or those of several runs stand together. The message
            names the ranks.
    """
    if not directory.is_dir():
        raise InvalidInput(f"there is no directory {directory}")
    refused = directory / "refused"
    if refused.exists():
        with _open(refused) as file:
            reason = file.read(_MOST_REASON).decode(errors="replace")
        raise InvalidInput(f"the run was not recorded: {reason}")
    found = sorted(
        int(match[1])
        for path in directory.iterdir()
        if (match := re.fullmatch(r"rank-(\d{1,6})\.run", path.name, re.ASCII))
    )
    if not found:
        raise InvalidInput(
            f"{directory} holds no recording: was the program run with LD_PRELOAD naming the "
            "recorder and HAMTUNE_RECORD_DIRECTORY naming this directory?"
        )
    first = _common_run(directory, found)
    _check_ranks(directory, found, first.ranks)
    files = [_rank_file(directory, rank) for rank in range(first.ranks)]
    try:
        header = TraceHeader(
            ranks=first.ranks,
            program=Path(first.command[0]).name or "program" if first.command else "program",
            arguments=first.command[1:],
            captured_by=first.library,
            host_speed=first.speed,
            measured=Measured.together([file.measured for file in files]),
        )
    except ValidationError as error:
        path = _run(directory, found[0])
        raise InvalidInput(
            f"{path} says what no trace can hold: it is damaged, or the program has an argument of "
            f"more than {MAX_TEXT} characters; {_AGAIN}"
        ) from error
    try:
        return write_checked_trace(output, header, files)
    except InvalidInput as error:
        if damaged := _DAMAGED.match(error.message):
            path = _operations(directory, int(damaged[1]))
            raise InvalidInput(
                f"the recording of rank {damaged[1]} is damaged: {path}: {damaged[2]}; {_AGAIN}"
            ) from error
        if _DISAGREEING.match(error.message):
            raise InvalidInput(
                f"the ranks recorded in {directory} do not fit together: {error.message}; files "
                f"may be damaged or of another run: {_AGAIN}"
            ) from error
        raise


def _common_run(directory: Path, ranks: Sequence[int]) -> _Run:
    """The run that all of these ranks were part of.

    Raises:
        InvalidInput: There is none.
    """
    first = _read_run(directory, ranks[0])
    for rank in ranks[1:]:
        other = _read_run(directory, rank)
        if (other.ranks, other.library) != (first.ranks, first.library):
            raise InvalidInput(f"ranks {ranks[0]} and {rank} come from different runs")
        if other.speed != first.speed:
            raise InvalidInput(
                f"ranks {ranks[0]} and {rank} were recorded with different host speeds"
            )
    return first


def _read_run(directory: Path, rank: int) -> _Run:
    path = _run(directory, rank)
    with _open(path) as file:
        data = file.read(_MOST_BYTES)
    text = data.decode(errors="replace")
    match = _RUN.match(text)
    if match is None:
        raise InvalidInput(f"{path} is damaged, or two runs wrote to one directory; {_AGAIN}")
    command = text[match.end() :].split("\0")
    try:
        ranks, speed = int(match[1]), float(match[2])
    except ValueError as error:
        raise InvalidInput(f"{path} is damaged: {match[2]!r} is no speed; {_AGAIN}") from error
    if not 1 <= ranks <= MAX_RANKS:
        raise InvalidInput(f"{path}: a trace has from 1 to {MAX_RANKS} ranks, not {ranks}")
    return _Run(ranks, speed, match[3], tuple(command[:-1]))


def _check_ranks(directory: Path, found: list[int], ranks: int) -> None:
    if found[-1] >= ranks:
        raise InvalidInput(f"rank {found[-1]} comes from another run, one of more than {ranks}")
    present = set(found)
    missing = [rank for rank in range(ranks) if rank not in present]
    unfinished = [rank for rank in found if not _count(directory, rank).exists()]
    parts = []
    if missing:
        parts.append(f"of {ranks} ranks {_listed(missing)} left no file")
    if unfinished:
        parts.append(f"{_listed(unfinished)} did not reach MPI_Finalize")
    if parts:
        raise InvalidInput(f"the recording in {directory} is not whole: {'; '.join(parts)}")


def _rank_file(directory: Path, rank: int) -> RankFile:
    path, counted = _operations(directory, rank), _count(directory, rank)
    with _open(counted) as file:
        end = parse_end(file.read(_MOST_END))
    check_plain(path)
    if not path.is_file():
        raise InvalidInput(f"the recording has no file {path}; {_AGAIN}")
    size = path.stat().st_size
    if not size:
        raise InvalidInput(f"the recording of rank {rank} is empty: {path} has no bytes; {_AGAIN}")
    # An operation has a byte at least.
    if end is None or not 0 < end[0] <= size:
        raise InvalidInput(
            f"the recording of rank {rank} is damaged: {counted} does not say how many operations "
            f"{path.name} has, or two runs wrote to it; {_AGAIN}"
        )
    with _open(path) as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != _FINALIZE:
            raise InvalidInput(
                f"the recording of rank {rank} is damaged: {path}: its last operation is not "
                f"finalize; {_AGAIN}"
            )
    return RankFile(path, *end)


def _open(path: Path) -> BinaryIO:
    check_plain(path)
    return path.open("rb")


def _run(directory: Path, rank: int) -> Path:
    return directory / f"rank-{rank}.run"


def _operations(directory: Path, rank: int) -> Path:
    return directory / f"rank-{rank}.operations"


def _count(directory: Path, rank: int) -> Path:
    return directory / f"rank-{rank}.operations.count"


def _listed(ranks: Iterable[int]) -> str:
    numbers = list(map(str, ranks))
    more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
    return f"{'rank' if len(numbers) == 1 else 'ranks'} {', '.join(numbers[:_SHOWN])}{more}"

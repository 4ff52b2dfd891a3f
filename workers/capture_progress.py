"""How far a run under SMPI is, as its ranks say in a file beside their recordings.

The program could write to that file too, so what it says is shown and believed no further. Its
layout is that of `recorder/smpi_run.c`.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

__all__ = [
    "FILE",
    "Progress",
    "RankProgress",
    "State",
    "read_progress",
    "recording_of",
    "runs_so_far",
    "who_waits",
]

FILE = "progress"
"""Its name in the directory of a recording."""

_MAGIC = b"HAMTRUN1"
_RUN = struct.Struct("<8sIIIIQ32x")
_RANK = struct.Struct("<QdI44s")
_CALL = re.compile(r"[A-Za-z_]\w*(::\w+)?")
_POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe")
_MOST_GROUPS = 6


class State(IntEnum):
    """What a rank is at."""

    NOT_BEGUN = 0
    COMPUTES = 1
    IN_CALL = 2
    SLEEPS = 3
    ENDED = 4


@dataclass(frozen=True)
class RankProgress:
    """How far a rank is.

    Attributes:
        operations: How many it has recorded.
        clock: Its simulated time at its last call, s.
        state: What it is at.
        call: Its last call; empty before the first.
    """

    operations: int
    clock: float
    state: State
    call: str

    def shown(self, *, over: bool = False) -> str:
        """What it does, or did last where the run is over, as words that follow `is`."""
        if self.state == State.NOT_BEGUN:
            return "not in MPI_Init yet"
        if self.state == State.ENDED:
            return "past MPI_Finalize"
        if self.state == State.COMPUTES and over:
            return "gone without MPI_Finalize"
        if self.state == State.COMPUTES:
            return f"computing after {self.call}" if self.call else "computing after MPI_Init"
        if self.call.startswith(_POLLS):
            return f"polling with {self.call}"
        return f"waiting in {self.call or 'MPI_Init'}"


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        ranks: What each rank says.
        stuck: Whether they have found that nobody gets on.
    """

    ranks: tuple[RankProgress, ...]
    stuck: bool

    @property
    def operations(self) -> int:
        """Recorded by all ranks."""
        return sum(rank.operations for rank in self.ranks)

    @property
    def ended(self) -> int:
        """Ranks that have called MPI_Finalize."""
        return sum(rank.state == State.ENDED for rank in self.ranks)

    @property
    def clock(self) -> float:
        """The latest simulated time, s."""
        return max((rank.clock for rank in self.ranks), default=0.0)


def read_progress(recording: Path, ranks: int) -> Progress | None:
    """How far a run is; None before any rank is in MPI_Init.

    Args:
        recording: The directory of the recording.
        ranks: How many were started.
    """
    # The program runs and may put anything here at any moment, such as a pipe that would be waited
    # for: what is looked at is what was opened.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(recording / FILE, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(_RUN.size + ranks * _RANK.size)
    except OSError:
        return None
    if len(data) < _RUN.size + ranks * _RANK.size:
        return None
    magic, _, _, stuck, _, _ = _RUN.unpack_from(data)
    if magic != _MAGIC:
        return None
    return Progress(tuple(map(_rank, _RANK.iter_unpack(data[_RUN.size :]))), bool(stuck))


def recording_of(directory: Path, run: int) -> Path:
    """Where a run of a capture leaves its recording.

    Args:
        directory: Of the sandbox.
        run: Its number, from 0.
    """
    return directory / f"recording-{run}"


def runs_so_far(directory: Path, runs: int, ranks: int) -> dict[str, Any] | None:
    """How far a capture is, as a document; None before any rank is in MPI_Init.

    Args:
        directory: Of the sandbox.
        runs: How many there will be.
        ranks: How many each is started on.

    Returns:
        `run` (from 1) of `runs`, `operations` recorded in it so far, `ranks_ended` of `ranks`, and
        the latest simulated time, `simulated_seconds`.
    """
    for run in reversed(range(runs)):
        progress = read_progress(recording_of(directory, run), ranks)
        if progress is not None:
            return {
                "run": run + 1,
                "runs": runs,
                "operations": progress.operations,
                "ranks_ended": progress.ended,
                "ranks": ranks,
                "simulated_seconds": progress.clock,
            }
    return None


def who_waits(progress: Progress, *, over: bool = False) -> str:
    """What the ranks that have not ended are at, in a line.

    Args:
        progress: Of the run.
        over: Whether it ended because nobody could go on.
    """
    there = [
        (number, rank.shown(over=over))
        for number, rank in enumerate(progress.ranks)
        if rank.state != State.ENDED
    ]
    if not there:
        return "all ranks are past MPI_Finalize"
    groups = list(_groups(there))
    shown = [f"{_span(first, last)} {what}" for first, last, what in groups[:_MOST_GROUPS]]
    left = sum(last - first + 1 for first, last, _ in groups[_MOST_GROUPS:])
    return ", ".join(shown) + (f", and {left} more" if left else "")


def _rank(fields: tuple[int, float, int, bytes]) -> RankProgress:
    operations, clock, state, call = fields
    name = call.split(b"\0")[0].decode("ascii", "replace")
    return RankProgress(
        operations,
        clock if clock >= 0 else 0.0,
        State(state) if state in set(State) else State.COMPUTES,
        name if _CALL.fullmatch(name) else "",
    )


def _groups(there: list[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Runs of ranks that do the same: first, last, what."""
    keyed = itertools.groupby(enumerate(there), key=lambda item: (item[1][0] - item[0], item[1][1]))
    for (_, what), items in keyed:
        numbers = [number for _, (number, _) in items]
        yield numbers[0], numbers[-1], what


def _span(first: int, last: int) -> str:
    return f"rank {first} is" if first == last else f"ranks {first} to {last} are"

"""Reads an OTF2 archive and leaves the operations of its MPI ranks, one file a rank.

The library behind it is not made for archives of strangers, so this runs as a process of its own
(`workers.otf2_import`), which imports nothing of ours but the few modules beside it:
`python -m searchspace.formats.otf2_archive ARCHIVE.otf2 FLOP/S DIRECTORY`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import _otf2
import otf2.error
import otf2.reader
from otf2.enums import GroupType, LocationType, Paradigm

from searchspace.errors import InvalidInput
from searchspace.formats.otf2_communicators import Communicator, Communicators
from searchspace.formats.otf2_rank import MPI_EVENTS, Rank

__all__ = ["MAX_EVENTS", "RESULT", "convert"]

RESULT = "result.json"
"""What the process leaves beside the files of the ranks: what it found, or why it did not."""
MAX_EVENTS = 100_000_000
_MAX_RANKS = 65_536
_SHOWN = 8
_SILENT = ("ProgramBegin", "ProgramEnd", "CommCreate", "CommDestroy")


def convert(anchor: Path, host_speed: float, directory: Path) -> dict[str, Any]:
    """Write `rank-N.operations` for each MPI rank of an archive.

    Args:
        anchor: The archive's `.otf2` file.
        host_speed: Flop/s that turn the seconds between MPI calls into flops.
        directory: Where the files go.

    Returns:
        `operations` of each rank, and `ignored`: events that leave nothing, by name.

    Raises:
        InvalidInput: The archive cannot be read, or holds what no trace can.
    """
    try:
        with closing(otf2.reader.Reader(str(anchor), batch_events=10_000)) as reader:
            archive = _Archive(reader, host_speed)
            archive.read(reader)
    except (_otf2.Error, otf2.error.TraceReaderError, KeyError, IndexError, TypeError) as error:
        raise InvalidInput(f"the archive is damaged or not whole: {_reason(error)}") from error
    return archive.write(directory)


class _Archive:
    """The ranks of an archive and what has been read of them."""

    def __init__(self, reader: Any, host_speed: float) -> None:
        definitions = reader.definitions
        resolution = definitions.clock_properties.timer_resolution
        if resolution <= 0:
            raise InvalidInput("the archive's clock has no resolution")
        self._world = _world(definitions)
        numbers = {location: number for number, location in enumerate(self._world)}
        self._communicators = Communicators(len(self._world))
        self._used: dict[tuple[Any, int | None], Communicator] = {}
        self._numbers = numbers
        self._ranks = [
            Rank(number, host_speed / resolution, partial(self._communicator, number))
            for number in range(len(self._world))
        ]
        self._functions: dict[Any, str | None] = {}
        self._read: Counter[Any] = Counter()
        self.ignored: Counter[str] = Counter()

    def read(self, reader: Any) -> None:
        """Read all events.

        Raises:
            InvalidInput: What is wrong, with the rank and the time.
        """
        threads = [
            location
            for location in reader.definitions.locations
            if location in self._numbers or location.type == LocationType.CPU_THREAD
        ]
        declared = sum(location.number_of_events for location in threads)
        if declared > MAX_EVENTS:
            raise InvalidInput(f"the archive has {declared} events; at most {MAX_EVENTS} are read")
        for location, event in reader.events(threads):
            self._read[location] += 1
            number = self._numbers.get(location)
            try:
                self._event(number, type(event).__name__, event)
            except InvalidInput as error:
                where = f"rank {number}" if number is not None else f"thread {location.name}"
                raise InvalidInput(f"{where}, tick {event.time}: {error.message}") from error
        short = [
            f"{location.name}: {self._read[location]} of {location.number_of_events}"
            for location in threads
            if self._read[location] != location.number_of_events
        ]
        if short:
            raise InvalidInput(
                f"the archive lacks events ({', '.join(short[:_SHOWN])}): truncated?"
            )
        self._communicators.check_ended()

    def write(self, directory: Path) -> dict[str, Any]:
        """Write what was read."""
        for rank in self._ranks:
            try:
                parts = rank.end(self._communicators.making(rank.number))
                with (directory / f"rank-{rank.number}.operations").open("wb") as file:
                    for part in parts:
                        file.write(part)
            except InvalidInput as error:
                raise InvalidInput(f"rank {rank.number} {error.message}") from error
        operations = [rank.operations for rank in self._ranks]
        return {"operations": operations, "ignored": dict(sorted(self.ignored.items()))}

    def _event(self, number: int | None, name: str, event: Any) -> None:
        if number is None:
            if name in MPI_EVENTS:
                raise InvalidInput(f"{name} of a thread that is no MPI rank")
            return
        rank = self._ranks[number]
        if name in ("Enter", "CallingContextEnter"):
            region = event.region if name == "Enter" else event.calling_context.region
            rank.enter(event.time, self._function(region))
        elif name in ("Leave", "CallingContextLeave"):
            rank.leave(event.time)
        elif name in MPI_EVENTS:
            rank.mpi(name, event)
        elif name == "BufferFlush":
            rank.paused(event.time, event.stop_time)
        elif name == "MeasurementOnOff" or name.startswith("Rma"):
            raise InvalidInput(f"{name} is not supported in a trace")
        elif name not in _SILENT:
            self.ignored[name] += 1

    def _function(self, region: Any) -> str | None:
        """The MPI function of a region, in capitals, without the brackets that some tools add."""
        if region not in self._functions:
            name = region.name.upper().partition("(")[0].strip().rstrip("_")
            is_mpi = region.paradigm == Paradigm.MPI or name.startswith("MPI_")
            self._functions[region] = name if is_mpi else None
        return self._functions[region]

    def _communicator(self, rank: int, comm: Any) -> Communicator:
        group = getattr(comm, "group", None)
        if group is None:
            raise InvalidInput("an intercommunicator is not supported in a trace")
        own = group.group_type == GroupType.COMM_SELF
        key = (comm, rank if own else None)
        if key not in self._used:
            if own:
                self._used[key] = self._communicators.own(rank)
            else:
                members = [self._numbers.get(member, -1) for member in group.members]
                if -1 in members:
                    raise InvalidInput(
                        f"communicator {comm.name} has members that are no MPI ranks"
                    )
                self._used[key] = self._communicators.add(comm.name, members)
        return self._used[key]


def _world(definitions: Any) -> Sequence[Any]:
    """The locations of the MPI ranks, in their order."""
    groups = [
        group
        for group in definitions.groups
        if group.group_type == GroupType.COMM_LOCATIONS and group.paradigm == Paradigm.MPI
    ]
    if not groups or not groups[0].members:
        raise InvalidInput("the archive holds no MPI program: it names no MPI ranks")
    members: Sequence[Any] = groups[0].members
    if len(members) > _MAX_RANKS:
        raise InvalidInput(f"a trace has at most {_MAX_RANKS} ranks, not {len(members)}")
    return members


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def main() -> None:
    """Convert the archive of the command line and leave the result in its directory."""
    anchor, speed, directory = Path(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
    try:
        result = convert(anchor, speed, directory)
    except InvalidInput as error:
        result = {"refused": error.message}
    (directory / RESULT).write_text(json.dumps(result))


if __name__ == "__main__":
    main()

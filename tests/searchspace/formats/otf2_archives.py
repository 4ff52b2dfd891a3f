"""Writes OTF2 archives with the library's writer, as Score-P would of the same run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import otf2
from otf2.enums import CollectiveOp, GroupType, LocationType, Paradigm

from searchspace.formats.operations import Operation, decode
from searchspace.formats.trace import read_header, read_operations

CALL_TICKS = 7  # what a call takes; not computation
NO_ROOT = (1 << 32) - 1


class RankWriter:
    """Writes the events of one rank; time passes in ticks."""

    def __init__(self, archive: ArchiveWriter, number: int, writer: Any) -> None:
        self.archive = archive
        self.number = number
        self.writer = writer
        self.now = 1000 * number  # ranks do not begin together
        self.requests = 0

    def compute(self, ticks: int) -> None:
        """Let time pass outside of MPI."""
        self.now += ticks

    @contextmanager
    def call(self, function: str) -> Iterator[Any]:
        """Everything inside happens in this function; gives the library's writer."""
        region = self.archive.region(function)
        self.writer.enter(self.now, region)
        self.now += CALL_TICKS
        yield self.writer
        self.writer.leave(self.now, region)

    def empty_call(self, function: str) -> None:
        """A function in which nothing is recorded."""
        with self.call(function):
            pass

    def send(self, to: int, tag: int, length: int, comm: Any, function: str = "MPI_Send") -> None:
        """A blocking send."""
        with self.call(function) as writer:
            writer.mpi_send(self.now, to, comm, tag, length)

    def recv(self, source: int, tag: int, length: int, comm: Any) -> None:
        """A blocking receive."""
        with self.call("MPI_Recv") as writer:
            writer.mpi_recv(self.now, source, comm, tag, length)

    def isend(self, to: int, tag: int, length: int, comm: Any, function: str = "MPI_Isend") -> int:
        """Start a send; gives its request."""
        self.requests += 1
        with self.call(function) as writer:
            writer.mpi_isend(self.now, to, comm, tag, length, self.requests)
        return self.requests

    def irecv(self) -> int:
        """Start a receive; gives its request."""
        self.requests += 1
        with self.call("MPI_Irecv") as writer:
            writer.mpi_irecv_request(self.now, self.requests)
        return self.requests

    def collective(
        self, name: str, comm: Any, sent: int, received: int, root: int = NO_ROOT
    ) -> None:
        """A collective."""
        with self.call(f"MPI_{name.capitalize()}") as writer:
            writer.mpi_collective_begin(self.now)
            operation = getattr(CollectiveOp, name.upper())
            writer.mpi_collective_end(self.now, operation, comm, root, sent, received)


class ArchiveWriter:
    """An archive under way: `world` is its communicator, `ranks` write the events."""

    def __init__(self, trace: Any, ranks: int) -> None:
        self.trace = trace
        self.definitions = trace.definitions
        self.node = self.definitions.system_tree_node("node")
        locations = []
        self.ranks: list[RankWriter] = []
        for number in range(ranks):
            writer = self.thread(number)
            locations.append(writer._location)
            self.ranks.append(RankWriter(self, number, writer))
        self.locations = locations
        self.definitions.group(
            "MPI ranks",
            group_type=GroupType.COMM_LOCATIONS,
            paradigm=Paradigm.MPI,
            members=locations,
        )
        self.world = self.comm("MPI_COMM_WORLD", range(ranks))

    def thread(self, rank: int, kind: Any = LocationType.CPU_THREAD, name: str = "thread 0") -> Any:
        """The library's writer of a location of a rank's process."""
        process = self.definitions.location_group(f"rank {rank}", system_tree_parent=self.node)
        return self.trace.event_writer(f"{name} of {rank}", type=kind, group=process)

    def comm(self, name: str, members: Sequence[int]) -> Any:
        """A communicator of these ranks."""
        group = self.definitions.group(
            name,
            group_type=GroupType.COMM_GROUP,
            paradigm=Paradigm.MPI,
            members=[self.locations[member] for member in members],
        )
        return self.definitions.comm(name, group=group)

    def region(self, name: str) -> Any:
        """A region; those of MPI are known by their names."""
        paradigm = Paradigm.MPI if name.startswith("MPI_") else Paradigm.USER
        return self.definitions.region(name, paradigm=paradigm)


@contextmanager
def archive(directory: Path, ranks: int, resolution: int = 10**9) -> Iterator[ArchiveWriter]:
    """An archive `run.otf2` in a new directory."""
    with otf2.writer.open(str(directory), "run", timer_resolution=resolution) as trace:
        writer = ArchiveWriter(trace, ranks)
        for rank in writer.ranks:
            rank.empty_call("MPI_Init")
        yield writer
        for rank in writer.ranks:
            rank.empty_call("MPI_Finalize")


def archive_of(trace: Path, directory: Path, host_speed: float, resolution: int) -> Path:
    """The archive that a run of a trace's program would leave; gives its `.otf2` file.

    The trace may use the calls that the built-in programs use, in the world only.
    """
    ranks = read_header(trace).ranks
    with archive(directory, ranks, resolution) as made:
        for rank in made.ranks:
            matches: dict[int, tuple[int, int]] = {}
            receives: dict[int, tuple[int, Operation]] = {}
            sends: dict[int, int] = {}
            for operation in decode(read_operations(trace, rank.number)):
                _write(made, rank, operation, (receives, sends, matches), host_speed, resolution)
    return directory / "run.otf2"


def _write(
    made: ArchiveWriter,
    rank: RankWriter,
    operation: Operation,
    requests: tuple[dict[int, tuple[int, Operation]], dict[int, int], dict[int, tuple[int, int]]],
    host_speed: float,
    resolution: int,
) -> None:
    fields: Any = operation.fields
    receives, sends, matches = requests
    match operation.name:
        case "compute":
            rank.compute(round(fields["flops"] / host_speed * resolution))
        case "send":
            rank.send(fields["peer"], fields["tag"], fields["count"] * fields["size"], made.world)
        case "recv":
            rank.recv(fields["peer"], fields["tag"], fields["count"] * fields["size"], made.world)
        case "isend":
            length = fields["count"] * fields["size"]
            request = rank.isend(fields["peer"], fields["tag"], length, made.world)
            sends[fields["slot"]] = request
        case "irecv":
            receives[fields["slot"]] = (rank.irecv(), operation)
        case "match":
            matches[fields["slot"]] = (fields["peer"], fields["tag"])
        case "wait" | "waitall":
            slots = fields["slots"] if operation.name == "waitall" else [fields["slot"]]
            with rank.call(f"MPI_{operation.name.capitalize()}") as writer:
                for slot in slots:
                    if slot in sends:
                        writer.mpi_isend_complete(rank.now, sends.pop(slot))
                        continue
                    request, started = receives.pop(slot)
                    asked: Any = started.fields
                    peer, tag = matches.pop(slot, (asked["peer"], asked["tag"]))
                    length = asked["count"] * asked["size"]
                    writer.mpi_irecv(rank.now, peer, made.world, tag, length, request)
        case "sendrecv":
            with rank.call("MPI_Sendrecv") as writer:
                length = fields["send_count"] * fields["send_size"]
                writer.mpi_send(rank.now, fields["to"], made.world, fields["send_tag"], length)
                length = fields["recv_count"] * fields["recv_size"]
                writer.mpi_recv(rank.now, fields["from"], made.world, fields["recv_tag"], length)
        case "pcontrol" | "wtime":
            rank.empty_call(f"MPI_{operation.name.capitalize()}")
        case "finalize":
            pass
        case name:
            rank.collective(name, made.world, *_sizes(name, fields, rank.number, len(made.ranks)))


def _sizes(name: str, fields: Any, rank: int, ranks: int) -> tuple[int, ...]:
    """What Score-P counts as sent and received, and the root."""
    whole = fields.get("count", 0) * fields.get("size", 0)
    match name:
        case "barrier":
            return 0, 0
        case "bcast":
            return (ranks * whole if rank == fields["root"] else 0), whole, fields["root"]
        case "reduce":
            return whole, (ranks * whole if rank == fields["root"] else 0), fields["root"]
        case "allreduce":
            return ranks * whole, ranks * whole
        case "allgather" | "alltoall":
            block = ranks * fields["recv_count"] * fields["recv_size"]
            return block, block
        case "alltoallv":
            sent = sum(fields["send_counts"]) * fields["send_size"]
            return sent, sum(fields["recv_counts"]) * fields["recv_size"]
    raise AssertionError(name)

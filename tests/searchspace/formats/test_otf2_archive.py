"""Archives as Score-P writes them, and what their ranks did."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from otf2.enums import CollectiveOp, LocationType, MeasurementMode

from searchspace.errors import InvalidInput
from searchspace.formats.operations import Operation, decode
from searchspace.formats.otf2_archive import RESULT, convert
from tests.searchspace.formats.otf2_archives import NO_ROOT, ArchiveWriter, RankWriter, archive

Fill = Callable[[ArchiveWriter], None]


def operations(
    directory: Path, fill: Fill, ranks: int = 2, **options: Any
) -> list[list[Operation]]:
    """Write an archive and convert it at 1 flop a nanosecond."""
    with archive(directory / "archive", ranks, **options) as made:
        fill(made)
    result = convert(directory / "archive/run.otf2", 1e9, directory)
    found = [
        list(decode((directory / f"rank-{rank}.operations").read_bytes())) for rank in range(ranks)
    ]
    assert result["operations"] == [len(rank) for rank in found]
    return found


def told(rank: list[Operation]) -> list[tuple[str, dict[str, Any]]]:
    """Operations with the fields that are not zero."""
    return [(op.name, {name: v for name, v in op.fields.items() if v}) for op in rank]


@pytest.mark.parametrize("resolution", [10**6, 10**9, 2_400_000_000, 10**12])
def test_time_outside_of_mpi_is_computation(tmp_path: Path, resolution: int) -> None:
    def fill(made: ArchiveWriter) -> None:
        for rank in made.ranks:
            rank.compute(resolution // 1000)
            rank.empty_call("MPI_Comm_rank")
            rank.writer.enter(rank.now, made.region("solve"))
            rank.compute(resolution // 1000)
            rank.writer.leave(rank.now, made.region("solve"))
            rank.collective("barrier", made.world, 0, 0)

    first, _ = operations(tmp_path, fill, resolution=resolution)
    assert told(first)[0] == ("compute", {"flops": pytest.approx(2e6)})
    assert [name for name, _ in told(first)[1:]] == ["barrier", "finalize"]


def test_messages_and_the_ways_to_complete_them(tmp_path: Path) -> None:
    def fill(made: ArchiveWriter) -> None:
        sender, receiver = made.ranks
        sender.send(1, 3, 100, made.world)
        sender.send(1, 4, 8, made.world, "MPI_Ssend")
        requests = [sender.isend(1, tag, 10, made.world) for tag in (5, 6)]
        with sender.call("MPI_Waitall") as writer:
            for request in reversed(requests):
                writer.mpi_isend_complete(sender.now, request)
        sender.isend(1, 7, 10, made.world)  # completed by a call that records nothing
        with sender.call("MPI_Sendrecv") as writer:
            writer.mpi_send(sender.now, 1, made.world, 1, 20)
            writer.mpi_recv(sender.now, 1, made.world, 2, 30)

        receiver.recv(0, 3, 100, made.world)
        receiver.recv(0, 4, 8, made.world)
        asked = [receiver.irecv() for _ in range(3)]
        with receiver.call("MPI_Wait") as writer:
            writer.mpi_irecv(receiver.now, 0, made.world, 6, 10, asked[1])
        with receiver.call("MPI_Test") as writer:
            writer.mpi_request_test(receiver.now, asked[0])
        with receiver.call("MPI_Waitall") as writer:
            writer.mpi_irecv(receiver.now, 0, made.world, 5, 10, asked[0])
            writer.mpi_irecv(receiver.now, 0, made.world, 7, 10, asked[2])
        with receiver.call("MPI_Sendrecv") as writer:
            writer.mpi_send(receiver.now, 0, made.world, 2, 30)
            writer.mpi_recv(receiver.now, 0, made.world, 1, 20)

    first, second = operations(tmp_path, fill)
    assert told(first) == [
        ("send", {"peer": 1, "tag": 3, "count": 100, "size": 1}),
        ("ssend", {"peer": 1, "tag": 4, "count": 8, "size": 1}),
        ("isend", {"peer": 1, "tag": 5, "count": 10, "size": 1}),
        ("isend", {"slot": 1, "peer": 1, "tag": 6, "count": 10, "size": 1}),
        ("waitall", {"slots": [1, 0]}),
        ("isend", {"peer": 1, "tag": 7, "count": 10, "size": 1}),
        (
            "sendrecv",
            {"to": 1, "send_tag": 1, "send_count": 20, "send_size": 1}
            | {"from": 1, "recv_tag": 2, "recv_count": 30, "recv_size": 1},
        ),
        ("waitall", {"slots": [0]}),
        ("finalize", {}),
    ]
    assert told(second)[2:7] == [
        ("irecv", {"tag": 5, "count": 10, "size": 1}),
        ("irecv", {"slot": 1, "tag": 6, "count": 10, "size": 1}),
        ("irecv", {"slot": 2, "tag": 7, "count": 10, "size": 1}),
        ("wait", {"slot": 1}),
        ("waitall", {"slots": [0, 2]}),
    ]


def test_matched_probes_are_receives(tmp_path: Path) -> None:
    def fill(made: ArchiveWriter) -> None:
        sender, receiver = made.ranks
        for tag in (5, 6):
            sender.send(1, tag, 9, made.world)
        with receiver.call("MPI_Mprobe") as writer:
            writer.mpi_probe(receiver.now, 0, made.world, 5, 77)
        with receiver.call("MPI_Mrecv") as writer:
            writer.mpi_mrecv(receiver.now, 77, 9)
        with receiver.call("MPI_Improbe") as writer:
            writer.mpi_probe(receiver.now, 0, made.world, 6, 78)
        with receiver.call("MPI_Imrecv") as writer:
            writer.mpi_imrecv_request(receiver.now, 78, 1)
        with receiver.call("MPI_Wait") as writer:
            writer.mpi_imrecv(receiver.now, 1, 9)

    assert [op.name for op in operations(tmp_path, fill)[1]] == [
        *("probe", "recv", "probe", "irecv", "wait", "finalize")
    ]


def test_communicators_are_split_off_the_world_where_they_are_used(tmp_path: Path) -> None:
    def fill(made: ArchiveWriter) -> None:
        made.comm("unused", [0, 3])
        halves = [made.comm("low", [1, 0]), made.comm("high", [2, 3])]
        for rank in made.ranks:
            rank.collective("barrier", made.world, 0, 0)
            rank.collective("bcast", halves[rank.number // 2], 8, 4, root=0)
        again = made.comm("as the world", range(4))
        for rank in made.ranks:
            rank.collective("barrier", again, 0, 0)

    ranks = operations(tmp_path, fill, ranks=4)
    assert told(ranks[1]) == [
        ("comm_split", {}),
        ("comm_split", {"key": 1}),
        ("barrier", {}),
        ("bcast", {"comm": 2, "count": 4, "size": 1}),
        ("barrier", {"comm": 3}),
        ("finalize", {}),
    ]
    assert told(ranks[3])[:2] == [
        ("comm_split", {"color": 1, "key": 1}),
        ("comm_split", {"key": 3}),
    ]


def test_nonblocking_collectives_count_in_the_order_of_their_calls(tmp_path: Path) -> None:
    def fill(made: ArchiveWriter) -> None:
        for rank in made.ranks:
            with rank.call("MPI_Iallreduce") as writer:
                writer.non_blocking_collective_request(rank.now, 1)
            rank.collective("bcast", made.world, 16, 8, root=0)
            with rank.call("MPI_Wait") as writer:
                operation = CollectiveOp.ALLREDUCE
                fields = (operation, made.world, NO_ROOT, 80, 80, 1)
                writer.non_blocking_collective_complete(rank.now, *fields)

    assert told(operations(tmp_path, fill)[1]) == [
        ("iallreduce", {"count": 40, "size": 1}),
        ("bcast", {"count": 8, "size": 1}),
        ("wait", {}),
        ("finalize", {}),
    ]


def test_flushes_of_the_measurement_are_no_computation(tmp_path: Path) -> None:
    def fill(made: ArchiveWriter) -> None:
        for rank in made.ranks:
            rank.compute(1000)
            rank.writer.buffer_flush(rank.now, rank.now + 5000)
            rank.compute(5000)
            rank.collective("barrier", made.world, 0, 0)

    assert told(operations(tmp_path, fill)[0])[0] == ("compute", {"flops": 1000.0})


def test_events_of_other_paradigms_are_ignored_and_counted(tmp_path: Path) -> None:
    with archive(tmp_path / "archive", 2) as made:
        made.ranks[0].writer.thread_fork(made.ranks[0].now, 0, 4)
        worker = made.thread(1, name="thread 1")
        worker.enter(5, made.region("loop"))
        worker.leave(9, made.region("loop"))
        made.thread(1, LocationType.GPU, "gpu")
    assert convert(tmp_path / "archive/run.otf2", 1e9, tmp_path)["ignored"] == {"ThreadFork": 1}


def late(rank: RankWriter) -> int:
    """A tick after what was written."""
    return rank.now


def _of_a_thread(made: ArchiveWriter) -> None:
    worker = made.thread(1, name="thread 1")
    worker.mpi_send(5, 0, made.world, 0, 8)


def _switched_off(made: ArchiveWriter) -> None:
    made.ranks[1].writer.measurement_on_off(late(made.ranks[1]), MeasurementMode.OFF)


def _outside(made: ArchiveWriter) -> None:
    made.ranks[1].writer.mpi_send(late(made.ranks[1]), 0, made.world, 0, 8)


def _stranger(made: ArchiveWriter) -> None:
    made.ranks[1].send(2, 0, 8, made.world)


def _one_less(made: ArchiveWriter) -> None:
    made.ranks[0].collective("barrier", made.world, 0, 0)


def _different(made: ArchiveWriter) -> None:
    made.ranks[0].collective("barrier", made.world, 0, 0)
    made.ranks[1].collective("bcast", made.world, 0, 8, root=0)


def _never(made: ArchiveWriter) -> None:
    made.ranks[1].irecv()


def _unknown(made: ArchiveWriter) -> None:
    with made.ranks[1].call("MPI_Wait") as writer:
        writer.mpi_isend_complete(late(made.ranks[1]), 4)


def _without_request(made: ArchiveWriter) -> None:
    made.ranks[1].send(0, 0, 8, made.world, "MPI_Isend")


@pytest.mark.parametrize(
    ("fill", "reason"),
    [
        (_of_a_thread, "thread .* MpiSend of a thread that is no MPI rank"),
        (_switched_off, "rank 1, tick .* MeasurementOnOff is not supported"),
        (_outside, "MpiSend outside of an MPI function"),
        (_stranger, "rank 2 of a communicator of 2"),
        (_one_less, "barrier of MPI_COMM_WORLD, its call 1, was made by 1 of 2 ranks"),
        (_different, "bcast of MPI_COMM_WORLD where another rank has barrier"),
        (_never, "rank 1.* a receive never completes"),
        (_unknown, "request 4 completes that was not started"),
        (_without_request, "MPI_ISEND without its request"),
        (lambda made: made.ranks[1].empty_call("MPI_File_open"), "MPI_FILE_OPEN is not supported"),
        (lambda made: made.ranks[1].empty_call("MPI_Put"), "MPI_PUT is not supported"),
        (lambda made: made.ranks[1].empty_call("MPI_Bcast"), "MPI_BCAST without its event"),
    ],
)
def test_what_no_trace_can_hold_is_named(tmp_path: Path, fill: Fill, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        operations(tmp_path, fill)


def test_a_run_that_did_not_end_is_refused(tmp_path: Path) -> None:
    with archive(tmp_path / "archive", 2) as made:
        made.ranks = made.ranks[:1]
    with pytest.raises(InvalidInput, match="rank 1 does not reach MPI_Finalize"):
        convert(tmp_path / "archive/run.otf2", 1e9, tmp_path)


def convert_apart(anchor: Path, directory: Path) -> tuple[int, str]:
    """Convert in a process of its own, as users do; gives its status and why it refused."""
    command = [sys.executable, "-m", "searchspace.formats.otf2_archive", str(anchor), "1e9"]
    done = subprocess.run([*command, str(directory)], capture_output=True, timeout=300)
    result = directory / RESULT
    reason = json.loads(result.read_text()).get("refused", "") if result.exists() else ""
    return done.returncode, reason


def test_truncated_and_damaged_archives_are_refused(tmp_path: Path) -> None:
    with archive(tmp_path / "archive", 2) as made:
        for rank in made.ranks:
            for _ in range(200):
                rank.collective("barrier", made.world, 0, 0)
    events, definitions = tmp_path / "archive/run/1.evt", tmp_path / "archive/run.def"
    whole = events.read_bytes()
    for damage in (
        lambda: events.write_bytes(whole[: len(whole) // 2]),
        events.unlink,
        lambda: definitions.write_bytes(random.Random(7).randbytes(400)),
    ):
        damage()
        status, reason = convert_apart(tmp_path / "archive/run.otf2", tmp_path)
        assert status == 0
        assert "truncated?" in reason or "the archive is damaged or not whole" in reason

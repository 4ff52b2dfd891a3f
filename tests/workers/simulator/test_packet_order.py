"""Which message a receive takes beside packets: MPI's order, whatever overtakes what on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from searchspace.protocol import PROTOCOLS
from tests.workers.simulator.runs import (
    answer_of,
    line_of,
    on_a_line,
    packets_on,
    write_program,
)
from tests.workers.simulator.test_packet_protocol import compute
from tests.workers.simulator.test_packets import receives, sends, times_of, together

TCP: dict[str, Any] = PROTOCOLS["tcp-openmpi"].numbers()
SELF = 1  # the second communicator that a rank has from the start
LARGE = 1_000_000


@pytest.mark.parametrize("limit", [None, 2 * LARGE, 65_480, 0])
@pytest.mark.parametrize("exchange", ["full", "half", "ordered"])
@pytest.mark.parametrize("hosts", [(0, 1), (0, 0)])
def test_a_small_message_does_not_overtake_a_large_one(
    tmp_path: Path, exchange: str, limit: int | None, hosts: tuple[int, int]
) -> None:
    """Into a receive of its size the large one would not fit."""
    programs = [sends((1, LARGE), (1, 10)), receives((0, LARGE), (0, 10))]
    request = packets_on(line_of(2), *hosts, **TCP | {"exchange": exchange, "eager_limit": limit})
    times_of(tmp_path, programs, request)


def test_large_messages_that_go_at_once_and_that_wait_take_turns_in_both_directions(
    tmp_path: Path,
) -> None:
    """Small ones between them stay in their places, and go while others have their turns."""
    request = packets_on(
        line_of(2), 0, 1, exchange="half", exchange_above=1000, eager_limit=LARGE, control_bytes=1
    )
    sizes = (LARGE, 10, 2 * LARGE, 10, LARGE, 2 * LARGE)
    both = [
        together(*((name, 1 - rank, size) for name in ("irecv", "isend") for size in sizes))
        for rank in (0, 1)
    ]
    last = max(times_of(tmp_path, both, request))
    assert last == pytest.approx(2 * sum(sizes) / 1e9, rel=0.01)


def alltoall_by_hand(rank: int, ranks: int, size: int) -> list[bytes]:
    """The messages of the linear algorithm, with a receive for each of them, in slots from 1 on."""
    peers = [(rank - distance) % ranks for distance in range(1, ranks)]
    posted = [(name, peer) for name in ("irecv", "isend") for peer in peers]
    started = [
        encode(name, slot=slot, peer=peer, tag=99, count=size, size=1)
        for slot, (name, peer) in enumerate(posted, 1)
    ]
    return [*started, encode("waitall", slots=list(range(1, len(posted) + 1)))]


@pytest.mark.parametrize("algorithm", ["basic_linear", "ompi_linear_sync"])
@pytest.mark.parametrize("expanded", [True, False])
def test_a_linear_all_to_all_leaves_messages_of_the_next_one_alone(
    tmp_path: Path, algorithm: str, expanded: bool
) -> None:
    """Rank 0 is ahead by a call: the message of rank 2 to rank 1 waits behind a long one."""
    ranks, size = 3, 1000
    long = {"slot": 0, "tag": 5, "count": 10 * LARGE, "size": 1}
    begins = [
        encode("irecv", peer=0, slot=0, tag=6, count=0, size=1),
        encode("irecv", peer=2, **long),
        encode("isend", peer=1, **long),
    ]
    call = encode("alltoall", send_count=size, send_size=1, recv_count=size, recv_size=1)
    request = packets_on(line_of(ranks, edges=[[0, 1], [0, 2], [1, 2]]), *range(ranks))
    request |= {"options": {"smpi/alltoall": algorithm}, "expand_collectives": expanded}
    times = []
    for by_hand in (False, True):
        programs = []
        for rank in range(ranks):
            exchange = alltoall_by_hand(rank, ranks, size) if by_hand else [call]
            late = [compute(0.01)] if rank == 1 else []
            ends = encode("wait" if rank else "request_free", slot=0)
            programs.append([begins[rank], *exchange, *late, *exchange, ends])
        times.append(times_of(tmp_path, programs, request))
    assert times[0] == times[1]
    assert max(times[0]) > 0.02  # the long message, then the computation


def on_self(name: str, peer: int, **fields: int) -> bytes:
    """An operation with tag 7 in the communicator of the rank alone."""
    return encode(name, **{"comm": SELF, "peer": peer, "tag": 7, "count": 10, "size": 1} | fields)


MODELS = {
    "packets": packets_on(line_of(2), 0, 1),
    "fluid": on_a_line(0, 1),
    "smpi": on_a_line(0, 1) | {"plain_simgrid": True},
}


@pytest.mark.parametrize("model", MODELS)
def test_the_communicator_of_a_rank_alone_is_one_of_its_own(tmp_path: Path, model: str) -> None:
    """A receive from anyone takes nothing from others, and its messages keep apart from theirs."""
    every = encode("waitall", slots=[0, 1])
    from_anyone = [
        on_self("irecv", -2, slot=0),
        compute(1e-3),
        encode("recv", peer=1, tag=7, count=10, size=1),
        on_self("isend", 0, slot=1),
        every,
    ]
    other = encode("send", peer=0, tag=7, count=10, size=1)
    trace = write_program(tmp_path / "anyone.ht", [from_anyone, [other]])
    assert answer_of(trace, MODELS[model])["status"] == "completed"
    two_sizes = [
        on_self("irecv", 0, slot=0),
        on_self("irecv", 0, slot=1, comm=0, count=1000),
        on_self("isend", 0, slot=2, comm=0, count=1000),
        on_self("isend", 0, slot=3),
        encode("waitall", slots=[0, 1, 2, 3]),
    ]
    trace = write_program(tmp_path / "sizes.ht", [two_sizes, []])
    assert answer_of(trace, MODELS[model])["status"] == "completed"


def test_collectives_of_a_rank_alone_are_played_as_others(tmp_path: Path) -> None:
    call = encode("allgather", comm=SELF, send_count=10, send_size=8, recv_count=10, recv_size=8)
    trace = write_program(tmp_path / "alone.ht", [[call] * 3] * 2)
    request = packets_on(line_of(2), 0, 1) | {"options": {"smpi/allgather": "ring"}}
    assert answer_of(trace, request)["expanded_collectives"] > 0


def test_a_computation_on_a_shared_core_ends_though_a_message_arrives_in_the_same_instant(
    tmp_path: Path,
) -> None:
    """The message comes one rounding after it: now + (end - now) is more than the end."""
    ends, now = 0.9178825519599348, 0.4029016700138583
    arrives = now + (ends - now)
    assert arrives > ends
    shared = [encode("compute", flops=ends), *sends((1, 0))]
    programs = [
        shared,
        receives((0, 0)),
        sends((3, 0)),
        [*receives((2, 0)), encode("compute", flops=1e-3)],
        [encode("compute", flops=now)],
    ]
    machine = line_of(4, host_speed=1.0, link_latency=arrives, loopback_latency=0.0)
    finished = times_of(tmp_path, programs, packets_on(machine, 0, 0, 1, 2, 3))
    assert finished[0] == pytest.approx(ends, rel=1e-12)


def test_many_sends_ahead_of_the_cable_cost_no_more_each_than_few(tmp_path: Path) -> None:
    """Where the transport takes everything, nobody looks at all that it has, at each send."""
    many, size = 20_000, 8192
    programs = [sends(*[(1, size)] * many), receives(*[(0, size)] * many)]
    trace = write_program(tmp_path / "many.ht", programs)
    answers = [
        answer_of(trace, packets_on(line_of(2), 0, 1, send_buffer=room))
        for room in (LARGE, None, 1e12)
    ]
    bounded, *unbounded = [answer["cpu_seconds"] for answer in answers]
    assert max(unbounded) < 6 * bounded  # thirty times as much where it did
    assert len({answer["rank_finish_times"][0][1] for answer in answers}) == 1


def test_a_message_to_a_rank_that_has_ended_waits_there(tmp_path: Path) -> None:
    """Finalize is collective, so it is sent before; whoever computes longer."""
    for first, second in ((1e-3, 1e-6), (1e-6, 1e-3)):
        programs = [[compute(first), *sends((1, 10))], [compute(second)]]
        trace = write_program(tmp_path / "ended.ht", programs)
        for model in ("packets", "fluid"):
            answer = answer_of(trace, MODELS[model])
            assert answer["status"] == "completed", answer["reason"]
            assert answer["rank_finish_times"] == [[first, second]]

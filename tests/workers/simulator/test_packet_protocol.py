"""What a protocol makes of messages: who waits for whom, in which order, and for how long."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import (
    BANDWIDTH,
    LATENCY,
    MTU,
    answer_of,
    line_of,
    packets_on,
    write_program,
)
from tests.workers.simulator.test_packets import EXACTLY, receives, sends, times_of, together

SPEED = 1e9  # flop/s of a host


def compute(seconds: float) -> bytes:
    """Work of so many seconds."""
    return encode("compute", flops=round(seconds * SPEED))


def test_an_eager_message_travels_at_once_and_waits_at_its_receiver(tmp_path: Path) -> None:
    size, late = 10_000, 1e-3
    request = packets_on(line_of(2), 0, 1, eager_limit=size)
    sent, received = times_of(
        tmp_path, [sends((1, size)), [compute(late), *receives((0, size))]], request
    )
    assert sent == 0
    assert received == pytest.approx(late, rel=EXACTLY)


@pytest.mark.parametrize("name", ["send", "ssend"])
def test_a_larger_or_synchronous_one_is_announced_and_asked_for(tmp_path: Path, name: str) -> None:
    """Three messages one after the other, the second when the receive is there."""
    size, control, late = 10_001, 100, 1e-3
    limit = size - 1 if name == "send" else size
    request = packets_on(line_of(2), 0, 1, eager_limit=limit, control_bytes=control, send_buffer=0)
    sent, received = times_of(
        tmp_path,
        [sends((1, size), name=name), [compute(late), *receives((0, size))]],
        request,
    )
    answer, data = control / BANDWIDTH + LATENCY, size / BANDWIDTH + LATENCY
    assert received == pytest.approx(late + answer + data, rel=EXACTLY)
    assert sent == pytest.approx(received - LATENCY, rel=EXACTLY)


def test_an_announcement_takes_time_where_the_receiver_waits(tmp_path: Path) -> None:
    size, control = 10_001, 100
    request = packets_on(line_of(2), 0, 1, eager_limit=0, control_bytes=control)
    _, received = times_of(tmp_path, [sends((1, size)), receives((0, size))], request)
    expected = 2 * (control / BANDWIDTH + LATENCY) + size / BANDWIDTH + LATENCY
    assert received == pytest.approx(expected, rel=EXACTLY)


def test_a_buffered_send_returns_at_once_whatever_its_size(tmp_path: Path) -> None:
    size = 100_000
    request = packets_on(line_of(2), 0, 1, eager_limit=0)
    program = [sends((1, size), name="bsend"), [compute(1e-3), *receives((0, size))]]
    sent, received = times_of(tmp_path, program, request)
    assert sent == 0
    assert received > 1e-3


@pytest.mark.parametrize("room", [0, 12_000, 60_000, 96_000])
def test_a_send_returns_when_the_buffer_takes_what_has_not_left(tmp_path: Path, room: int) -> None:
    """Of 64 packets, one train each."""
    size = 64 * MTU
    request = packets_on(line_of(2), 0, 1, send_buffer=room)
    sent, _ = times_of(tmp_path, [sends((1, size)), receives((0, size))], request)
    assert sent == pytest.approx(max(0, size - room) / BANDWIDTH, rel=EXACTLY)


def test_the_buffer_of_a_pair_is_shared_by_its_messages(tmp_path: Path) -> None:
    size = 10 * MTU
    request = packets_on(line_of(3), 0, 1, 2, send_buffer=2 * size)
    to_one = sends(*[(1, size)] * 3)
    sent, *_ = times_of(tmp_path, [to_one, receives(*[(0, size)] * 3), []], request)
    assert sent == pytest.approx(size / BANDWIDTH, rel=EXACTLY)
    to_two = sends((1, size), (2, size), (1, size))
    programs = [to_two, receives(*[(0, size)] * 2), receives((0, size))]
    sent, *_ = times_of(tmp_path, programs, request)
    assert sent == 0


@pytest.mark.parametrize("exchange", ["full", "half"])
@pytest.mark.parametrize("size", [9000, 90_000])
def test_large_messages_of_a_pair_may_go_one_direction_at_a_time(
    tmp_path: Path, exchange: str, size: int
) -> None:
    request = packets_on(line_of(2), 0, 1, exchange=exchange, exchange_above=9000)
    both = [together(("isend", 1 - rank, size), ("irecv", 1 - rank, size)) for rank in (0, 1)]
    last = max(times_of(tmp_path, both, request))
    turns = 2 if exchange == "half" and size > 9000 else 1
    assert last == pytest.approx(turns * size / BANDWIDTH + LATENCY, rel=EXACTLY)


@pytest.mark.parametrize("late", [0.0, 1e-4])
@pytest.mark.parametrize("exchange", ["full", "half", "ordered"])
def test_ordered_messages_of_a_pair_cross_where_neither_was_asked_for_first(
    tmp_path: Path, exchange: str, late: float
) -> None:
    """An announcement that came before one's own is answered before, and its data sets out."""
    size = 1_000_000
    request = packets_on(line_of(2), 0, 1, exchange=exchange, eager_limit=1000, control_bytes=1)
    both = [together(("irecv", 1 - rank, size), ("isend", 1 - rank, size)) for rank in (0, 1)]
    both[1] = [compute(late), *both[1]]
    last = max(times_of(tmp_path, both, request))
    turns = 2 if exchange == "half" or (exchange == "ordered" and late) else 1
    assert last == pytest.approx(late + turns * size / BANDWIDTH, rel=0.05)


def test_a_sendrecv_receives_before_it_sends(tmp_path: Path) -> None:
    """So that, of two announcements, the one that was there already is answered first."""
    size, late = 1_000_000, 1e-4
    request = packets_on(line_of(2), 0, 1, exchange="ordered", eager_limit=1000, control_bytes=1)

    def exchange(peer: int) -> bytes:
        return encode(
            "sendrecv",
            **{"to": peer, "send_tag": 1, "send_count": size, "send_size": 1},
            **{"from": peer, "recv_tag": 1, "recv_count": size, "recv_size": 1},
        )

    last = max(times_of(tmp_path, [[exchange(1)], [compute(late), exchange(0)]], request))
    assert last == pytest.approx(late + 2 * size / BANDWIDTH, rel=0.01)


def test_ranks_that_do_alike_get_out_of_step(tmp_path: Path) -> None:
    """Messages of several packets are followed by a delay of a rank's own; others are not."""
    stagger = 1e-3
    for size, delayed in ((MTU, False), (10 * MTU, True)):
        request = packets_on(line_of(3, edges=[[0, 1], [0, 2]]), 0, 1, 2, stagger=stagger)
        _, *received = times_of(
            tmp_path,
            [sends((1, size), (2, size)), receives((0, size)), receives((0, size))],
            request,
        )
        assert (max(received) - min(received) > 1e-2 * stagger) == delayed
        assert max(received) <= size / BANDWIDTH + LATENCY + stagger


@pytest.mark.parametrize("processors", [None, 1, 2])
def test_hosts_may_share_the_processors_of_an_emulated_cluster(
    tmp_path: Path, processors: int | None
) -> None:
    """Three hosts send at once, each for a time of a processor."""
    seconds, senders = 1e-4, 3
    request = packets_on(
        line_of(6, edges=[[0, 3], [1, 4], [2, 5], [0, 1], [1, 2]]), *range(6),
        send_overhead=[[0, seconds, 0]], **({"processors": processors} if processors else {}),
    )  # fmt: skip
    programs = [sends((rank + 3, 1)) for rank in range(3)]
    programs += [receives((rank, 1)) for rank in range(3)]
    sent = sorted(times_of(tmp_path, programs, request)[:senders])
    rounds = {None: [1, 1, 1], 1: [1, 2, 3], 2: [1, 1, 2]}[processors]
    assert sent == pytest.approx([seconds * each for each in rounds], rel=EXACTLY)


def test_turns_of_a_pair_alternate(tmp_path: Path) -> None:
    size, each = 90_000, 3
    request = packets_on(line_of(2), 0, 1, exchange="half")
    both = [
        together(*[(name, 1 - rank, size) for name in ("isend", "irecv") for _ in range(each)])
        for rank in (0, 1)
    ]
    finished = times_of(tmp_path, both, request)
    whole = 2 * each * size / BANDWIDTH + LATENCY
    assert max(finished) == pytest.approx(whole, rel=EXACTLY)
    assert min(finished) == pytest.approx(whole - size / BANDWIDTH, rel=EXACTLY)


@pytest.mark.parametrize("cores", [1, 2])
def test_overheads_keep_processors_busy_that_ranks_share(tmp_path: Path, cores: int) -> None:
    """Two ranks of one host send to two of another; each end takes its time for each message."""
    size, send, receive = 3000, 4e-6, 2e-6
    step = [[0, 0.0, 0.0], [1000, send, 0.0]]
    request = packets_on(
        line_of(2, cores=cores),
        0, 0, 1, 1,
        send_overhead=step,
        receive_overhead=[[0, 0.0, receive / size]],
    )  # fmt: skip
    programs = [sends((2, size)), sends((3, size)), receives((0, size)), receives((1, size))]
    first, second, *received = times_of(tmp_path, programs, request)
    share = 2 if cores == 1 else 1
    assert first == pytest.approx(send * share, rel=1e-6)
    assert second == pytest.approx(send * share, rel=1e-6)
    last = send * share + 2 * size / BANDWIDTH + LATENCY + receive
    assert max(received) <= last + receive
    assert max(received) == pytest.approx(last, rel=0.3)
    assert min(received) >= last - size / BANDWIDTH


def test_a_peer_costs_its_first_message_only(tmp_path: Path) -> None:
    request = packets_on(line_of(3), 0, 1, 2, peer_overhead=1e-4)
    programs = [sends((1, 1), (1, 1), (2, 1)), receives((0, 1), (0, 1)), receives((0, 1))]
    sent, *_ = times_of(tmp_path, programs, request)
    assert sent == pytest.approx(2e-4, rel=EXACTLY)


def test_a_receive_from_anyone_takes_what_comes_first(tmp_path: Path) -> None:
    """The large message is sent first, and arrives last."""
    anyone = encode("irecv", slot=0, peer=-2, tag=-1, count=60_000, size=1)
    match = encode("match", slot=0, peer=2, tag=1)
    programs = [
        [anyone, match, encode("wait", slot=0), *receives((1, 60_000))],
        sends((0, 60_000)),
        [compute(1e-6), *sends((0, 10))],
    ]
    request = packets_on(line_of(3, edges=[[0, 1], [0, 2]]), 0, 1, 2)
    received, *_ = times_of(tmp_path, programs, request)
    assert received == pytest.approx(60_000 / BANDWIDTH + LATENCY, rel=EXACTLY)


def test_a_rank_that_nobody_sends_to_waits_for_ever(tmp_path: Path) -> None:
    trace = write_program(tmp_path / "lonely.ht", [[], receives((0, 8))])
    answer = answer_of(trace, packets_on(line_of(2), 0, 1))
    assert answer["reason"]["kind"] == "deadlock"
    assert "rank 1 in recv" in answer["reason"]["message"]


def test_a_full_buffer_holds_back_what_comes_behind(tmp_path: Path) -> None:
    """The second cable is slower, so that the first one waits for room behind it."""
    size, room = 64 * MTU, 8 * MTU
    slower = line_of(2, switches=2, edges=[[0, 2], [1, 3], [2, 3]])
    slower |= {"host_link_bandwidth": 2 * BANDWIDTH, "link_bandwidth": BANDWIDTH}
    programs = [sends((1, size)), receives((0, size))]
    for buffer, behind in ((None, 0), (room, size - room)):
        request = packets_on(slower, 0, 1, buffer=buffer, send_buffer=0)
        sent, received = times_of(tmp_path, programs, request)
        assert received == pytest.approx(size / BANDWIDTH + 3 * LATENCY, rel=0.05)
        fast = size / (2 * BANDWIDTH)
        assert sent == pytest.approx(behind / BANDWIDTH if behind else fast, rel=0.1)


@pytest.mark.parametrize("burst", [0, 8 * MTU])
def test_messages_without_bytes_cross_finite_buffers_as_any_others(
    tmp_path: Path, burst: int
) -> None:
    """Trains leave a queue in the instant in which they come to it."""
    hosts = 8
    times = []
    for buffer in (None, 16 * MTU):
        request = packets_on(line_of(hosts), *range(hosts), buffer=buffer, burst=burst)
        times.append(times_of(tmp_path, [[encode("barrier")] * 5] * hosts, request))
    assert times[0] == pytest.approx(times[1], rel=EXACTLY)


def test_a_message_behind_another_one_does_not_make_that_faster_where_bursts_pass(
    tmp_path: Path,
) -> None:
    """Rank 1 sends 100 bytes to rank 2 behind what rank 0 has sent it."""
    machine = line_of(3, link_bandwidth=1e6, link_latency=2.5e-3)
    request = packets_on(machine, 0, 1, 2, mtu=1000, burst=600)
    finished = []
    for second in (False, True):
        more = [(2, 100)] if second else []
        programs = [
            together(("isend", 1, 1000), ("isend", 2, 1000)),
            [compute(3.1e-3), *sends(*more), *receives((0, 1000))],
            receives((0, 1000), *[(1, size) for _, size in more]),
        ]
        finished.append(times_of(tmp_path, programs, request)[2])
    assert finished[0] == pytest.approx((2000 - 600) / 1e6 + 2 * 2.5e-3, rel=EXACTLY)
    assert finished[1] >= finished[0]


def test_buffers_that_wait_for_each_other_in_a_circle_are_told_of(tmp_path: Path) -> None:
    """Everybody sends far around a ring: with little room no cable can go first."""
    hosts, far, size = 7, 3, 20 * MTU
    ring = sorted([[host, host + 1] for host in range(hosts - 1)] + [[0, hosts - 1]])
    programs = [
        together(("isend", (rank + far) % hosts, size), ("irecv", (rank - far) % hosts, size))
        for rank in range(hosts)
    ]
    trace = write_program(tmp_path / "circle.ht", programs)
    enough = answer_of(trace, packets_on(line_of(hosts, edges=ring), *range(hosts), buffer=1e6))
    assert enough["status"] == "completed"
    request = packets_on(line_of(hosts, edges=ring), *range(hosts), buffer=MTU)
    answer = answer_of(trace, request)
    assert answer["reason"]["kind"] == "deadlock"
    assert "wait for each other's buffers" in answer["reason"]["message"]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("switching", "wormhole", 'must be "store-and-forward" or "cut-through"'),
        ("mtu", 0, "must be a number above 0"),
        ("header", MTU, "must be less than the mtu"),
        ("trains", 0.5, "must be from 1 to 1e9"),
        ("buffer", 10, "must hold a packet"),
        ("send_overhead", [[10, 0, 0], [5, 0, 0]], "sizes must increase"),
        ("send_overhead", [[10, 0]], "must list [bytes, seconds, seconds per byte]"),
        ("exchange", "both", 'must be "full", "half" or "ordered"'),
        ("processors", 0.5, "must be a whole number up to 1048576"),
        ("stagger", -1, "must be a number from 0"),
        ("flow_control", True, "unknown field"),
    ],
)
def test_a_protocol_that_makes_no_sense_is_refused_by_name(
    tmp_path: Path, field: str, value: object, message: str
) -> None:
    trace = write_program(tmp_path / "any.ht", [[], []])
    answer = answer_of(trace, packets_on(line_of(2), 0, 1, **{field: value}))
    assert answer["reason"]["kind"] == "invalid"
    assert answer["reason"]["message"] == f"platform.packets.{field}: {message}"


def test_only_our_own_engine_knows_packets(tmp_path: Path) -> None:
    trace = write_program(tmp_path / "any.ht", [[], []])
    answer = answer_of(trace, packets_on(line_of(2), 0, 1) | {"plain_simgrid": True})
    assert answer["reason"]["kind"] == "invalid"
    assert "needs our own engine" in answer["reason"]["message"]


def test_an_idle_cable_with_a_token_bucket_lets_its_burst_pass_at_once(tmp_path: Path) -> None:
    """A short message takes the latency alone; a long one is ahead by the burst, once."""
    for size, shaped, buffer in itertools.product((MTU, 10 * MTU), (MTU,), (None, 1e6)):
        request = packets_on(line_of(3), 0, 2, burst=shaped, buffer=buffer)
        _, received = times_of(tmp_path, [sends((1, size)), receives((0, size))], request)
        expected = (size - shaped) / BANDWIDTH + 2 * LATENCY
        assert received == pytest.approx(expected, rel=1e-9)


def test_a_grid_can_be_cut_after_it_was_copied(tmp_path: Path) -> None:
    """Communicators without a topology are shared; those that somebody cuts need theirs."""
    program = [
        encode("cart_create", dims=[2, 0, 2, 0]),
        encode("comm_dup", comm=2),
        encode("cart_sub", comm=3, remain=[1, 0]),
        encode("allreduce", comm=4, count=10, size=8),
        *(encode("comm_free", comm=made) for made in (4, 3, 2)),
    ]
    request = packets_on(line_of(4), *range(4))
    assert min(times_of(tmp_path, [program] * 4, request)) > 0
    assert min(times_of(tmp_path, [[*program[:2], program[-1]]] * 4, request)) >= 0

"""Messages that cross queues of packets: times by closed forms, to the last digits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import (
    BANDWIDTH,
    LATENCY,
    MTU,
    STORED,
    answer_of,
    line_of,
    packets_on,
    write_program,
)

SIZES = (0, 1, 1000, MTU, 4000, 64_000, 1_000_000)
SWITCHING = ("cut-through", "store-and-forward")
EXACTLY = 1e-12


def sends(*messages: tuple[int, int], name: str = "send") -> list[bytes]:
    """Sends to these ranks of so many bytes."""
    return [encode(name, peer=peer, tag=1, count=size, size=1) for peer, size in messages]


def receives(*messages: tuple[int, int]) -> list[bytes]:
    """Receives from these ranks of so many bytes."""
    return sends(*messages, name="recv")


def times_of(
    directory: Path, programs: list[list[bytes]], request: dict[str, Any]
) -> tuple[float, ...]:
    """When each rank has ended."""
    answer = answer_of(write_program(directory / "program.ht", programs), request)
    assert answer["status"] == "completed", answer["reason"]
    return tuple(answer["rank_finish_times"][0])


def together(*posted: tuple[str, int, int]) -> list[bytes]:
    """Non-blocking operations (name, peer, bytes), and a wait for all of them."""
    started = [
        encode(name, slot=slot, peer=peer, tag=1, count=size, size=1)
        for slot, (name, peer, size) in enumerate(posted)
    ]
    return [*started, encode("waitall", slots=list(range(len(posted))))]


@pytest.mark.parametrize("cables", [1, 2, 5])
@pytest.mark.parametrize("size", SIZES)
def test_a_packet_cut_through_pays_its_length_once(tmp_path: Path, size: int, cables: int) -> None:
    request = packets_on(line_of(cables + 1), 0, cables)
    _, received = times_of(tmp_path, [sends((1, size)), receives((0, size))], request)
    assert received == pytest.approx(size / BANDWIDTH + cables * LATENCY, rel=EXACTLY)


@pytest.mark.parametrize("cables", [1, 2, 5])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("trains", [1, 64, 10_000])
def test_a_packet_stored_and_forwarded_pays_it_at_every_hop(
    tmp_path: Path, size: int, cables: int, trains: int
) -> None:
    request = packets_on(line_of(cables + 1), 0, cables, **STORED | {"trains": trains})
    _, received = times_of(tmp_path, [sends((1, size)), receives((0, size))], request)
    first_packet = min(size, MTU)
    expected = (size + (cables - 1) * first_packet) / BANDWIDTH + cables * LATENCY
    assert received == pytest.approx(expected, rel=EXACTLY)


def test_each_packet_has_headers_and_each_message_one_of_its_own(tmp_path: Path) -> None:
    size, payload = 10_000, MTU - 52
    headers = {"header": 52, "framing": 14, "message_header": 32}
    request = packets_on(line_of(2), 0, 1, **headers)
    _, received = times_of(tmp_path, [sends((1, size)), receives((0, size))], request)
    on_the_wire = size + 32 + math.ceil((size + 32) / payload) * (52 + 14)
    assert received == pytest.approx(on_the_wire / BANDWIDTH + LATENCY, rel=EXACTLY)


@pytest.mark.parametrize("switching", SWITCHING)
def test_a_faster_cable_waits_for_what_comes_over_a_slower_one(
    tmp_path: Path, switching: str
) -> None:
    """Two hosts on a switch: the cable of the first has half the rate of the other."""
    size = 15_000
    platform = line_of(2, switches=2, edges=[[0, 2], [1, 3], [2, 3]])
    platform |= {"link_bandwidth": 2 * BANDWIDTH, "host_link_bandwidth": BANDWIDTH}
    request = packets_on(platform, 0, 1, switching=switching)
    _, received = times_of(tmp_path, [sends((1, size)), receives((0, size))], request)
    latencies = 3 * LATENCY
    stored = 0.0 if switching == "cut-through" else MTU / (2 * BANDWIDTH) + MTU / BANDWIDTH
    assert received == pytest.approx(size / BANDWIDTH + latencies + stored, rel=EXACTLY)


@pytest.mark.parametrize("switching", SWITCHING)
@pytest.mark.parametrize("senders", ["one host", "two hosts"])
def test_two_flows_over_one_cable_take_turns(tmp_path: Path, switching: str, senders: str) -> None:
    """Packet by packet: the first ends one packet before the second, which ends after all bytes."""
    packets, cables = 10, 2
    size = packets * MTU
    # Ranks 0 and 1 send over the cable from host 1 to host 2, where ranks 2 and 3 are.
    hosts = (1, 1, 2, 2) if senders == "one host" else (0, 0, 2, 2)
    cables = 1 if senders == "one host" else 2
    programs = [sends((2, size)), sends((3, size)), receives((0, size)), receives((1, size))]
    request = packets_on(line_of(3, cores=2), *hosts, switching=switching)
    *_, first, second = times_of(tmp_path, programs, request)
    packet = MTU / BANDWIDTH
    hops = (cables - 1) * packet if switching == "store-and-forward" else 0.0
    both = 2 * packets * packet + cables * LATENCY + hops
    assert second == pytest.approx(both, rel=EXACTLY)
    assert first == pytest.approx(both - packet, rel=EXACTLY)


def test_long_messages_take_turns_in_equal_shares_whatever_their_length(tmp_path: Path) -> None:
    """One of half the length is through when as much of the other is, but for a train."""
    size = 1_000_000
    half = size // 2
    programs = [sends((2, size)), sends((3, half)), receives((0, size)), receives((1, half))]
    request = packets_on(line_of(2, cores=2), 0, 0, 1, 1)
    *_, long, short = times_of(tmp_path, programs, request)
    train = 16 * MTU / BANDWIDTH  # the 667 packets of the longer one in at most 64 trains
    assert long == pytest.approx(1.5 * size / BANDWIDTH + LATENCY, rel=EXACTLY)
    assert abs(short - (size / BANDWIDTH + LATENCY)) <= train * 1.001


@pytest.mark.parametrize(
    ("fields", "packets"),
    [
        ({"turn": 0}, 1),
        ({"turn": 10 * MTU}, 10),
        ({"turn": 1_000_000}, 20),
        ({"trains": 1}, 20),
    ],
)
def test_messages_of_a_host_take_turns_of_so_many_bytes(
    tmp_path: Path, fields: dict[str, Any], packets: int
) -> None:
    """The first of two is through when all but the last turn of the second has left."""
    size = 20 * MTU
    request = packets_on(line_of(2), 0, 1, 1, **fields)
    messages = together(("isend", 1, size), ("isend", 2, size))
    programs = [messages, receives((0, size)), receives((0, size))]
    _, first, second = times_of(tmp_path, programs, request)
    assert second == pytest.approx(2 * size / BANDWIDTH + LATENCY, rel=EXACTLY)
    left = 2 * size - packets * MTU
    assert first == pytest.approx(left / BANDWIDTH + LATENCY, rel=EXACTLY)


def test_messages_of_a_pair_follow_each_other(tmp_path: Path) -> None:
    """A fluid would have them share the cable, and all arrive at the end."""
    size, messages = 8000, 5
    request = packets_on(line_of(2), 0, 1)
    sent = together(*[("isend", 1, size)] * messages)
    for awaited in (1, 2, messages):
        _, received = times_of(tmp_path, [sent, receives(*[(0, size)] * awaited)], request)
        assert received == pytest.approx(awaited * size / BANDWIDTH + LATENCY, rel=EXACTLY)


def test_a_pipeline_down_a_chain_fills_once(tmp_path: Path) -> None:
    """Segments are passed on as they come: (hops + segments - 1) segments of time."""
    hosts, segments, size = 6, 20, 8192
    programs = [sends(*[(1, size)] * segments)]
    for rank in range(1, hosts - 1):
        programs.append(
            [
                operation
                for _ in range(segments)
                for operation in (*receives((rank - 1, size)), *sends((rank + 1, size)))
            ]
        )
    programs.append(receives(*[(hosts - 2, size)] * segments))
    *_, last = times_of(tmp_path, programs, packets_on(line_of(hosts), *range(hosts)))
    hops = hosts - 1
    expected = hops * (size / BANDWIDTH + LATENCY) + (segments - 1) * size / BANDWIDTH
    assert last == pytest.approx(expected, rel=EXACTLY)


def test_a_ring_all_to_all_between_neighbours_of_all_takes_a_step_a_rank(tmp_path: Path) -> None:
    """Every pair has a cable of its own, and in step k rank r sends to rank r + k."""
    ranks, size = 5, 30_000
    edges = [[u, v] for u in range(ranks) for v in range(u + 1, ranks)]
    call = encode("alltoall", send_count=size, send_size=1, recv_count=size, recv_size=1)
    request = packets_on(line_of(ranks, edges=edges), *range(ranks))
    request["options"] = {"smpi/alltoall": "ring"}
    finished = times_of(tmp_path, [[call]] * ranks, request)
    step = size / BANDWIDTH + LATENCY
    assert finished == pytest.approx([(ranks - 1) * step] * ranks, rel=EXACTLY)


@pytest.mark.parametrize("switching", SWITCHING)
def test_fan_in_is_served_at_the_rate_of_the_last_cable(tmp_path: Path, switching: str) -> None:
    """Hosts on one switch send to the first of them."""
    senders, size = 7, 6000
    hosts = senders + 1
    platform = line_of(hosts, switches=1, edges=[[host, hosts] for host in range(hosts)])
    programs = [
        together(*[("irecv", rank, size) for rank in range(1, hosts)]),
        *[sends((0, size))] * senders,
    ]
    received, *_ = times_of(
        tmp_path, programs, packets_on(platform, *range(hosts), switching=switching)
    )
    stored = MTU / BANDWIDTH if switching == "store-and-forward" else 0.0
    assert received == pytest.approx(senders * size / BANDWIDTH + stored + 2 * LATENCY, rel=EXACTLY)


def test_a_pair_of_ranks_has_one_of_parallel_cables_and_pairs_have_all(tmp_path: Path) -> None:
    size, pairs = 60_000, 12
    platform = line_of(2, cores=pairs, edges=[[0, 1, 2]])
    _, alone = times_of(
        tmp_path, [sends((1, size)), receives((0, size))], packets_on(platform, 0, 1)
    )
    assert alone == pytest.approx(size / BANDWIDTH + LATENCY, rel=EXACTLY)
    programs = [sends((pairs + rank, size)) for rank in range(pairs)]
    programs += [receives((rank, size)) for rank in range(pairs)]
    hosts = [0] * pairs + [1] * pairs
    last = max(times_of(tmp_path, programs, packets_on(platform, *hosts)))
    on_busier = round((last - LATENCY) * BANDWIDTH / size)
    assert last == pytest.approx(on_busier * size / BANDWIDTH + LATENCY, rel=EXACTLY)
    assert pairs / 2 <= on_busier < pairs


def test_within_a_host_messages_have_the_loopback_and_share_the_memory(tmp_path: Path) -> None:
    size, memory = 1_000_000, 1.5e10
    platform = line_of(1, cores=4, edges=[], memory_bandwidth=memory)
    programs = [sends((1, size)), receives((0, size))]
    _, alone = times_of(tmp_path, programs, packets_on(platform, 0, 0))
    assert alone == pytest.approx(size / 1e10 + 1e-7, rel=EXACTLY)
    programs = [sends((2, size)), sends((3, size)), receives((0, size)), receives((1, size))]
    *_, last = times_of(tmp_path, programs, packets_on(platform, 0, 0, 0, 0))
    assert last == pytest.approx(2 * size / memory + 1e-7, rel=EXACTLY)


def test_a_switch_of_limited_bandwidth_is_a_queue_of_its_own(tmp_path: Path) -> None:
    """Two messages cross the switch of host 1, which forwards as much as one cable carries."""
    size = 15_000
    platform = line_of(3, edges=[[0, 1], [1, 2]], switch_bandwidth=BANDWIDTH)
    programs = [sends((2, size)), sends((3, size)), receives((0, size)), receives((1, size))]
    platform |= {"cores": 2}
    *_, last = times_of(tmp_path, programs, packets_on(platform, 0, 2, 2, 0))
    assert last == pytest.approx(2 * size / BANDWIDTH + 2 * LATENCY, rel=1e-9)

"""Hosts: their speeds, and what their ranks share: the way to the network, and the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import (
    BANDWIDTH,
    ENVELOPE,
    LATENCY,
    answer_of,
    line_of,
    on_a_line,
    write_program,
)

COUNT = 1_000_000
BYTES = COUNT + ENVELOPE
ALONE = BYTES / BANDWIDTH
ACKNOWLEDGED = 1.05 * ALONE  # SimGrid's acknowledgements go back the same way


@pytest.fixture
def two_messages(tmp_path: Path) -> Path:
    """Rank 0 sends to rank 2 while rank 1 sends to rank 3."""
    sent = [encode("send", peer=peer, tag=0, count=COUNT, size=1) for peer in (2, 3)]
    received = [encode("recv", peer=peer, tag=0, count=COUNT, size=1) for peer in (0, 1)]
    return write_program(tmp_path / "two.ht", [[operation] for operation in sent + received])


def time_of(trace: Path, hosts: tuple[int, ...], **changes: Any) -> float:
    platform = line_of(3, cores=4) | changes
    answer = answer_of(trace, on_a_line(*hosts, platform=platform))
    assert answer["status"] == "completed", answer
    seconds: float = answer["simulated_time"]
    return seconds


def test_messages_over_different_cables_share_the_interface_of_their_host(
    two_messages: Path,
) -> None:
    hosts = (1, 1, 0, 2)
    assert time_of(two_messages, hosts) == pytest.approx(LATENCY + ALONE)
    shared = time_of(two_messages, hosts, interface_bandwidth=BANDWIDTH)
    assert shared == pytest.approx(LATENCY + 2 * ALONE)


def test_an_interface_carries_both_ways_at_once(two_messages: Path) -> None:
    # Host 1 sends to host 2 while it receives from host 0.
    both = time_of(two_messages, (0, 1, 1, 2), interface_bandwidth=BANDWIDTH)
    assert both == pytest.approx(LATENCY + ACKNOWLEDGED, rel=1e-3)


def test_an_interface_does_not_slow_what_stays_inside(two_messages: Path) -> None:
    free = time_of(two_messages, (0, 0, 0, 0))
    assert time_of(two_messages, (0, 0, 0, 0), interface_bandwidth=BANDWIDTH) == free


def test_messages_inside_a_host_share_its_memory(two_messages: Path) -> None:
    inside, apart = (0, 0, 0, 0), (0, 1, 0, 1)
    memory: dict[str, Any] = {"memory_bandwidth": BANDWIDTH, "loopback_latency": 0.0}
    assert time_of(two_messages, inside, **memory) == pytest.approx(2 * ACKNOWLEDGED)
    assert time_of(two_messages, apart, **memory) == pytest.approx(ACKNOWLEDGED)


def test_one_message_is_no_faster_than_the_loopback(two_messages: Path) -> None:
    fast = time_of(two_messages, (0, 0, 0, 0), memory_bandwidth=1e12)
    assert fast == pytest.approx(time_of(two_messages, (0, 0, 0, 0)))


@pytest.mark.parametrize("field", ["interface_bandwidth", "memory_bandwidth"])
def test_refuses_what_is_no_bandwidth(two_messages: Path, field: str) -> None:
    answer = answer_of(two_messages, on_a_line(0, 1, 0, 1, platform=line_of(2) | {field: 0}))
    assert answer["reason"]["message"] == f"platform.{field}: must be a number above 0"


def test_every_host_computes_at_its_own_speed(tmp_path: Path) -> None:
    work = [encode("compute", flops=1e6)]
    trace = write_program(tmp_path / "work.ht", [work, work])
    speeds = {"host_speeds": [4e9, 1e9, 2e9]}
    assert time_of(trace, (0, 1), **speeds) == pytest.approx(1e-3)
    assert time_of(trace, (0, 2), **speeds) == pytest.approx(0.5e-3)


def test_refuses_speeds_of_other_hosts(two_messages: Path) -> None:
    platform = line_of(2, host_speeds=[1e9])
    answer = answer_of(two_messages, on_a_line(0, 1, 0, 1, platform=platform))
    assert "platform.host_speeds: must have an entry for each" in answer["reason"]["message"]

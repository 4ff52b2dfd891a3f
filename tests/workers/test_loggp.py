"""LogGP, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import BANDWIDTH, LATENCY, on_a_line, write_program
from workers.loggp import LogGP


def test_a_message_takes_its_gap_and_the_latency_of_its_route(tmp_path: Path) -> None:
    message = {"tag": 0, "count": 1000, "size": 1}
    ranks = [
        [encode("compute", flops=1e6), encode("send", peer=1, **message)],
        [encode("recv", peer=0, **message)],
    ]
    trace = write_program(tmp_path / "message.ht", ranks)
    answer = LogGP([trace]).evaluate(on_a_line(0, 3))
    assert answer["simulated_time"] == pytest.approx(1e-3 + 1000 / BANDWIDTH + 3 * LATENCY)
    assert answer["link_loads"] == [[1000, 0]] * 3
    assert answer["messages"] == 1


def test_messages_of_different_ranks_share_no_cable(tmp_path: Path) -> None:
    message = {"tag": 0, "count": 1000, "size": 1}
    ranks = [
        [encode("send", peer=2, **message)],
        [encode("send", peer=3, **message)],
        [encode("recv", peer=0, **message)],
        [encode("recv", peer=1, **message)],
    ]
    trace = write_program(tmp_path / "two.ht", ranks)
    answer = LogGP([trace]).evaluate(on_a_line(0, 1, 2, 3))
    assert answer["simulated_time"] == pytest.approx(1000 / BANDWIDTH + 2 * LATENCY)


def test_more_messages_than_allowed_are_a_failure(tmp_path: Path) -> None:
    ranks = [[encode("allreduce", comm=0, count=1, size=8, flags=0)] for _ in range(4)]
    trace = write_program(tmp_path / "reduce.ht", ranks)
    answer = LogGP([trace]).evaluate(on_a_line(0, 1, 2, 3), messages=1)
    assert answer["reason"] == {"kind": "messages", "message": "more than 1 messages were sent"}

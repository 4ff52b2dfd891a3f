"""Several applications on one machine: alone where they do not meet, slower where they do."""

from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import answer_of, line_of, on_a_line, write_program


def exchanging(directory: Path, name: str, times: int = 20) -> Path:
    steps = [
        [
            encode("compute", flops=1e5),
            encode(
                "sendrecv", to=1 - rank, send_count=100_000, send_size=8,
                **{"from": 1 - rank}, recv_count=100_000, recv_size=8,
            ),
            encode("allreduce", count=100, size=8),
        ]
        * times
        for rank in range(2)
    ]  # fmt: skip
    return write_program(directory / f"{name}.ht", steps)


def together(traces: list[Path], *hosts: list[int], start: float = 0.0) -> dict[str, Any]:
    return answer_of(
        traces,
        {
            **on_a_line(0),
            "platform": line_of(4),
            "applications": [
                {"trace": 0, "hosts": hosts[0], "start": 0.0},
                {"trace": 1, "hosts": hosts[1], "start": start},
            ],
        },
    )


def test_applications_that_share_no_cable_take_what_they_take_alone(tmp_path: Path) -> None:
    traces = [exchanging(tmp_path, "a"), exchanging(tmp_path, "b", times=7)]
    alone = [
        answer_of(trace, {**on_a_line(*hosts), "platform": line_of(4)})["simulated_time"]
        for trace, hosts in zip(traces, [(0, 1), (2, 3)], strict=True)
    ]
    answer = together(traces, [0, 1], [2, 3])
    assert answer["application_times"] == pytest.approx(alone, rel=1e-12)


def test_an_empty_application_changes_nothing(tmp_path: Path) -> None:
    trace = exchanging(tmp_path, "a")
    empty = write_program(tmp_path / "empty.ht", [[]])
    alone = answer_of(trace, {**on_a_line(0, 3), "platform": line_of(4)})["simulated_time"]
    answer = together([trace, empty], [0, 3], [1])
    assert answer["application_times"][0] == pytest.approx(alone, rel=1e-12)
    assert answer["simulated_time"] == answer["application_times"][0]


def test_applications_that_share_cables_slow_each_other_down(tmp_path: Path) -> None:
    traces = [exchanging(tmp_path, "a"), exchanging(tmp_path, "b")]
    apart = together(traces, [0, 1], [2, 3])["simulated_time"]
    crossing = together(traces, [0, 2], [1, 3])["application_times"]
    late = together(traces, [0, 2], [1, 3], start=1.0)["application_times"]
    assert min(crossing) > 1.3 * apart
    assert late[0] < min(crossing)
    assert late[1] == pytest.approx(1.0 + late[0], rel=1e-6)

"""What every back end owes its callers; each that is listed is held to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import line_of, on_a_line, write_program
from workers.back_end import BackEnd
from workers.back_ends import BACK_ENDS
from workers.engine import SimulatorError

BYTES = 1_000_000
FLOPS = 1e6


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Rank 0 computes, then sends to rank 2, which answers with as much."""
    message = {"tag": 0, "count": BYTES, "size": 1}
    ranks = [
        [
            encode("compute", flops=FLOPS),
            encode("send", peer=2, **message),
            encode("recv", peer=2, **message),
        ],
        [],
        [encode("recv", peer=0, **message), encode("send", peer=0, **message)],
    ]
    return write_program(tmp_path / "there-and-back.ht", ranks)


@pytest.fixture(params=sorted(BACK_ENDS))
def back_end(request: pytest.FixtureRequest, trace: Path) -> Iterator[BackEnd]:
    started = BACK_ENDS[request.param]([trace])
    yield started
    started.close()


def asked(*hosts: int, **platform: Any) -> dict[str, Any]:
    whole = on_a_line(*hosts, platform=line_of(3, **platform))
    return {name: whole[name] for name in ("platform", "applications", "options")}


def test_an_answer_has_a_time_and_what_it_cost(back_end: BackEnd) -> None:
    answer = back_end.evaluate(asked(0, 1, 2))
    assert (answer["status"], answer["reason"], answer["estimate"]) == ("completed", None, None)
    assert answer["simulated_time"] > 0
    assert [len(times) for times in answer["rank_finish_times"]] == [3]
    assert len(answer["application_times"]) == 1
    assert {"messages", "cpu_seconds", "wall_seconds", "peak_rss_bytes"} <= answer.keys()
    json.dumps(answer)


def test_the_same_request_has_the_same_answer(back_end: BackEnd) -> None:
    first, second = (back_end.evaluate(asked(0, 1, 2)) for _ in range(2))
    assert first["simulated_time"] == second["simulated_time"]
    assert first["link_loads"] == second["link_loads"]


def test_a_message_is_no_faster_than_its_cable(back_end: BackEnd) -> None:
    answer = back_end.evaluate(asked(0, 1, 2, link_bandwidth=1e8))
    assert answer["simulated_time"] >= FLOPS / 1e9 + BYTES / 1e8


@pytest.mark.parametrize(
    "worse", [{"link_bandwidth": 1e7}, {"link_latency": 1e-2}, {"host_speed": 1e7}]
)
def test_a_slower_machine_takes_longer(back_end: BackEnd, worse: dict[str, float]) -> None:
    usual, slower = back_end.evaluate(asked(0, 1, 2)), back_end.evaluate(asked(0, 1, 2, **worse))
    assert slower["simulated_time"] > usual["simulated_time"]


def test_neighbours_take_no_longer_than_strangers(back_end: BackEnd) -> None:
    far, near = back_end.evaluate(asked(0, 1, 2)), back_end.evaluate(asked(0, 2, 1))
    assert near["simulated_time"] <= far["simulated_time"]


def test_loads_are_those_of_the_route(back_end: BackEnd) -> None:
    far, near = back_end.evaluate(asked(0, 1, 2)), back_end.evaluate(asked(0, 2, 1))
    assert [len(load) for load in far["link_loads"]] == [2, 2]
    assert all(bytes_ >= BYTES for load in far["link_loads"] for bytes_ in load)
    assert near["link_loads"][1] == [0, 0]


def test_past_the_cutoff_a_run_is_censored_there(back_end: BackEnd) -> None:
    whole = back_end.evaluate(asked(0, 1, 2))["simulated_time"]
    cut = back_end.evaluate(asked(0, 1, 2), cutoff=whole / 2)
    assert (cut["status"], cut["simulated_time"]) == ("censored", whole / 2)
    assert back_end.evaluate(asked(0, 1, 2), cutoff=2 * whole)["simulated_time"] == whole


def test_a_request_that_cannot_be_run_is_an_answer(back_end: BackEnd) -> None:
    answer = back_end.evaluate(asked(0, 1))
    assert (answer["status"], answer["simulated_time"]) == ("failed", None)
    assert answer["reason"]["kind"] == "invalid"
    assert "2 hosts for 3 ranks" in answer["reason"]["message"]
    assert back_end.evaluate(asked(0, 1, 2))["status"] == "completed"


@pytest.mark.parametrize(
    ("place", "field"), [("platform", "host_speed"), ("platform", "edges"), ("", "applications")]
)
def test_a_request_without_a_field_is_an_answer(back_end: BackEnd, place: str, field: str) -> None:
    request = asked(0, 1, 2)
    of = request[place] if place else request
    del of[field]
    answer = back_end.evaluate(request)
    assert (answer["status"], answer["reason"]["kind"]) == ("failed", "invalid")
    assert field in answer["reason"]["message"]
    assert back_end.evaluate(asked(0, 1, 2))["status"] == "completed"


def test_more_messages_than_allowed_are_a_failure(back_end: BackEnd) -> None:
    assert back_end.evaluate(asked(0, 1, 2), messages=2)["status"] == "completed"
    answer = back_end.evaluate(asked(0, 1, 2), messages=1)
    assert (answer["status"], answer["simulated_time"]) == ("failed", None)
    assert answer["reason"]["kind"] == "messages"


def test_nothing_is_under_way_before_the_first_evaluation(back_end: BackEnd) -> None:
    assert back_end.progress.share == 0.0


def test_what_is_closed_evaluates_no_more(back_end: BackEnd) -> None:
    back_end.evaluate(asked(0, 1, 2))
    back_end.close()
    with pytest.raises(SimulatorError):
        back_end.evaluate(asked(0, 1, 2))

"""A probe ends when there is a message to be received, and not at the next poll."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searchspace.formats.operations import encode
from tests.workers.simulator.runs import (
    BANDWIDTH,
    ENVELOPE,
    LATENCY,
    Server,
    answer_of,
    line_of,
    on_a_line,
    packets_on,
    write_program,
)

SPEED = 1e9  # flop/s of a core
EARLY, LATE = 1e-3, 3e-3  # s
BYTES = 100_000
NAMED: dict[str, Any] = {"peer": 0, "tag": 1}
ANY: dict[str, Any] = {"peer": -2, "tag": -1}
MODELS: dict[str, Callable[[], dict[str, Any]]] = {
    "fluid": lambda: on_a_line(0, 1),
    "eager": lambda: packets_on(line_of(2), 0, 1, eager_limit=None),
    "announced": lambda: packets_on(line_of(2), 0, 1, eager_limit=0),
}


def compute(seconds: float) -> bytes:
    return encode("compute", flops=seconds * SPEED)


def send(tag: int = 1, size: int = BYTES) -> bytes:
    return encode("send", peer=1, tag=tag, count=size, size=1)


def receive(tag: int = 1, size: int = BYTES) -> bytes:
    return encode("recv", peer=0, tag=tag, count=size, size=1)


def finish_times(path: Path, programs: list[list[bytes]], request: dict[str, Any]) -> list[float]:
    answer = answer_of(write_program(path / "probes.ht", programs), request)
    assert answer["reason"] is None
    times: list[float] = answer["rank_finish_times"][0]
    return times


@pytest.mark.parametrize("envelope", [NAMED, ANY], ids=["named", "any"])
@pytest.mark.parametrize("model", MODELS)
def test_it_ends_when_the_message_comes(
    model: str, envelope: dict[str, Any], tmp_path: Path
) -> None:
    programs = [
        [compute(EARLY), send()],
        [encode("probe", **envelope), compute(LATE), receive()],
    ]
    _, finished = finish_times(tmp_path, programs, MODELS[model]())
    across = BYTES / BANDWIDTH + LATENCY
    if (
        model == "fluid"
    ):  # which knows of a message as soon as it is sent, and moves it when both are there
        waited, received = 0.0, across + ENVELOPE / BANDWIDTH
    elif model == "eager":
        waited, received = across, 0.0
    else:
        waited, received = LATENCY, LATENCY + across
    assert finished == pytest.approx(EARLY + waited + LATE + received, rel=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_a_message_that_is_there_is_found_at_once(model: str, tmp_path: Path) -> None:
    late = [compute(LATE), encode("probe", **NAMED), receive()]
    _, finished = finish_times(tmp_path, [[send()], late], MODELS[model]())
    _, unasked = finish_times(tmp_path, [[send()], [late[0], late[2]]], MODELS[model]())
    assert finished == pytest.approx(unasked, rel=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_other_messages_do_not_end_it(model: str, tmp_path: Path) -> None:
    isend = encode("isend", slot=0, peer=1, tag=2, count=BYTES, size=1)
    programs = [
        [isend, compute(EARLY), send(), encode("wait", slot=0)],
        [encode("probe", **NAMED), compute(LATE), receive(), receive(2)],
    ]
    _, finished = finish_times(tmp_path, programs, MODELS[model]())
    assert finished > EARLY + LATE


@pytest.mark.parametrize("model", MODELS)
def test_one_that_nobody_sends_to_waits_for_ever(model: str, tmp_path: Path) -> None:
    other = encode("bsend", peer=1, tag=2, count=8, size=1)
    programs = [[other], [encode("probe", **NAMED), receive(2, 8)]]
    answer = answer_of(write_program(tmp_path / "lonely.ht", programs), MODELS[model]())
    assert answer["reason"]["kind"] == "deadlock"
    assert "rank 1 in probe" in answer["reason"]["message"]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    messages=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 200_000), st.integers(0, 2), st.integers(0, 2)),
        min_size=1,
        max_size=8,
    ),
    model=st.sampled_from(sorted(MODELS)),
)
def test_a_probe_before_a_receive_changes_nothing(
    messages: list[tuple[int, int, int, int]], model: str, tmp_path: Path
) -> None:
    sender, plain, probing = [], [], []
    for tag, size, work, pause in messages:
        sender += [compute(work * 1e-4), send(tag, size)]
        plain += [compute(pause * 1e-4), receive(tag, size)]
        probing += [*plain[-2:-1], encode("probe", peer=0, tag=tag), plain[-1]]
    expected = finish_times(tmp_path, [sender, plain], MODELS[model]())
    assert finish_times(tmp_path, [sender, probing], MODELS[model]()) == pytest.approx(
        expected, rel=1e-9
    )


def test_simgrid_itself_polls(tmp_path: Path, serve: Callable[..., Server]) -> None:
    """Each poll in vain makes the next pause longer: it asks at 0.1, 0.3, 0.6, 1.0 and 1.5 ms."""
    programs = [[compute(1.1e-3), send()], [encode("probe", **NAMED), receive()]]
    server = serve(write_program(tmp_path / "polls.ht", programs))
    request = on_a_line(0, 1)
    ours = server.ask(request)["simulated_time"]
    polling = server.ask(request | {"plain_simgrid": True})["simulated_time"]
    assert polling - ours == pytest.approx(0.4e-3)

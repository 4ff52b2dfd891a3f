"""What a server has ready from one request to the next does not change an answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.formats.operations import encode
from searchspace.kernels import trace_summary
from searchspace.truncation import truncate
from tests.workers.simulator.runs import PLAIN, Server, answer_of, on_a_line, write_program
from tests.workers.simulator.test_exactness import configurations
from workers.capture import capture_builtin

SAME = ("status", "simulated_time", "application_times", "rank_finish_times", "link_loads")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    capture_builtin("mg", "S", 8, {}, tmp_path / "mg.ht")
    return tmp_path / "mg.ht"


def test_answers_are_those_of_a_fresh_process(trace: Path, serve: Callable[..., Server]) -> None:
    server = serve(trace)
    chosen = itertools.islice(configurations("mg", 8, trace_summary(trace)), 3)
    requests = [{"id": "n", **resolved.simulator_request()} for resolved in chosen]
    for request in [*requests, *requests]:
        fresh = answer_of(trace, request)
        for asked in (request, request, {**request, "cutoff": 1e-9}, request):
            answer = server.ask(asked)
            if "cutoff" in asked:
                assert answer["status"] == "censored"
            else:
                assert {key: answer[key] for key in SAME} == {key: fresh[key] for key in SAME}


def test_other_requests_between_are_answered_too(trace: Path, serve: Callable[..., Server]) -> None:
    server = serve(trace)
    resolved = next(iter(configurations("mg", 8, trace_summary(trace))))
    request = {"id": "n", **resolved.simulator_request()}
    moved = dict(request, applications=[{"trace": 0, "hosts": [*range(7, -1, -1)]}])
    wrong = dict(request, options={"smpi/alltoall": "no such thing"})
    expected = {id(one): answer_of(trace, one) for one in (request, moved, wrong)}
    for asked in (request, request, request, wrong, request, moved, moved, moved, request):
        answer, fresh = server.ask(asked), expected[id(asked)]
        assert {key: answer[key] for key in SAME} == {key: fresh[key] for key in SAME}
        assert (answer["reason"] is None) == (fresh["reason"] is None)


def test_each_line_has_one_answer_where_some_are_no_requests(
    trace: Path, serve: Callable[..., Server]
) -> None:
    """A process that waits for requests begins with a line before anybody has looked into it."""
    server = serve(trace)
    resolved = next(iter(configurations("mg", 8, trace_summary(trace))))
    request = resolved.simulator_request()
    time = answer_of(trace, {"id": "n", **request})["simulated_time"]
    for number in range(20):
        wrong = {"id": number, **request, "unknown": 1}
        assert server.ask(wrong)["reason"]["kind"] == "invalid"
        server.say("{" * 100)
        assert server.hear()["reason"]["kind"] == "invalid"
        for name in ("first", "second"):
            answer = server.ask({"id": f"{name} {number}", **request})
            assert (answer["id"], answer["simulated_time"]) == (f"{name} {number}", time)


def test_what_one_request_has_chosen_does_not_last(
    tmp_path: Path, serve: Callable[..., Server]
) -> None:
    """On a truncated trace whose collectives are those of a group of neighbours, too."""
    step = (
        encode("compute", flops=1e5)
        + encode("allreduce", count=500, size=8)
        + encode("bcast", count=9, size=8)
    )
    begin = encode("cart_create", dims=[2, 1, 4, 0], reorder=0)
    whole = write_program(tmp_path / "steps.ht", [[begin, *[step] * 40]] * 8)
    truncate(whole, tmp_path / "short.ht")
    plain = on_a_line(*range(8))
    chosen = [
        plain,
        *(
            plain | {"options": PLAIN | options}
            for options in (
                {"smpi/allreduce": "mvapich2_two_level"},
                {"smpi/allreduce": "rdb", "smpi/bcast": "binomial_tree"},
                {"smpi/bcast": "arrival_pattern_aware"},  # sends what nobody receives
                {"smpi/bcast": "arrival_pattern_aware_wait"},  # looks for messages again and again
                {"smpi/coll-selector": "mvapich2"},
                {"smpi/coll-selector": "ompi", "smpi/lat-factor": "0:3"},
            )
        ),
        on_a_line(*range(8), applications=[{"trace": 0, "hosts": [3, 0, 7, 5, 1, 2, 6, 4]}]),
    ]
    fresh = [answer_of(tmp_path / "short.ht", request) for request in chosen]
    assert len({answer["simulated_time"] for answer in fresh}) > 3
    server = serve(tmp_path / "short.ht")
    for index in random.Random(3).choices(range(len(chosen)), k=60):
        answer = server.ask(chosen[index])
        for key in (*SAME, "estimate"):
            assert answer[key] == fresh[index][key]


def test_a_request_that_fails_leaves_nothing_behind(
    tmp_path: Path, serve: Callable[..., Server]
) -> None:
    message = {"tag": 1, "count": 1, "size": 8}
    take = [encode("recv", peer=0, **message)] * 20_000
    trace = write_program(
        tmp_path / "hoarder.ht",
        [[encode("send", peer=1, **message)] * 20_000, [encode("compute", flops=1e9), *take]],
    )
    server = serve(trace)
    request = on_a_line(0, 1)
    fresh = answer_of(trace, request)
    for limit in (None, None, None, 1 << 20, None, 1 << 20, 1 << 30, None):
        answer = server.ask(request | ({} if limit is None else {"memory_bytes": limit}))
        if limit == 1 << 20:
            assert answer["reason"]["kind"] == "memory"
        else:
            assert {key: answer[key] for key in SAME} == {key: fresh[key] for key in SAME}

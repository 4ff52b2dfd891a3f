"""What a server has ready from one request to the next does not change an answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.kernels import trace_summary
from tests.workers.simulator.runs import Server, answer_of
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

"""What an agent makes of a service's answers."""

from __future__ import annotations

import json
import math
import threading
from typing import Any, cast

import httpx
import pytest

from measuring.agent import Agent, Program, Refused
from measuring.clusters import Cluster, Launch, Ran, Unwanted


def agent(answers: list[httpx.Response]) -> Agent:
    """One whose service gives these answers."""
    http = httpx.Client(
        transport=httpx.MockTransport(lambda _: answers.pop(0)), base_url="http://service"
    )
    nothing_runs = cast("Cluster", None)
    return Agent(
        http, name="a", cluster_name="c", cluster=nothing_runs, library="openmpi", programs={}
    )


def test_an_agent_without_work_ends_where_it_is_asked_to() -> None:
    assert agent([httpx.Response(204)]).serve(threading.Event(), until_idle=True) == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx.Response(404, text="<html>no such page</html>"), "answers 404 Not Found"),
        (httpx.Response(404, json={"detail": "there is no /api"}), "there is no /api"),
        (httpx.Response(403, json={"detail": "the key may not"}), "the key may not"),
    ],
)
def test_where_there_is_no_service_for_agents_it_says_so(answer: httpx.Response, said: str) -> None:
    answer.request = httpx.Request("POST", "http://service/api/v1/agents/work")
    with pytest.raises(Refused, match=said):
        agent([answer]).serve(threading.Event(), until_idle=True)


WORK = {"job": "j", "place": 0, "number": 1, "application": "a", "plan": {}, "beat_seconds": 5}


@pytest.mark.parametrize(
    "text",
    [
        "<html>",
        "[]",
        "{}",
        json.dumps(WORK),
        json.dumps({**WORK, "seconds": math.nan}),
        json.dumps({**WORK, "seconds": 60, "beat_seconds": 0}),
        json.dumps({**WORK, "seconds": 60, "place": "first"}),
    ],
)
def test_an_answer_of_something_else_ends_the_agent_in_a_line(text: str) -> None:
    answer = httpx.Response(200, text=text)
    answer.request = httpx.Request("POST", "http://service/api/v1/agents/work")
    with pytest.raises(Refused, match="asks for a run as no service of this version does"):
        agent([answer]).serve(threading.Event(), until_idle=True)


class Waiting:
    """A cluster whose first run lasts until nobody wants it, and each other one takes a second."""

    hosts = ("n1", "n2")
    cores_per_host = 1

    def __init__(self) -> None:
        self.launches: list[Launch] = []

    def run(self, launch: Launch) -> Ran:
        self.launches.append(launch)
        if len(self.launches) > 1:
            return Ran(output="", seconds=1.0)
        assert launch.unwanted.wait(60.0), "the agent does not end what is no longer wanted"
        raise Unwanted("ended")

    def origin(self, _library: str) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("status", [404, 409])
def test_what_the_service_wants_no_more_is_ended_and_the_next_run_begun(status: int) -> None:
    plan: dict[str, Any] = {"ranks": 2, "hosts": None, "settings": {}}
    work = {**WORK, "label": "trial 3", "plan": plan, "seconds": 60, "beat_seconds": 0.01}
    asked = [work, {**work, "number": 2}]
    told = []

    def answer(request: httpx.Request) -> httpx.Response:
        what = request.url.path.rpartition("/")[2]
        if what == "work":
            return httpx.Response(200, json=asked.pop(0)) if asked else httpx.Response(204)
        if what == "beat" and "/1/" in request.url.path:
            return httpx.Response(status)
        if what == "outcome":
            told.append(request.url.path)
        return httpx.Response(204)

    cluster = Waiting()
    http = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://service")
    serving = Agent(
        http,
        name="a",
        cluster_name="c",
        cluster=cast("Cluster", cluster),
        library="openmpi",
        programs={"a": Program(("true",))},
    )
    lines: list[str] = []
    assert serving.serve(threading.Event(), until_idle=True, said=lines.append) == 1
    assert told == ["/api/v1/agents/runs/j/0/2/outcome"]
    assert lines == [
        "trial 3 of job j, run 1: ended before its time, for it is no longer wanted",
        "trial 3 of job j, run 2: 1 s",
    ]

"""What an agent makes of a service's answers."""

from __future__ import annotations

import json
import math
import threading
from typing import cast

import httpx
import pytest

from measuring.agent import Agent, Refused
from measuring.clusters import Cluster


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

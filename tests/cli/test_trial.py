"""What a trial is told with, where the service does not know all of it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from cli.client import Client
from cli.trial import named, placement
from cli.trial_words import limit_of
from searchspace.errors import HamtuneError

CABLES = {"worst": [{"cable": 1, "bytes": [8, 0]}]}
TRIAL = {"number": 1, "state": "completed", "summary": {"link_loads": CABLES}}


def test_the_busiest_cable_is_named_by_its_ends() -> None:
    network = {"edges": [[0, 1, 1], [1, 2, 1]], "hosts": 3}
    assert named(CABLES, {"network": network, "choices": []})["busiest_cable"] == [1, 2]


def test_of_a_network_too_large_to_be_drawn_the_ends_are_not_known() -> None:
    assert named(CABLES, {"network": None, "choices": []}) == {
        "busiest_cable": None,
        "hosts": None,
        "words": [],
    }


@pytest.mark.parametrize("status", [404, 409])
def test_a_trial_is_told_without_its_place_where_that_is_not_known(status: int) -> None:
    assert placement(answering(status), {"id": "j"}, TRIAL) is None


def test_an_error_of_the_service_is_told() -> None:
    with pytest.raises(HamtuneError, match="500"):
        placement(answering(500), {"id": "j"}, TRIAL)


def test_a_comparison_is_not_ended_by_the_wall_time_of_the_job_file() -> None:
    job: dict[str, Any] = {"spec": {"limits": {"wall_seconds": 600.0, "memory": 2**32}}}
    stopped = {"kind": "wall", "message": "stopped after 10 s of wall-clock time"}
    assert limit_of(job, stopped, kind="comparison") is None
    assert limit_of(job, stopped, kind="refinement") == "limits.wall_seconds (10 min)"
    assert limit_of(job, {"kind": "memory"}, kind="comparison") == "limits.memory (4 GiB)"


def answering(status: int) -> Client:
    """A service that answers everything with a status."""
    transport = httpx.MockTransport(lambda _: httpx.Response(status))
    return Client(httpx.Client(transport=transport, base_url="http://127.0.0.1"))

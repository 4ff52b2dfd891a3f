"""What scripts send over REST: what is taken, what is refused, and who may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from storage.proposal import Proposal
from storage.storage import Storage
from tests.tuner.analytic import prepare

API = "/api/v1/jobs"
POINT = {"topology": "random", "topology_seed": 1, "ordering": "original"}


@pytest.fixture
def take(storage: Storage) -> Callable[[str], int]:
    """Prepares a job and has it run, as a coordinator would; the token of its lease."""

    def run(job_id: str) -> int:
        job = storage.leases.acquire("test", 600.0, job_id)
        assert job is not None
        prepare(storage, job_id)
        storage.jobs.transition(job_id, "running", token=job.lease_token)
        return job.lease_token

    return run


@pytest.fixture
def proposing(create_job: Callable[..., str], take: Callable[[str], int]) -> str:
    """A running job whose configurations a script proposes."""
    job_id = create_job(external="proposals")
    take(job_id)
    return job_id


@pytest.fixture
def measuring(create_job: Callable[..., str], take: Callable[[str], int], storage: Storage) -> str:
    """A running job with two trials that a script is to measure."""
    job_id = create_job(external="measurements", batch=2)
    token = take(job_id)
    for number in (1, 2):
        storage.trials.propose(
            job_id,
            token,
            Proposal(
                number=number,
                kind="search",
                configuration=POINT,
                configuration_sha256=str(number) * 64,
                technique="PureRandom",
                cutoff=2.0,
            ),
        )
    return job_id


def detail(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    return str(response.json()["detail"])


def test_a_configuration_is_proposed_and_waits_for_its_turn(
    client: TestClient, proposing: str
) -> None:
    sent = client.post(f"{API}/{proposing}/proposals", json={"configuration": POINT})
    assert sent.status_code == 201, sent.text
    proposal = sent.json()
    assert (proposal["place"], proposal["state"], proposal["trial"]) == (1, "waiting", None)
    # What has one value alone need not be said.
    assert proposal["configuration"].items() >= POINT.items()
    assert client.get(f"{API}/{proposing}/proposals/1").json() == proposal
    assert "no proposal 2" in detail(client.get(f"{API}/{proposing}/proposals/2"), 404)


def test_a_proposal_sent_again_with_its_key_is_the_same(client: TestClient, proposing: str) -> None:
    def send(key: str, **changes: Any) -> Any:
        return client.post(
            f"{API}/{proposing}/proposals",
            json={"configuration": {**POINT, **changes}},
            headers={"Idempotency-Key": key},
        )

    first = send("a")
    assert send("a").json() == first.json()
    assert "another configuration" in detail(send("a", ordering="hamorder"), 409)
    assert send("b").json()["place"] == 2


def test_parameters_that_do_not_count_are_left_out(client: TestClient, proposing: str) -> None:
    torus = {**POINT, "topology": "torus-2d", "collectives": {}}
    found = client.post(f"{API}/{proposing}/proposals", json={"configuration": torus}).json()
    assert "topology_seed" not in found["configuration"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"configuration": {**POINT, "ordering": "hilbert"}}, "configuration.ordering: 'hilbert'"),
        ({"configuration": {**POINT, "colour": 1}}, "configuration.colour: unknown parameter"),
        ({"configuration": {"topology": "random"}}, "is missing"),
        ({"configuration": {"topology": {"a": {"b": {"c": {"d": {"e": 1}}}}}}}, "configuration"),
        ({"configuration": [1]}, "configuration"),
        ({}, "configuration"),
        ({"configuration": POINT, "wait": 31}, "wait"),
        ({"configuration": POINT, "value": 1.0}, "value: unknown field"),
    ],
)
def test_what_is_no_point_of_the_space_is_refused(
    client: TestClient, proposing: str, document: dict[str, Any], message: str
) -> None:
    assert message in detail(client.post(f"{API}/{proposing}/proposals", json=document), 422)


def test_proposals_are_refused_until_there_is_a_space(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    job_id = create_job(external="proposals")
    sent = client.post(f"{API}/{job_id}/proposals", json={"configuration": POINT})
    assert "has no space yet" in detail(sent, 409)


def test_jobs_without_scripts_and_of_the_other_kind_refuse_them(
    client: TestClient, create_job: Callable[..., str], proposing: str, measuring: str
) -> None:
    ordinary = create_job()
    proposal, ask = {"configuration": POINT}, {"most": 1}
    for job_id in (ordinary, measuring):
        sent = client.post(f"{API}/{job_id}/proposals", json=proposal)
        assert "scripts need 'proposals' there" in detail(sent, 409)
    for job_id in (ordinary, proposing):
        assert "need 'measurements'" in detail(client.post(f"{API}/{job_id}/ask", json=ask), 409)
        told = client.post(f"{API}/{job_id}/trials/1/tell", json={"attempt": 1, "value": 1.0})
        assert "need 'measurements'" in detail(told, 409)
        given = client.post(f"{API}/{job_id}/trials/1/release", json={"attempt": 1})
        assert "need 'measurements'" in detail(given, 409)


def test_a_body_is_bounded(client: TestClient, proposing: str, measuring: str) -> None:
    large = {"configuration": {"topology": "x" * (1024 * 1024)}}
    detail(client.post(f"{API}/{proposing}/proposals", json=large), 413)
    reason = {"attempt": 1, "status": "failed", "reason": "x" * (1024 * 1024)}
    detail(client.post(f"{API}/{measuring}/trials/1/tell", json=reason), 413)


def test_a_trial_is_asked_told_and_shown(client: TestClient, measuring: str) -> None:
    asked = client.post(f"{API}/{measuring}/ask", json={"asker": "login1"}).json()
    assert asked["job_state"] == "running"
    (one,) = asked["items"]
    assert (one["trial"], one["attempt"], one["cutoff"], one["state"]) == (1, 1, 2.0, "running")
    assert one["configuration"] == POINT
    told = client.post(f"{API}/{measuring}/trials/1/tell", json={"attempt": 1, "value": 1.5})
    assert told.status_code == 200
    assert (told.json()["state"], told.json()["value"]) == ("completed", 1.5)
    assert told.json()["worker"] == "login1"
    assert client.get(f"{API}/{measuring}/trials/1").json()["value"] == 1.5

    best = client.get(f"{API}/{measuring}/best").json()
    assert (best["decided_by"], best["model"]) == ("script", "measured by a script")
    assert best["within_error"] is None
    replay = client.post(f"{API}/{measuring}/trials/1/replay")
    assert "was measured by a script" in detail(replay, 409)


def test_a_trial_is_handed_back(client: TestClient, measuring: str) -> None:
    client.post(f"{API}/{measuring}/ask", json={"asker": "login1"})
    release = f"{API}/{measuring}/trials/1/release"
    given = client.post(release, json={"attempt": 1})
    assert (given.status_code, given.json()["state"]) == (200, "pending")
    assert client.post(release, json={"attempt": 1}).json()["state"] == "pending"
    asked = client.post(f"{API}/{measuring}/ask", json={"asker": "login2"}).json()
    assert [(one["trial"], one["attempt"]) for one in asked["items"]] == [(1, 2)]
    assert "given to no script" in detail(client.post(release, json={"attempt": 3}), 404)
    assert "attempt: " in detail(client.post(release, json={}), 422)


def test_an_ask_sent_again_with_its_key_gives_the_same_trial(
    client: TestClient, measuring: str
) -> None:
    def send(key: str, most: int = 1) -> Any:
        headers = {"Idempotency-Key": key}
        return client.post(f"{API}/{measuring}/ask", json={"most": most}, headers=headers)

    first = send("a").json()
    assert send("a").json() == first
    detail(send("a", most=2), 409)
    assert [one["trial"] for one in send("b", most=64).json()["items"]] == [2]
    assert send("c").json()["items"] == []


def test_told_again_nothing_changes_told_otherwise_it_is_refused(
    client: TestClient, measuring: str
) -> None:
    client.post(f"{API}/{measuring}/ask", json={})
    tell = f"{API}/{measuring}/trials/1/tell"
    first = client.post(tell, json={"attempt": 1, "value": 1.5}).json()
    assert client.post(tell, json={"attempt": 1, "value": 1.5}).json() == first
    assert "stays so" in detail(client.post(tell, json={"attempt": 1, "value": 1.25}), 409)
    assert "given to no script" in detail(client.post(tell, json={"attempt": 2, "value": 1.5}), 404)
    other = f"{API}/{measuring}/trials/9/tell"
    assert "no trial" in detail(client.post(other, json={"attempt": 1, "value": 1.5}), 404)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ({"value": 0}, "value"),
        ({"value": -1.5}, "value"),
        ({"value": 1e12}, "value"),
        ({"value": "fast"}, "value"),
        ({}, "value: is missing"),
        ({"value": 1.0, "reason": "slow"}, "reason: a trial that is completed has none"),
        ({"status": "failed"}, "reason: is missing"),
        ({"status": "infeasible", "value": 1.0, "reason": "no"}, "value: a trial that is infeas"),
        ({"status": "lost", "reason": "no"}, "status"),
        ({"value": 1.0, "attempt": 0}, "attempt"),
    ],
)
def test_ill_outcomes_are_refused(
    client: TestClient, measuring: str, outcome: dict[str, Any], message: str
) -> None:
    client.post(f"{API}/{measuring}/ask", json={})
    sent = client.post(f"{API}/{measuring}/trials/1/tell", json={"attempt": 1, **outcome})
    assert message in detail(sent, 422)
    assert client.get(f"{API}/{measuring}/trials/1").json()["state"] == "running"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_json_has_no_number_for_is_refused(
    client: TestClient, measuring: str, number: str
) -> None:
    client.post(f"{API}/{measuring}/ask", json={})
    sent = client.post(
        f"{API}/{measuring}/trials/1/tell",
        content=f'{{"attempt": 1, "value": {number}}}',
        headers={"Content-Type": "application/json"},
    )
    detail(sent, 400)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("censored", {"value": 2.0}),
        ("failed", {"reason": "exit status 1"}),
        ("infeasible", {"reason": "there are too few hosts"}),
    ],
)
def test_a_trial_may_have_no_time(
    client: TestClient, measuring: str, status: str, outcome: dict[str, Any]
) -> None:
    client.post(f"{API}/{measuring}/ask", json={})
    tell = f"{API}/{measuring}/trials/1/tell"
    told = client.post(tell, json={"attempt": 1, "status": status, **outcome}).json()
    assert told["state"] == status
    assert told["value"] == outcome.get("value")
    reason = outcome.get("reason")
    assert told["reason"] == (reason and {"kind": "script", "message": reason})

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.trials.pages import Pages
from service.trials.schemas import TrialPage
from storage.proposal import Proposal
from storage.records import Headway, Outcome
from storage.storage import Storage

URL = "/api/v1/jobs"
DONE = Outcome(
    status="completed",
    value=1.0,
    result={"rank_finish_times": [[1.0, 0.9]], "link_loads": [[8, 8]]},
    cpu_seconds=0.5,
)
FAILED = Outcome(status="failed", reason={"kind": "crash", "message": "signal 11"})


@pytest.mark.parametrize(
    "path",
    [
        "trials?limit=0",
        "trials?limit=501",
        "trials?after=-1",
        "trials?after=9999999999999999999999",
        "trials?state=lost",
        "trials/0",
        "trials/first",
        "trials/9999999999999999999999",
    ],
)
def test_wrong_parameters_are_refused(
    client: TestClient, create_job: Callable[..., str], path: str
) -> None:
    response = client.get(f"{URL}/{create_job()}/{path}")
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


def test_a_trial_that_was_not_asked_yet_is_not_found(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    assert client.get(f"{URL}/{create_job()}/trials/1").status_code == 404


def test_trials_are_listed_in_the_order_of_asking(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    add_trials(job_id, *[DONE] * 5)
    first = client.get(f"{URL}/{job_id}/trials", params={"limit": 2}).json()
    assert [trial["number"] for trial in first["items"]] == [1, 2]
    rest = client.get(f"{URL}/{job_id}/trials", params={"after": first["cursor"]}).json()
    assert [trial["number"] for trial in rest["items"]] == [3, 4, 5]
    assert rest["cursor"] is None


def test_a_page_that_was_written_before_tells_what_has_come_since(
    client: TestClient, storage: Storage, create_job: Callable[..., str],
    add_trials: Callable[..., None],
) -> None:  # fmt: skip
    job_id = create_job()
    add_trials(job_id, DONE, None, FAILED, DONE)

    def page(**query: int) -> dict[str, Any]:
        answer = client.get(f"{URL}/{job_id}/trials", params=query)
        return dict(TrialPage.model_validate(answer.json()).model_dump())

    before = page(limit=3)
    assert [(one["number"], one["state"]) for one in before["items"]] == [
        (1, "completed"), (2, "pending"), (3, "failed")
    ]  # fmt: skip
    leased = storage.leases.acquire("test", 60.0, job_id)
    assert leased is not None
    storage.trials.settle(f"{job_id}-2", leased.lease_token, DONE)
    after = page(limit=3)
    assert [one["state"] for one in after["items"]] == ["completed", "completed", "failed"]
    assert page(limit=3) == after, "from what was written"
    assert (after["items"][0], after["cursor"]) == (before["items"][0], 3)
    assert page(after=3)["items"] == page()["items"][3:]
    assert client.get(f"{URL}/nothing/trials").status_code == 404


def test_pages_read_in_any_order_are_parts_of_the_whole(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    add_trials(job_id, DONE, FAILED, None, DONE, None, DONE)
    pages = {}
    for after, limit in [(3, 1), (1, 1), (4, 9), (0, 4), (2, 2), (0, 6), (0, 5), (6, 1)]:
        answer = client.get(f"{URL}/{job_id}/trials", params={"after": after, "limit": limit})
        pages[after, limit] = [one["number"] for one in answer.json()["items"]]
        assert answer.json()["cursor"] == (after + limit if after + limit < 6 else None)
    assert pages == {
        (after, limit): list(range(after + 1, min(after + limit, 6) + 1)) for after, limit in pages
    }


def test_trials_written_long_ago_are_forgotten(
    storage: Storage, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    add_trials(job_id, *[DONE] * 6)
    trials = storage.trials.of_job(job_id)
    pages = Pages(kept=4)

    lines = pages.write(trials)

    assert pages.known(job_id, range(1, 7)) == [None] * 4 + lines[4:]


def test_trials_are_filtered_by_state(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    add_trials(job_id, DONE, FAILED, DONE, None)
    failed = client.get(f"{URL}/{job_id}/trials", params={"state": "failed"}).json()
    assert [trial["number"] for trial in failed["items"]] == [2]
    assert failed["items"][0]["reason"] == {"kind": "crash", "message": "signal 11"}
    assert "result" not in failed["items"][0]


def test_one_trial_shows_what_was_measured(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    add_trials(job_id, DONE, baselines=("random original default",))
    trial = client.get(f"{URL}/{job_id}/trials/1").json()
    assert trial["result"] == DONE.result
    assert trial["value"] == 1.0
    assert trial["kind"] == "baseline"
    assert trial["label"] == "random original default"
    assert trial["configuration"] == {"topology": "random", "topology_seed": 1}


def test_one_trial_shows_how_it_was_evaluated(
    client: TestClient, storage: Storage, create_job: Callable[..., str]
) -> None:
    job_id = create_job()
    job = storage.leases.acquire("test", 600.0, job_id)
    assert job is not None
    storage.jobs.transition(job_id, "running", token=job.lease_token)
    trial = storage.trials.propose(
        job_id,
        job.lease_token,
        Proposal(
            number=1,
            kind="search",
            configuration={"topology": "torus-2d"},
            configuration_sha256="0" * 64,
            technique="PureRandom",
        ),
    )
    lost = storage.attempts.open(trial.id, job.lease_token)
    storage.attempts.begin(lost.id, "dead")
    storage.attempts.expire(job_id, job.lease_token, 0.0)
    again = storage.attempts.open(trial.id, job.lease_token)
    storage.attempts.begin(again.id, "alive")
    storage.attempts.heartbeat(again.id, Headway(0.0402, 0.43))
    (running,) = client.get(f"{URL}/{job_id}/trials/running").json()
    storage.attempts.finish(again.id, DONE)

    shown = client.get(f"{URL}/{job_id}/trials/1").json()

    told = [(one["number"], one["state"], one["worker"]) for one in shown["attempts"]]
    assert told == [(1, "lost", "dead"), (2, "finished", "alive")]
    assert shown["worker"] == "alive"
    assert (running["trial"], running["attempt"], running["worker"]) == (1, 2, "alive")
    assert (running["simulated_time"], running["share"]) == (0.0402, 0.43)
    assert client.get(f"{URL}/{job_id}/trials/running").json() == []

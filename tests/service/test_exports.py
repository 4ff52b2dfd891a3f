import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from searchspace.configuration import Configuration
from service.exports.registry import EXPORTERS
from storage.proposal import Proposal
from storage.records import Outcome
from storage.storage import Storage

URL = "/api/v1/jobs"


@pytest.fixture
def job_with_best(
    client: TestClient,
    storage: Storage,
    create_job: Callable[..., str],
    add_trials: Callable[..., None],
    trace: Path,
) -> str:
    """A job over an uploaded trace with one completed trial."""
    application = client.post(
        "/api/v1/applications",
        content=trace.read_bytes(),
        headers={"Content-Type": "application/octet-stream"},
    ).json()
    job_id = create_job(application={"id": application["id"]})
    storage.jobs.set_prepared(job_id, application_id=application["id"], space={"size": 4})
    result = {"rank_finish_times": [[1.0, 1.0]], "link_loads": [[8, 8]] * 32}
    add_trials(job_id, Outcome(status="completed", value=1.0, result=result))
    return job_id


@pytest.fixture
def settle(storage: Storage, job_with_best: str) -> Callable[[Outcome], int]:
    """Gives that job one more trial, which has the outcome told; answers its number."""

    def add(outcome: Outcome) -> int:
        job = storage.leases.acquire("test", 600.0, job_with_best)
        assert job is not None
        number = 1 + len(storage.trials.of_job(job_with_best))
        configuration = Configuration({"topology": "random", "topology_seed": number})
        trial = storage.trials.propose(
            job_with_best,
            job.lease_token,
            Proposal.of(
                configuration,
                number=number,
                kind="search",
                technique="PureRandom",
            ),
        )
        storage.trials.settle(trial.id, job.lease_token, outcome)
        storage.leases.release(job_with_best, job.lease_token)
        return number

    return add


def test_an_unknown_format_names_the_known_ones(client: TestClient, job_with_best: str) -> None:
    response = client.get(f"{URL}/{job_with_best}/exports/pdf")
    assert response.status_code == 422
    assert "allowed: " + ", ".join(EXPORTERS) in response.json()["detail"]


@pytest.mark.parametrize("format_name", EXPORTERS)
def test_without_a_completed_trial_there_is_nothing_to_export(
    client: TestClient, create_job: Callable[..., str], format_name: str
) -> None:
    response = client.get(f"{URL}/{create_job()}/exports/{format_name}")
    assert response.status_code == 409
    assert response.headers["content-type"] == "application/problem+json"


def test_a_file_that_is_not_in_it_is_not_found(client: TestClient, job_with_best: str) -> None:
    response = client.get(
        f"{URL}/{job_with_best}/exports/json", params={"name": "../../etc/passwd"}
    )
    assert response.status_code == 404
    assert "it has: " in response.json()["detail"]


@pytest.mark.parametrize("format_name", EXPORTERS)
def test_an_export_is_an_archive_or_one_of_its_files(
    client: TestClient, job_with_best: str, format_name: str
) -> None:
    url = f"{URL}/{job_with_best}/exports/{format_name}"
    response = client.get(url)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/zip"
    assert response.headers["content-disposition"] == (
        f'attachment; filename="{job_with_best}-{format_name}.zip"'
    )
    with zipfile.ZipFile(BytesIO(response.content)) as packed:
        assert packed.testzip() is None
        for name in packed.namelist():
            assert client.get(url, params={"name": name}).content == packed.read(name)
            if name.endswith(".json"):
                json.loads(packed.read(name))


def test_a_trial_that_is_not_the_best_is_exported_and_says_so(
    client: TestClient, storage: Storage, job_with_best: str, settle: Callable[[Outcome], int]
) -> None:
    slower = settle(Outcome(status="completed", value=2.0))
    response = client.post(f"{URL}/{job_with_best}/exports/mpich", json={"trial": slower})
    assert response.status_code == 200, response.text
    assert f"-trial-{slower}-mpich.zip" in response.headers["content-disposition"]
    with zipfile.ZipFile(BytesIO(response.content)) as packed:
        readme = " ".join(packed.read("README.txt").decode().split())
    assert f"trial {slower}: 2 s simulated" in readme
    assert "It is not the best of the job, which is trial 1 with 1 s." in readme


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome(status="censored", value=1.0), "censored"),
        (Outcome(status="failed", reason={"kind": "crash", "message": "signal 11"}), "failed"),
    ],
)
def test_a_trial_without_a_time_is_not_exported(
    client: TestClient,
    job_with_best: str,
    settle: Callable[[Outcome], int],
    outcome: Outcome,
    state: str,
) -> None:
    number = settle(outcome)
    response = client.get(f"{URL}/{job_with_best}/exports/json", params={"trial": number})
    assert response.status_code == 409
    assert f"is {state}: only trials that have completed are exported" in response.json()["detail"]
    assert client.get(f"{URL}/{job_with_best}/exports/json?trial=99").status_code == 404
    assert client.get(f"{URL}/{job_with_best}/exports/json?trial=0").status_code == 422


def test_a_replay_tells_what_is_other_than_what_was_stored(
    client: TestClient, job_with_best: str, settle: Callable[[Outcome], int]
) -> None:
    again = client.post(f"{URL}/{job_with_best}/trials/1/replay").json()
    assert again["verdict"] == "differs"
    assert 0 < again["value"] < again["stored_value"] == 1.0
    assert again["difference"] == pytest.approx(again["value"] - 1.0)
    assert again["ranks_that_differ"] == 2
    fast = settle(Outcome(status="censored", value=again["value"] / 2))
    slow = settle(Outcome(status="censored", value=again["value"] * 2))
    for number, verdict in ((fast, "consistent"), (slow, "differs")):
        url = f"{URL}/{job_with_best}/trials/{number}/replay"
        assert client.post(url).json()["verdict"] == verdict


def test_a_trial_without_an_outcome_is_not_replayed(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    add_trials(job_id, None, Outcome(status="completed", value=1.0))
    for number in (1, 2):  # open; of a job that was never prepared
        assert client.post(f"{URL}/{job_id}/trials/{number}/replay").status_code == 409
    assert client.post(f"{URL}/{job_id}/trials/3/replay").status_code == 404

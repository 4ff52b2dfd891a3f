from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from storage.proposal import Proposal
from storage.records import Outcome
from storage.storage import Storage

URL = "/api/v1/jobs"
MACHINE = {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}


def completed(value: float, *, cpu_seconds: float = 0.5, cached: bool = False) -> Outcome:
    return Outcome(status="completed", value=value, cpu_seconds=cpu_seconds, cached=cached)


@pytest.fixture
def prepared(
    client: TestClient, storage: Storage, create_job: Callable[..., str], trace: Path
) -> Callable[..., str]:
    """Creates a job over an uploaded trace."""
    application = client.post(
        "/api/v1/applications",
        content=trace.read_bytes(),
        headers={"Content-Type": "application/octet-stream"},
    ).json()

    def create(**changes: Any) -> str:
        job_id = create_job(application={"id": application["id"]}, **changes)
        storage.jobs.set_prepared(job_id, application_id=application["id"], space={"size": 4})
        return job_id

    return create


def test_there_is_no_best_before_a_trial_has_completed(
    client: TestClient, prepared: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = prepared()
    assert client.get(f"{URL}/{job_id}/best").status_code == 409
    add_trials(
        job_id,
        Outcome(status="failed", reason={"kind": "crash", "message": "signal 11"}),
        Outcome(status="infeasible", reason={"kind": "infeasible", "message": "no"}),
        None,
    )
    response = client.get(f"{URL}/{job_id}/best")
    assert response.status_code == 409
    assert response.json()["detail"] == f"job {job_id} is running and has no completed trial yet"


def test_a_job_without_trials_has_an_empty_convergence(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    converged = client.get(f"{URL}/{create_job()}/convergence").json()
    assert converged["points"] == []
    assert converged["best"] is None


def test_the_best_stands_beside_the_baselines(
    client: TestClient, prepared: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = prepared(machine={**MACHINE, "network": "fluid"})
    add_trials(
        job_id,
        completed(4.0),
        completed(3.0),
        completed(5.0),
        completed(2.0),
        Outcome(status="censored", value=2.0),
        baselines=("mesh-2d", "torus-2d"),
    )
    assert client.get(f"{URL}/{job_id}/best").json() == {
        "configuration": {"topology": "random", "topology_seed": 4},
        "value": 2.0,
        "trial": 4,
        "network": "fluid",
        "model": "fluid, smpi-default",
        "decided_by": "fluid",
        "measured": None,
        "undecided": None,
        "error": 0.45,
        "error_from": "fluid",
        "within_error": False,
        "comparisons": [],
        "note": None,
        "baseline": 3.0,
        "speedup": 1.5,
        "baselines": {"mesh-2d": 4.0, "torus-2d": 3.0},
        "estimates": {},
        "advice": [],
        "initial": 5.0,
        "finish_times": None,
    }


def test_the_best_by_packets_stands_beside_what_fluid_says(
    client: TestClient,
    storage: Storage,
    prepared: Callable[..., str],
    add_trials: Callable[..., None],
) -> None:
    job_id = prepared(machine={**MACHINE, "network": "auto"})
    add_trials(job_id, completed(4.0), completed(3.0))
    slow = Outcome(status="failed", reason={"kind": "wall", "message": "stopped after 60 s"})
    job = storage.leases.acquire("test", 600.0, job_id)
    assert job is not None
    for number, again, outcome in ((3, 2, completed(1.0)), (4, 1, slow)):
        trial = storage.trials.propose(
            job_id,
            job.lease_token,
            Proposal(
                number=number,
                kind="comparison",
                inside=False,
                configuration=(repeated := storage.trials.get(job_id, again)).configuration,
                configuration_sha256=repeated.configuration_sha256,
            ),
        )
        storage.trials.settle(trial.id, job.lease_token, outcome)

    best = client.get(f"{URL}/{job_id}/best").json()
    assert (best["trial"], best["value"], best["network"]) == (2, 3.0, "packets")
    assert best["model"] == "packets, tcp-openmpi"
    assert best["comparisons"] == [
        {"trial": 2, "value": 3.0, "comparison": 3, "state": "completed", "fluid": 1.0},
        {"trial": 1, "value": 4.0, "comparison": 4, "state": "failed", "fluid": None},
    ]
    assert best["note"].startswith("packets decided.")
    assert "smpi-default" in best["note"]


def test_a_large_application_is_said_to_have_no_time_by_fluid(
    client: TestClient,
    prepared: Callable[..., str],
    add_trials: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.jobs.yardsticks.MOST_RANKS", 1)
    both, alone = (prepared(machine={**MACHINE, "network": n}) for n in ("auto", "packets"))
    for job_id in (both, alone):
        add_trials(job_id, completed(4.0))

    best = client.get(f"{URL}/{both}/best").json()
    assert best["comparisons"] == []
    assert "more than 1 ranks, and here are 2" in best["note"]
    assert client.get(f"{URL}/{alone}/best").json()["note"] is None


def test_a_baseline_is_the_best_only_if_the_space_offers_it(
    client: TestClient, prepared: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    # The space has the torus, but not the mesh.
    inside, outside = prepared(), prepared()
    add_trials(inside, completed(4.0), completed(1.0), completed(2.0),
               baselines=("mesh-2d", "torus-2d"))  # fmt: skip
    add_trials(outside, completed(1.0), completed(4.0), completed(2.0),
               baselines=("mesh-2d", "torus-2d"))  # fmt: skip
    assert client.get(f"{URL}/{inside}/best").json()["trial"] == 2
    best = client.get(f"{URL}/{outside}/best").json()
    assert (best["trial"], best["speedup"]) == (3, 0.5)
    progress = client.get(f"{URL}/{outside}").json()["progress"]
    assert progress["best"] == {"trial": 3, "value": 2.0}
    exported = client.get(f"{URL}/{outside}/exports/json")
    assert exported.status_code == 200, exported.text


def test_the_convergence_counts_trials_seconds_and_costs(
    client: TestClient, prepared: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = prepared()
    add_trials(
        job_id,
        completed(4.0),
        completed(3.0, cpu_seconds=0.25),
        Outcome(status="failed", cpu_seconds=1.0, reason={"kind": "memory", "message": "4 GiB"}),
        completed(2.0, cpu_seconds=9.0, cached=True),
        None,
        baselines=("torus-2d",),
    )
    converged = client.get(f"{URL}/{job_id}/convergence").json()
    points = converged["points"]
    assert [point["trial"] for point in points] == [1, 2, 3, 4]
    assert [point["best"] for point in points] == [4.0, 3.0, 3.0, 2.0]
    assert [point["cpu_seconds"] for point in points] == [0.5, 0.75, 1.75, 1.75]
    wall = [point["wall_seconds"] for point in points]
    assert wall == sorted(wall)
    assert converged["baselines"] == {"torus-2d": 4.0}
    assert converged["gains"] == {"torus-2d": 2.0}
    assert converged["proximity_at"] is None
    thin = client.get(f"{URL}/{job_id}/convergence", params={"points": 3}).json()
    assert thin["points"] == [points[0], points[1], points[3]]
    assert thin["baselines"] == converged["baselines"]
    for wrong in ("1", "many"):
        refused = client.get(f"{URL}/{job_id}/convergence", params={"points": wrong})
        assert refused.status_code == 422
        assert "query.points" in refused.json()["detail"]
    assert converged["initial"] == {"trial": 2, "value": 3.0}
    assert converged["best"] == {"trial": 4, "value": 2.0}
    assert converged["speedup"] == 1.5
    assert converged["proximity"] == [0.5, 0.5, 1.0]

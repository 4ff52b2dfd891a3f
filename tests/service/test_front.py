"""The front of a job over REST, against what its trials and bills say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient

from searchspace.bills import bill_of
from searchspace.configuration import Configuration
from searchspace.job import load_job
from searchspace.parts import Parts
from searchspace.platform import network_of
from searchspace.topology import generate
from service.fronts.model import priced
from storage.networks import ProjectNetworks
from storage.proposal import Proposal
from storage.records import Outcome
from storage.storage import Storage
from tests.service.conftest import SPEC

Create = Callable[..., str]
Add = Callable[..., None]
OUTCOMES = (
    Outcome(status="completed", value=9.0),  # the torus, a baseline
    Outcome(status="completed", value=4.0),
    Outcome(status="completed", value=3.0),
    Outcome(status="censored", value=1.0),
    Outcome(status="completed", value=5.0),
    None,
)


def front(client: TestClient, job: str, **query: Any) -> dict[str, Any]:
    answer = client.get(f"/api/v1/jobs/{job}/front", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_the_front_is_that_of_completed_trials(
    client: TestClient, create_job: Create, add_trials: Add
) -> None:
    job = create_job()
    add_trials(job, *OUTCOMES, baselines=("mesh-2d",))
    found = front(client, job)

    # Trial n is the random network of seed n; the first is a baseline outside the space.
    costs = {
        n: bill_of(generate("random", 16, degree=4, seed=n), Parts()).cost for n in range(1, 6)
    }
    times = {2: 4.0, 3: 3.0, 5: 5.0}
    expected = {
        n
        for n in times
        if not any(costs[m] <= costs[n] and times[m] <= times[n] and m != n for m in times)
    }
    assert {one["trial"] for one in found["points"]} == expected
    assert {one["trial"] for one in found["others"]} == set(times) - expected
    assert {one["trial"]: one["cost"] for one in found["points"]} == {n: costs[n] for n in expected}
    (baseline,) = found["baselines"]
    assert (baseline["trial"], baseline["label"], baseline["cost"]) == (1, "mesh-2d", costs[1])
    assert found["trials"] == 3
    assert (found["unpriced"], found["note"], found["objective"]) == (0, None, ["time"])
    point = found["points"][0]
    assert (point["switches"], point["cables"], point["radixes"]) == (16, 32, {"4": 16})
    assert point["network"] == f"random (seed {point['trial']})"


def test_power_and_another_reference(
    client: TestClient, create_job: Create, add_trials: Add
) -> None:
    job = create_job(objective=["time", "power"])
    add_trials(job, *OUTCOMES[1:3])
    found = front(client, job)
    assert found["by"] == "power"
    assert [(one["trial"], one["value"]) for one in found["points"]] == [(2, 3.0)]
    assert found["hypervolume"] == 0.0  # nothing lies below the slowest and the dearest
    power = found["points"][0]["power"]
    wider = front(client, job, reference_seconds=5.0, reference_price=power + 10)
    assert wider["hypervolume"] == pytest.approx((5.0 - 3.0) * 10)
    assert wider["share"] == 1.0
    assert front(client, job, by="cost")["by"] == "cost"


def test_the_energy_of_a_run_is_that_of_network_hosts_and_computing(
    client: TestClient, create_job: Create, add_trials: Add, storage: Storage
) -> None:
    parts = {"hosts": {"watts": 100, "core_watts": 8}}
    machine = {**SPEC["machine"], "parts": parts}
    job = create_job(machine=machine, objective=["time", "energy"])
    add_trials(job, *OUTCOMES[1:3])
    found = front(client, job)
    assert found["by"] == "energy"
    assert "computing is not counted: how much there is of it is not known" in found["note"]
    assert found["points"][0]["energy"] == drawn(found["points"][0])

    flops = 4e11  # of all ranks, at 100 Gflop/s a core
    for summary, computing in (
        ({"flops": flops, "truncated": False}, 4 * 8),
        ({"flops": flops, "truncated": True}, 0),
    ):
        application = storage.applications.add(
            name="cg",
            kind="trace",
            key=str(summary),
            trace_sha256="0" * 64,
            ranks=16,
            summary=summary,
        )
        storage.jobs.set_application(job, application.id)
        settle(storage, job, {"topology": "random", "topology_seed": 8 + computing}, 6.0)
        found = front(client, job)
        points = (*found["points"], *found["others"])
        for one in points:
            assert one["energy"] == pytest.approx(drawn(one) + computing)
        assert found["reference"]["price"] == max(one["energy"] for one in points)
        assert (found["note"] is None) != summary["truncated"]


def drawn(point: Mapping[str, Any]) -> float:
    """What the network and 16 hosts of 100 W draw during a trial."""
    return float((point["power"] + 16 * 100) * point["value"])


def test_before_a_trial_has_completed_there_is_a_note(
    client: TestClient, create_job: Create
) -> None:
    found = front(client, create_job())
    assert (found["points"], found["hypervolume"], found["reference"]) == ([], None, None)
    assert found["note"] == "no trial of the search space has completed yet"


def test_networks_that_cannot_be_bought_are_counted(
    client: TestClient, create_job: Create, add_trials: Add
) -> None:
    parts = {"switches": [{"radix": 3, "price": 1}]}
    job = create_job(machine={**SPEC["machine"], "parts": parts})
    add_trials(job, *OUTCOMES[:2])
    found = front(client, job)
    assert (found["points"], found["unpriced"]) == ([], 2)
    assert "a switch needs 4 ports, and the largest has 3" in found["note"]


def test_a_degree_that_is_the_machines_own_makes_no_other_network(
    create_job: Create, storage: Storage
) -> None:
    job = create_job()
    settle(storage, job, {"topology": "random", "topology_seed": 1}, 4.0)
    settle(storage, job, {"topology": "random", "topology_seed": 1, "random.degree": 4}, 3.0)
    settle(storage, job, {"topology": "random", "topology_seed": 1, "random.degree": 3}, 5.0)
    assert [one.trial for one in priced(storage, job).networks] == [2, 3]


def test_no_network_is_built_for_an_answer_that_its_job_does_not_keep(
    create_job: Create, storage: Storage
) -> None:
    search = {"topology": ["optimised", "torus-2d"]}
    job = create_job(search=search, constraints={"diameter": 9})
    chosen = Configuration({"topology": "optimised", "optimised.iterations": 10})
    settle(storage, job, chosen, 3.0)
    found = priced(storage, job)
    assert (found.unpriced, found.obstacle) == (1, "its network is not kept")

    machine = load_job(storage.jobs.get(job).spec).described_machine
    network_of(chosen, machine, cache=ProjectNetworks(storage.networks, "default"))
    found = priced(storage, job)
    assert (found.unpriced, found.obstacle) == (0, None)
    assert found.networks[0].cables == 32


def settle(storage: Storage, job_id: str, values: Mapping[str, Any], seconds: float) -> None:
    """Give a job a completed trial, as a coordinator would."""
    configuration = Configuration(values)
    job = storage.leases.acquire("test", 600.0, job_id)
    assert job is not None
    if job.state == "queued":
        storage.jobs.transition(job_id, "running", token=job.lease_token)
    trial = storage.trials.propose(
        job_id,
        job.lease_token,
        Proposal.of(
            configuration,
            number=len(storage.trials.of_job(job_id)) + 1,
            kind="search",
            technique="Surrogate",
        ),
    )
    storage.trials.settle(trial.id, job.lease_token, Outcome(status="completed", value=seconds))
    storage.leases.release(job_id, job.lease_token)


@pytest.mark.parametrize(
    "query", [{"by": "beauty"}, {"reference_seconds": 0}, {"reference_price": "nan"}, {"x": 1}]
)
def test_what_cannot_be_asked(
    client: TestClient, create_job: Create, query: dict[str, Any]
) -> None:
    assert client.get(f"/api/v1/jobs/{create_job()}/front", params=query).status_code == 422
    assert client.get("/api/v1/jobs/nothing/front").status_code == 404


def test_a_check_tells_what_is_too_dear(client: TestClient, spec: dict[str, Any]) -> None:
    spec["search"] = {**spec["search"], "topology": ["random", "torus-2d", "fat-tree"]}
    document = {**spec, "constraints": {"cost": "<= 20000"}}
    found = client.post("/api/v1/jobs/check", json=document).json()
    assert found["spec"]["constraints"]["cost"] == 20_000
    told = {one["value"]: one["reason"] for one in found["space"]["excluded"]}
    assert told["fat-tree"].endswith("more than the 20,000 of constraints.cost")
    document["constraints"] = {"cost": 1}
    refused = client.post("/api/v1/jobs", json=document)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "constraints"

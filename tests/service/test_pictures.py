"""What the page draws: checks of job files, the catalogue, importance, trials on their networks."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from searchspace.collectives.equivalents import TARGETS
from searchspace.parts import Parts
from searchspace.topology import FAMILIES
from service.exports.registry import EXPORTERS
from service.importance.model import BELIEVED, MOST, importance
from storage.records import Outcome
from tuner.pace import search_seconds


def test_checking_a_job_file_says_what_it_would_be(
    client: TestClient, spec: dict[str, Any]
) -> None:
    found = client.post("/api/v1/jobs/check", json=spec).json()
    assert found["space"]["size"] == 4
    assert found["spec"]["machine"]["host_speed"] == 1e11
    assert found["estimate"]["trials"] == 4 + len(found["space"]["baselines"])
    assert found["estimate"]["seconds"] is None
    assert "no job with this application has run here" in found["estimate"]["note"]
    assert len(found["network"]["places"]) == found["network"]["hosts"] == 16
    assert found["network_note"] == "random, 16 nodes, 32 cables"
    assert client.get("/api/v1/jobs").json()["items"] == []


def test_an_estimate_counts_what_the_search_itself_takes(
    client: TestClient,
    spec: dict[str, Any],
    create_job: Callable[..., str],
    add_trials: Callable[..., None],
) -> None:
    outcome = Outcome(status="completed", value=1.0, cpu_seconds=2.0)
    add_trials(create_job(), outcome, outcome)
    estimate = client.post("/api/v1/jobs/check", json=spec).json()["estimate"]
    assert estimate["seconds_per_trial"] == 2.0
    assert estimate["seconds"] > search_seconds(4)
    assert estimate["note"].endswith(", and roughly 3.08 s for the search itself")


@pytest.mark.parametrize(
    ("family", "nodes", "degree"),
    [("random", 16_384, 16), ("slim-fly", 15_842, 16), ("optimised", 2048, 16)],
)
def test_a_network_too_large_for_a_picture_is_not_made(
    client: TestClient, spec: dict[str, Any], family: str, nodes: int, degree: int
) -> None:
    """Whoever sends the job file would keep the service busy for as long as that takes."""
    spec["machine"] |= {"nodes": nodes, "degree": degree}
    spec["search"] |= {"topology": [family, "ring"]}
    found = client.post("/api/v1/jobs/check", json=spec).json()
    assert found["network"] is None
    assert found["network_note"] == f"{family} of {nodes} nodes is too large for a picture"


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": {}},
        {"machine": {"nodes": 16}},
        {"search": {"topology": ["nowhere"]}},
        {"application": {"builtin": "cg", "class": "S", "ranks": 17}},
        {"name": ""},
    ],
)
def test_a_check_refuses_with_the_words_of_creating(
    client: TestClient, spec: dict[str, Any], changes: dict[str, Any]
) -> None:
    checked = client.post("/api/v1/jobs/check", json={**spec, **changes})
    created = client.post("/api/v1/jobs", json={**spec, **changes})
    assert checked.status_code == created.status_code == 422
    assert checked.json()["detail"] == created.json()["detail"]
    assert checked.json()["errors"] == created.json()["errors"]


def test_the_catalogue_names_what_job_files_may_use(
    client: TestClient, spec: dict[str, Any]
) -> None:
    found = client.get("/api/v1/catalogue").json()
    assert [family["name"] for family in found["topologies"]] == list(FAMILIES)
    assert [one["name"] for one in found["exports"]] == list(EXPORTERS)
    assert [one["name"] for one in found["targets"]] == list(TARGETS)
    assert {one["format"] for one in found["targets"]} <= set(EXPORTERS)
    assert found["parts"] == Parts().model_dump(mode="json")
    programs = {program["name"]: program["fields"] for program in found["programs"]}
    assert programs["cg"][0]["choices"] == ["S", "W", "A", "B"]
    assert {field["name"]: field["default"] for field in programs["collective"]} == {
        "operation": None,
        "bytes": 1 << 20,
        "repeats": 1,
    }
    for name, fields in programs.items():
        given = {f["name"]: f["choices"][0] for f in fields if f["required"]}
        application = {"builtin": name, "ranks": 16, **given}
        answer = client.post("/api/v1/jobs/check", json={**spec, "application": application})
        assert answer.status_code == 200, answer.text


def test_importance_finds_the_parameter_that_decides() -> None:
    rows = [
        ({"mpi": "ompi" if n % 2 else "mpich", "seed": n % 5}, 2.0 if n % 2 else 1.0)
        for n in range(60)
    ]
    found = importance(rows)
    assert found.parameters[0].name == "mpi"
    assert found.parameters[0].importance > 0.9
    assert sum(one.importance for one in found.parameters) == pytest.approx(1.0)
    assert found.score is not None
    assert found.score > 0.9
    assert importance(rows) == found


def test_a_parameter_of_a_long_grid_is_not_lost_to_the_sample() -> None:
    """The fastest of a product takes the same value in every other row."""
    rows = [
        ({"fast": n % 2, "slow": n % 7}, (3.0 if n % 2 else 1.0) * (1.0 + 0.02 * (n % 7)))
        for n in range(2 * MOST)
    ]
    found = importance(rows)
    assert (found.trials, found.available) == (MOST, 2 * MOST)
    assert found.parameters[0].name == "fast"
    assert found.parameters[0].importance > 0.8


@pytest.mark.parametrize("base", [2**30, 10**60])
def test_large_seeds_matter_as_much_as_small_ones(base: int) -> None:
    def shares(first: int) -> dict[str, float]:
        rows = [
            ({"topology_seed": first + n % 5, "mpi": str(n % 3)}, 1.0 + n % 5) for n in range(90)
        ]
        return {one.name: one.importance for one in importance(rows).parameters}

    assert shares(base) == shares(1)


def test_a_permutation_matters_by_what_stands_where() -> None:
    """Of random ones no two are equal."""
    drawn = random.Random(1)
    orders = [tuple(drawn.sample(range(8), 8)) for _ in range(200)]
    rows: list[tuple[dict[str, Any], float]] = [
        (
            {"mpi": str(number % 2), "mapping": "by-order" if number % 10 == 0 else order},
            2.0 if number % 10 == 0 else 1.0 + (order[3] > 3),
        )
        for number, order in enumerate(orders)
    ]
    found = importance(rows)
    assert found.score is not None
    assert found.score > BELIEVED
    assert found.parameters[0].name == "mapping"
    assert found.parameters[0].importance > 0.9


def test_importance_leaves_out_times_that_are_none(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job = create_job()
    endless = Outcome(status="completed", value=math.inf)
    add_trials(job, endless, *(Outcome(status="completed", value=float(n)) for n in range(1, 4)))
    answer = client.get(f"/api/v1/jobs/{job}/importance")
    assert answer.status_code == 200
    assert answer.json()["available"] == 3


def test_a_parameter_that_often_does_not_count_is_not_what_matters() -> None:
    """Only random networks have a seed; that a trial has none says that it is a torus."""
    rows = [
        ({"topology": "torus-2d", "mpi": str(n % 3)}, 1.0)
        if n % 2
        else ({"topology": "random", "topology_seed": n % 7, "mpi": str(n % 3)}, 2.0)
        for n in range(84)
    ]
    shares = {one.name: one.importance for one in importance(rows).parameters}
    assert shares["topology"] > 0.95


def test_importance_is_learnt_from_the_search_space_alone(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    outcomes = [Outcome(status="completed", value=1.0 + n) for n in range(15)]
    job = create_job()
    add_trials(job, *outcomes, baselines=("mesh-2d", "torus-2d"))  # the mesh is not in the space
    found = client.get(f"/api/v1/jobs/{job}/importance").json()
    assert found["trials"] == 14


def test_importance_says_when_it_cannot_be_known(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    found = client.get(f"/api/v1/jobs/{create_job()}/importance").json()
    assert found["parameters"] == []
    assert found["note"] == "0 completed trials of the search space: at least 12 are needed"
    all_tried = importance([({"mpi": str(n)}, 1.0 + n) for n in range(11)], exhausted=True).note
    assert all_tried == (
        "11 completed trials of the search space, and there are no more to try: too few to learn "
        "from; compare them in the page's view 'One parameter at a time' or by 'hamtune trials'"
    )
    assert importance([({"mpi": "ompi"}, 1.0 + n) for n in range(20)]).note == (
        "no parameter has taken two values yet"
    )
    assert importance([({"mpi": str(n)}, 1.0) for n in range(20)]).note == (
        "all completed trials took the same time"
    )


def test_importance_says_what_helps_where_most_trials_were_cut_off() -> None:
    rows = [({"mpi": str(n % 2)}, 1.0 + n) for n in range(20)]
    assert importance(rows, censored=20).note == importance(rows).note
    starved = importance(rows, censored=1_234)
    assert starved.censored == 1_234
    assert starved.note is not None
    assert starved.note.endswith(
        "20 trials are few; 1,234 more were cut off, of which a share runs to its end in a job "
        "with cutoff: adaptive"
    )


def test_a_trial_of_a_job_that_is_not_prepared_is_on_no_network(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job = create_job()
    add_trials(job, None)
    answer = client.get(f"/api/v1/jobs/{job}/trials/1/placement")
    assert answer.status_code == 409
    assert "not captured yet" in answer.json()["detail"]

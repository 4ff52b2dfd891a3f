"""Exports for a named library: everything expressible, or the nearest with its simulated time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from searchspace.collectives import COLLECTIVES, WORLD
from searchspace.collectives.equivalents import TARGETS, target_named
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.platform import Resolved
from searchspace.units import format_duration
from service.exports import nearest
from service.exports.choices import choices_of
from service.exports.registry import export_job
from service.exports.result import ExportOptions
from service.exports.simulations import Busy, Simulations
from service.exports.untuned import network_alone
from storage.errors import Conflict
from storage.storage import Storage
from tests.service.exports.conftest import Exported, Solve
from workers.tuning_problem import TuningProblem

CHOSEN = {"alltoall": "2dmesh", "allreduce": "rab1", "allgather": "bruck"}


@pytest.fixture
def job_id(solve: Solve) -> str:
    """A job whose best uses what Open MPI has not."""
    return solve(
        {"topology": "random", "topology_seed": 1, "mpi": "ompi", "collectives": CHOSEN},
        collectives=(*CHOSEN, "bcast"),
    )


def test_what_cannot_be_expressed_is_named_with_the_time_of_the_nearest(
    job_id: str, exported: Callable[..., Exported]
) -> None:
    with pytest.raises(Conflict) as refused:
        exported(job_id, "openmpi", target=TARGETS["openmpi-4.1"])

    text = str(refused.value)
    assert "Open MPI 4.1 cannot express" in text
    assert "alltoall = 2dmesh: none" in text
    assert "allreduce = rab1: nearest rabenseifner" in text
    assert "allgather" not in text
    assert re.search(r"The nearest that it can express takes [\d.]+ [mu]?s simulated", text)


def test_the_nearest_is_exported_with_its_own_time(
    job_id: str, exported: Callable[..., Exported], storage: Storage
) -> None:
    export = exported(job_id, "openmpi", target=TARGETS["openmpi-4.1"], nearest=True)

    assert "mca-params-5.conf" not in export.files
    assert export.settings("mca-params.conf") == [
        "coll_tuned_use_dynamic_rules = 1",
        "coll_tuned_allreduce_algorithm = rabenseifner",
        "coll_tuned_allgather_algorithm = bruck",
    ]
    text = export.text("mca-params.conf")
    assert "what comes nearest to the best configuration" in text
    assert "where the best has 1 ms" in text
    assert "alltoall = openmpi-4.1: same (left to the library" in text
    assert exported(job_id, "json", target=TARGETS["openmpi-4.1"], nearest=True).text("result.json")


def test_a_best_that_can_be_expressed_needs_no_nearest(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    chosen = {"alltoall": "bruck", "allreduce": "rab"}
    job_id = solve({"topology": "random", "mpi": "ompi", "collectives": chosen})

    export = exported(job_id, "openmpi", target=TARGETS["openmpi-4.1"])

    assert "alltoall = bruck: same modified_bruck" in export.text("README.txt")
    assert (
        exported(job_id, "all", target=TARGETS["openmpi-4.1"])
        .text("README.txt")
        .count("the export is for Open MPI 4.1")
        == 3
    )


def test_rest_tells_the_same(client: TestClient, job_id: str) -> None:
    url = f"/api/v1/jobs/{job_id}/exports/openmpi"

    refused = client.get(url, params={"target": "openmpi-4.1"})
    assert refused.status_code == 409
    assert "alltoall = 2dmesh" in refused.json()["detail"]
    assert client.get(url, params={"target": "openmpi-4.1", "nearest": True}).status_code == 200

    for answer in (
        client.get(url, params={"target": "openmpi-3"}),
        client.post(url, json={"target": "openmpi-3"}),
    ):
        assert answer.status_code == 422
        assert "allowed: openmpi-4.1, openmpi-5" in answer.json()["detail"]
    other = client.get(url, params={"target": "mpich-4.0"})
    assert other.status_code == 422
    assert "by the format mpich" in other.json()["detail"]

    short = client.post(url, json={"hosts": "n[1-3]"})
    assert (short.status_code, short.json()["errors"][0]["field"]) == (422, "hosts")
    twice = client.post(url, json={"hosts": "n[1-15],n1"})
    assert "n1 stands on line 1 already" in twice.json()["detail"]
    one = client.post(url, json={"hosts": "n[01-16]"}, params={"name": "hostfile"})
    assert one.text == "n01 slots=1\nn02 slots=1\nn03 slots=1\nn04 slots=1\n"


def test_exports_of_projects_are_simulated_one_at_a_time_and_once(
    job_id: str, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated: list[float] = []
    simulate = nearest._simulated

    def counted(tuning: TuningProblem, resolved: Resolved, wall_seconds: float) -> dict[str, Any]:
        simulated.append(wall_seconds)
        with ThreadPoolExecutor() as pool, pytest.raises(Busy):
            pool.submit(export_job, share, job_id, "mpich").result()
        return dict(simulate(tuning, resolved, wall_seconds))

    monkeypatch.setattr(nearest, "SIMULATIONS", fresh := Simulations())
    monkeypatch.setattr("service.exports.registry.SIMULATIONS", fresh)
    monkeypatch.setattr(nearest, "_simulated", counted)
    share = storage.of_project("default")
    for _ in range(2):
        assert export_job(share, job_id, "openmpi")
        with pytest.raises(Conflict, match=r"takes .* simulated"):
            export_job(share, job_id, "openmpi", ExportOptions(target=TARGETS["openmpi-4.1"]))
    assert simulated
    once = len(simulated)
    assert export_job(share, job_id, "openmpi")
    assert len(simulated) == once
    assert max(simulated) <= nearest.WALL_SECONDS


def test_who_asks_while_another_export_is_simulated_is_told_when_to_come_back(
    client: TestClient, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Busy("another export is being simulated")

    monkeypatch.setattr("service.exports.endpoints.export_job", refuse)
    for answer in (
        client.get(f"/api/v1/jobs/{job_id}/exports/openmpi"),
        client.post(f"/api/v1/jobs/{job_id}/exports/openmpi", json={}),
    ):
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")


def test_without_a_target_the_manifest_tells_what_the_library_makes_of_it(
    job_id: str, exported: Callable[..., Exported]
) -> None:
    manifest = json.loads(exported(job_id, "openmpi").text("export.json"))
    nearest = exported(job_id, "openmpi", target=TARGETS["openmpi-4.1"], nearest=True)
    asked_for = json.loads(nearest.text("export.json"))

    assert [line.partition(":")[0] for line in manifest["unlike"]] == [
        "alltoall = 2dmesh",
        "allreduce = rab1",
    ]
    assert manifest["simulated"]["really"] == asked_for["simulated"]["exported"]
    assert (asked_for["unlike"], asked_for["simulated"]["really"]) == ([], None)


@pytest.mark.parametrize(
    ("format_name", "target", "names"),
    [
        ("openmpi", "openmpi-4.1", ["mca-params.conf", "dynamic-rules.conf", "mpirun.sh"]),
        ("mpich", "mpich-4.0", ["environment.sh", "mpiexec.sh"]),
        ("mvapich2", "mvapich2-2.3", ["environment.sh", "mpirun.sh"]),
        ("intelmpi", "intelmpi-2021", ["environment.sh", "mpiexec.sh"]),
    ],
)
def test_without_a_target_files_say_the_time_of_what_the_library_makes_of_them(
    job_id: str,
    exported: Callable[..., Exported],
    format_name: str,
    target: str,
    names: list[str],
) -> None:
    export = exported(job_id, format_name)
    really = json.loads(export.text("export.json"))["simulated"]["really"]

    told = f"{TARGETS[target].title} {format_duration(really)} simulated"
    for name in ("README.txt", *names):
        head = " ".join(export.text(name).split("For ")[0].replace("#", " ").split())
        assert "what comes nearest to the best configuration of job" in head, name
        assert told in head, name
        assert head.count("1 ms") == 1, name
        assert "where the best has 1 ms" in head, name


def test_all_formats_together_say_which_libraries_run_something_else(
    job_id: str, exported: Callable[..., Exported]
) -> None:
    export = exported(job_id, "all")

    lines = export.text("README.txt").splitlines()
    for target in ("openmpi-4.1", "mvapich2-2.3"):
        manifest = json.loads(export.text(f"{TARGETS[target].format}/export.json"))
        really = format_duration(manifest["simulated"]["really"])
        title = TARGETS[target].title
        assert (
            f"{title} does not run all of it: what its files hold takes {really} simulated" in lines
        )
    assert "best configuration of job" in export.text("slurm/README.txt")


def test_rest_warns_of_files_that_do_something_else(client: TestClient, job_id: str) -> None:
    url = f"/api/v1/jobs/{job_id}/exports/openmpi"

    warned = client.post(url, json={})
    manifest = client.post(url, json={}, params={"name": "export.json"})
    really = format_duration(manifest.json()["simulated"]["really"])
    assert warned.headers["Hamtune-Differs"] == (
        "Open MPI 4.1 does not run all that was simulated: what is exported takes "
        f"{really} simulated, not 1 ms"
    )
    nearest = client.post(url, json={"target": "openmpi-4.1", "nearest": True})
    assert "Hamtune-Differs" not in nearest.headers
    assert "Hamtune-Differs" not in client.post(f"{url[:-7]}json", json={}).headers


def test_the_gain_is_told_over_the_same_network_untuned(
    job_id: str, exported: Callable[..., Exported]
) -> None:
    export = exported(job_id, "openmpi", target=TARGETS["openmpi-4.1"], nearest=True)

    simulated = json.loads(export.text("export.json"))["simulated"]
    # Nothing but two choices was tuned, on ranks in order.
    assert 0.2 < simulated["default"] / simulated["exported"] < 5.0
    tuned = Configuration(
        {
            "topology": "circulant",
            "circulant.offsets": "1,3",
            "ordering": "hamorder",
            "mapping": "treematch",
            "mpi": "mpich",
            "collectives.alltoall": "bruck",
        }
    )
    assert dict(network_alone(tuned, "ompi")) == {
        "topology": "circulant",
        "circulant.offsets": "1,3",
        "mpi": "ompi",
    }


def test_every_line_is_about_an_algorithm_that_is_offered() -> None:
    for found in TARGETS.values():
        for collective, lines in found.entries.items():
            for algorithm in lines:
                assert COLLECTIVES[collective].algorithms[algorithm].name == algorithm
            for algorithm in found.expressible(collective, (8,)):
                assert found.stand_in(collective, algorithm, (8,)) is not None


def test_no_library_is_forced_to_what_would_reduce_in_another_order() -> None:
    """The program's operations do not commute: Open MPI would follow, and give other numbers."""
    found = choices_of(
        Configuration({"collectives.allreduce": "lr", "collectives.reduce": "binomial"}),
        target_named("openmpi-4.1"),
        {"allreduce": WORLD, "reduce": WORLD},
        16,
        non_commutative=["allreduce"],
    )
    allreduce, reduce = found
    assert (allreduce.offered.kind, allreduce.offered.settings) == ("none", None)
    assert "lr does not keep the order of ranks" in allreduce.line
    assert (reduce.offered.kind, reduce.offered.algorithm) == ("same", "binomial")


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown target 'lam'; allowed: openmpi"):
        target_named("lam")

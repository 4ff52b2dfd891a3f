"""`hamtune check`: a job file explained before it is run."""

from __future__ import annotations

from typing import Any

import pytest

from cli.client import connect
from service.settings import Settings
from tests.cli.conftest import Hamtune

JOB: dict[str, Any] = {
    "name": "small",
    "application": {"builtin": "is", "class": "S", "ranks": 16},
    "machine": {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {
        "topology": ["random", "torus-2d"],
        "ordering": ["original", "hamorder"],
        "collectives": {"alltoall": ["default", "bruck"], "gather": "all"},
    },
    "budget": {"trials": 20},
}


@pytest.fixture(scope="module")
def hamtune(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    """One data directory for all, so that the program is captured once."""
    return Hamtune(tmp_path_factory.mktemp("check"))


def test_it_tells_the_space_and_what_the_job_may_take(hamtune: Hamtune) -> None:
    found = hamtune.json("check", hamtune.job_file(JOB))

    assert found["ranks"] == 16
    assert found["space"]["size"] == 8
    assert {key: found["space"]["excluded"][0][key] for key in ("parameter", "value")} == {
        "parameter": "collectives.gather",
        "value": None,
    }
    assert found["evaluation"]["status"] == "completed"
    trials = found["space"]["size"] + len(found["space"]["baselines"])
    assert found["estimate"]["trials"] == trials
    seconds = trials * found["evaluation"]["cpu_seconds"] / found["estimate"]["at_once"]
    assert found["estimate"]["seconds"] == pytest.approx(seconds)
    assert found["estimate"]["search_seconds"] > 0.1


def test_it_tells_what_comes_after_the_search(hamtune: Hamtune) -> None:
    ring = [[host, (host + step) % 16] for host in range(16) for step in (1, 4)]
    job = {
        **JOB,
        "application": {"builtin": "lu", "class": "S", "ranks": 16},
        "machine": {**JOB["machine"], "topology": {"edges": ring}},
        "search": {"ordering": ["original", "hamorder"], "target": "openmpi-4.1"},
        "fidelity": "auto",
        "refinement": 10,
        "finalists": {"measure": 3, "repetitions": 4, "seconds": "30min"},
    }
    del job["machine"]["degree"]
    path = hamtune.job_file(job)
    found = hamtune.json("check", path)
    cost, estimate, after = found["evaluation"], found["estimate"], found["after"]

    share = after["verification"]["share"]
    assert 0 < share < 0.5
    trials = min(20, found["space"]["size"]) + len(found["space"]["baselines"]) + 10
    each = cost["cpu_seconds"] / estimate["at_once"]
    assert estimate["seconds"] == pytest.approx(trials * each * share)
    assert after["refinement"]["evaluations"] == 10
    assert after["refinement"]["seconds"] == pytest.approx(10 * each * share)
    assert after["verification"]["evaluations"] == 6  # the only baseline, and five trials
    at_once = min(estimate["at_once"], 2)
    assert after["verification"]["seconds"] == pytest.approx(6 * cost["cpu_seconds"] / at_once)
    assert after["comparison"] == {"evaluations": 3, "seconds": pytest.approx(20.0)}
    assert after["finalists"] == {
        "on": "agent",
        "runs": 16,
        "most_seconds": 1800.0,
        "most_wait_seconds": 86400.0,
    }
    said = hamtune("check", path).stdout
    assert "refinement    10 other mappings of the best at most, among the trials above" in said
    assert "trials all of it, 6 evaluations at most: up to " in said
    assert "comparison    the best 3 are evaluated by the fluid model too: at most 20 s" in said
    assert "finalists     3 at most and the library's defaults are measured on a cluster" in said
    assert "16 runs at most: up to 30 min, after a wait of up to 24 h" in said


def test_what_does_not_come_is_not_told(hamtune: Hamtune) -> None:
    path = hamtune.job_file({**JOB, "machine": {**JOB["machine"], "network": "fluid"}})
    after = hamtune.json("check", "--no-evaluation", path)["after"]
    assert after == dict.fromkeys(("refinement", "verification", "comparison", "finalists"))
    assert "comparison" not in hamtune("check", path).stdout


def test_a_budget_on_the_clock_bounds_simulation_and_search_together(hamtune: Hamtune) -> None:
    budget = {"trials": 20, "wall_seconds": 2}
    estimate = hamtune.json("check", hamtune.job_file({**JOB, "budget": budget}))["estimate"]

    assert 0 < estimate["search_seconds"] < 2
    assert estimate["seconds"] + estimate["search_seconds"] == pytest.approx(2)


def test_it_says_so_in_words(hamtune: Hamtune) -> None:
    said = hamtune("check", hamtune.job_file(JOB)).stdout

    assert "builtin is (class S), 16 ranks" in said
    assert "search space  at most 8 configurations that differ" in said
    assert "  ordering: original, hamorder" in said
    assert "left out: collectives.gather: the application never calls it" in said
    assert "estimate      " in said
    assert " of simulation, and roughly " in said


def test_it_says_what_a_script_does_and_promises_no_time_of_its_measurements(
    hamtune: Hamtune,
) -> None:
    job_file = hamtune.job_file({**JOB, "external": "measurements"})
    told = hamtune("check", job_file).stdout
    assert "script        measures what the search asks" in told
    assert "estimate" not in told
    refused = hamtune("run", job_file)
    assert refused.returncode != 0
    assert "external: measurements needs a service that a script can reach" in refused.stderr


def test_a_machine_is_found_by_its_id(hamtune: Hamtune) -> None:
    with connect(None, Settings.under(hamtune.data)) as client:
        stored = client.post("/machines", {"name": "small", "machine": JOB["machine"]})
    named = {**JOB, "machine": {"id": stored["id"]}}

    found = hamtune.json("check", hamtune.job_file(named))

    assert found["space"]["size"] == 8
    assert found["evaluation"]["status"] == "completed"


def test_a_machine_that_is_not_stored_is_named(hamtune: Hamtune) -> None:
    path = hamtune.job_file({**JOB, "machine": {"id": "elsewhere"}})
    said = f"{path}: machine.id: there is no machine elsewhere in this data directory"
    assert said in hamtune.refused("check", path)


def test_without_an_evaluation_nothing_is_captured(hamtune: Hamtune) -> None:
    found = hamtune.json("check", "--no-evaluation", hamtune.job_file(JOB))

    assert found["evaluation"] is None
    assert found["estimate"] is None
    assert found["space"]["size"] > 8  # what is never called is not known yet


@pytest.mark.parametrize("hosts", [1, 2])
def test_one_host_and_two_need_no_network(hamtune: Hamtune, hosts: int) -> None:
    machine = {**JOB["machine"], "nodes": hosts, "cores_per_host": 16}
    del machine["degree"]
    search = {"mpi": ["ompi", "mpich"], "mapping": ["by-order", "cyclic"]}
    found = hamtune.json("check", hamtune.job_file({**JOB, "machine": machine, "search": search}))

    assert found["evaluation"]["status"] == "completed"
    assert found["space"]["baselines"] == ["given original ompi", "given original mpich"]


def test_a_program_that_is_yet_to_be_captured_is_no_mistake(hamtune: Hamtune) -> None:
    (hamtune.directory / "solver").mkdir(exist_ok=True)
    source = {"source": "solver", "build": "make", "run": "./solve", "ranks": 16}
    said = hamtune("check", hamtune.job_file({**JOB, "application": source})).stdout

    assert "search space" in said
    assert "not evaluated: the program is captured when the job is run" in said


@pytest.mark.parametrize("more", [(), ("--no-evaluation",)])
@pytest.mark.parametrize(
    ("application", "said"),
    [
        ({"trace": "missing.ht"}, "application.trace: "),
        ({"source": "missing", "build": "make", "run": "x", "ranks": 4}, "application.source: "),
    ],
)
def test_a_file_that_is_not_there_is_a_mistake(
    hamtune: Hamtune, application: dict[str, Any], said: str, more: tuple[str, ...]
) -> None:
    path = hamtune.job_file({**JOB, "application": application})
    assert said in hamtune.refused("check", path, *more)


def test_a_file_that_is_no_trace_is_a_mistake_of_the_application(hamtune: Hamtune) -> None:
    (hamtune.directory / "no.ht").write_text("hello")
    path = hamtune.job_file({**JOB, "application": {"trace": "no.ht"}})
    assert hamtune.refused("check", path).endswith("application: this is not a Hamtune trace")


def test_an_evaluation_that_fails_says_why_and_tells_no_time(hamtune: Hamtune) -> None:
    path = hamtune.job_file({**JOB, "limits": {"wall_seconds": "1us"}})
    found = hamtune.json("check", path)
    assert found["evaluation"]["status"] == "failed"
    assert found["estimate"] is None
    assert "failed after " in hamtune("check", path).stdout


def test_a_mistake_is_told_with_its_field_and_what_was_meant(hamtune: Hamtune) -> None:
    search = {**JOB["search"], "ordering": "hamordr"}
    path = hamtune.job_file({**JOB, "search": search})

    line = hamtune.refused("check", path)
    assert "search.ordering: unknown ordering 'hamordr'" in line
    assert line.endswith("did you mean 'hamorder'?")

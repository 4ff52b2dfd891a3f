"""Machines whose network is packets or auto: evaluations, jobs, results and exports."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.jobfile import job_of_source
from searchspace.job import load_new_job
from searchspace.protocol import PROTOCOLS
from tests.cli.conftest import Hamtune

MACHINE = {"nodes": 16, "degree": 4, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}
JOB: dict[str, Any] = {
    "name": "packets",
    "application": {"builtin": "is", "class": "S", "ranks": 16},
    "machine": {**MACHINE, "switch_latency": "60ns", "network": "auto"},
    "search": {
        "topology": [{"family": "random", "instances": 4}, "torus-2d"],
        "mapping": {"mapper": "random", "instances": 4},
        "collectives": {"alltoallv": "all", "allreduce": ["default", "rdb"]},
    },
    "budget": {"trials": 12},
}
WORKLOAD = {
    "applications": [
        {"name": "solver", "application": {"builtin": "cg", "class": "S", "ranks": 8}},
        {"name": "sort", "application": {"builtin": "is", "class": "S", "ranks": 8}},
    ]
}


@pytest.fixture(scope="module")
def hamtune(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    return Hamtune(tmp_path_factory.mktemp("packets"))


@pytest.fixture(scope="module")
def finished(hamtune: Hamtune) -> dict[str, Any]:
    """What `hamtune run --json` answers for the job."""
    answer: dict[str, Any] = hamtune.json("run", hamtune.job_file(JOB))
    return answer


def evaluate(
    hamtune: Hamtune, application: Any, *more: str, **machine: Any
) -> subprocess.CompletedProcess[str]:
    given = ("--application", json.dumps(application), "--machine", json.dumps(MACHINE | machine))
    done = hamtune("evaluate", *given, "--configuration", "{topology: torus-2d}", *more)
    assert done.returncode == 0, done.stderr
    return done


def test_an_evaluation_goes_by_packets_and_says_so(hamtune: Hamtune) -> None:
    program = {"builtin": "is", "class": "S", "ranks": 16}
    auto = evaluate(hamtune, program, network="auto").stdout.splitlines()
    assert auto[0].endswith(" simulated time (packets, tcp-openmpi)")
    assert auto[1] == "the machine's network is auto, which is packets for one evaluation"

    found = json.loads(
        evaluate(hamtune, program, "--json", network="packets", protocol="ideal").stdout
    )
    chosen = json.loads(evaluate(hamtune, program, "--json", "--network", "packets").stdout)
    fluid = json.loads(evaluate(hamtune, program, "--json").stdout)
    assert (found["network"], found["model"]) == ("packets", None)
    assert found["protocol"] == PROTOCOLS["ideal"].numbers()
    assert len({one["simulated_time"] for one in (found, chosen, fluid)}) == 3


def test_a_cutoff_is_a_lower_bound_of_packets_too(hamtune: Hamtune) -> None:
    program = {"builtin": "is", "class": "S", "ranks": 16}
    done = evaluate(hamtune, program, "--cutoff", "10us", "--json", network="packets")
    found = json.loads(done.stdout)
    assert (found["status"], found["simulated_time"]) == ("censored", 1e-5)


def test_several_applications_share_the_queues(hamtune: Hamtune) -> None:
    found = json.loads(evaluate(hamtune, WORKLOAD, "--json", network="packets").stdout)
    assert max(found["finish_times"].values()) == found["simulated_time"]
    assert list(found["finish_times"]) == ["solver", "sort"]


def test_packets_decide_and_fluid_is_told_beside(
    hamtune: Hamtune, finished: dict[str, Any]
) -> None:
    best, job = finished["best"], finished["job"]
    trials = {t["number"]: t for t in hamtune.trials(job["id"])}
    assert job["progress"]["kinds"]["comparison"] == 3
    assert (best["network"], best["model"]) == ("packets", "packets, tcp-openmpi")
    first, *_ = best["comparisons"]
    assert (first["trial"], first["value"]) == (best["trial"], best["value"])
    for one in best["comparisons"]:
        assert trials[one["comparison"]]["configuration"] == trials[one["trial"]]["configuration"]
        assert trials[one["comparison"]]["value"] == one["fluid"] != one["value"]
    said = hamtune("best", "packets").stdout
    assert "simulated (packets, tcp-openmpi)" in said
    assert "packets decided." in said


def test_trials_of_both_models_are_replayed_each_by_its_own(
    hamtune: Hamtune, finished: dict[str, Any]
) -> None:
    first, *_ = finished["best"]["comparisons"]
    for number, value in ((first["trial"], first["value"]), (first["comparison"], first["fluid"])):
        again = hamtune.json("replay", "packets", str(number))
        assert (again["verdict"], again["value"]) == ("same", value)


def test_a_job_with_packets_alone_has_the_same_trials_from_the_cache(
    hamtune: Hamtune, finished: dict[str, Any]
) -> None:
    alone = {**JOB, "name": "alone", "machine": {**JOB["machine"], "network": "packets"}}
    answer = hamtune.json("run", hamtune.job_file(alone, "alone.yaml"))
    assert answer["job"]["progress"]["evaluations"] == 0
    assert answer["best"]["value"] == finished["best"]["value"]
    assert answer["best"]["comparisons"] == []
    both = hamtune.trials(finished["job"]["id"])
    assert hamtune.trials(answer["job"]["id"]) == [t for t in both if t["kind"] != "comparison"]


def test_smpirun_gives_what_fluid_said_and_the_export_says_why(
    hamtune: Hamtune, finished: dict[str, Any], tmp_path: Path
) -> None:
    hamtune.json("export", "packets", "--format", "simgrid", "-o", tmp_path)
    done = subprocess.run([tmp_path / "run.sh"], capture_output=True, text=True, check=True)
    simulated, fluid, packets = done.stdout.splitlines()
    told = finished["best"]["comparisons"][0]["fluid"]
    assert float(simulated.split()[2]) == pytest.approx(told, rel=1e-6)
    assert fluid == f"found by Hamtune: {told!r} s by fluid"
    assert packets.startswith(f"found by Hamtune: {finished['best']['value']!r} s by packets")
    readme = " ".join((tmp_path / "README.txt").read_text().split())
    assert "(packets, tcp-openmpi)" in readme
    assert "Plain smpirun knows the fluid model only, with factors on" in readme
    assert f"that is {told!r} s" in readme


def unsaid(**machine: Any) -> dict[str, Any]:
    """The job with a machine that says no network model but the one given."""
    job = {**JOB, "machine": {**MACHINE, "switch_latency": "60ns", **machine}}
    return {**job, "search": {"topology": ["ring", "torus-2d"]}, "budget": {"trials": 1}}


def test_a_job_file_that_says_no_network_model_is_auto(hamtune: Hamtune) -> None:
    answer = hamtune.json("run", hamtune.job_file({**unsaid(), "name": "unsaid"}, "unsaid.yaml"))
    assert answer["job"]["spec"]["machine"]["network"] == "auto"
    assert answer["best"]["model"] == "packets, tcp-openmpi"
    assert len(answer["best"]["comparisons"]) == 2  # all points of the space


def test_a_job_file_may_say_fluid(hamtune: Hamtune) -> None:
    job = {**unsaid(network="fluid"), "name": "fluid"}
    answer = hamtune.json("run", hamtune.job_file(job, "fluid.yaml"))
    assert answer["job"]["spec"]["machine"]["network"] == "fluid"
    assert (answer["best"]["model"], answer["best"]["comparisons"]) == ("fluid, smpi-default", [])


def test_the_machine_of_an_evaluation_is_fluid_where_it_does_not_say(hamtune: Hamtune) -> None:
    found = evaluate(hamtune, {"builtin": "is", "class": "S", "ranks": 16}, "--json").stdout
    assert json.loads(found)["network"] == "fluid"


def test_a_job_over_a_program_of_ones_own_is_auto_unless_its_base_says_otherwise() -> None:
    program = {"source": "solver", "build": "make", "run": "bin/solve", "ranks": 16}
    alone = job_of_source(program, None, trials=None)
    based = job_of_source(program, load_new_job(unsaid(network="fluid")), trials=5)
    assert alone.described_machine.network == "auto"
    assert based.described_machine.network == "fluid"


def test_truncated_traces_and_refinements_go_by_packets(hamtune: Hamtune) -> None:
    changes = {
        "name": "refined",
        "application": {"builtin": "cg", "class": "S", "ranks": 16},
        "search": {"topology": "torus-2d", "mapping": {"mapper": "random", "instances": 4}},
        "budget": {"trials": 4},
        "fidelity": "auto",
        "refinement": 6,
    }
    answer = hamtune.json("run", hamtune.job_file({**JOB, **changes}, "refined.yaml"))
    kinds = answer["job"]["progress"]["kinds"]
    assert answer["job"]["space"]["fidelity"]["share"] < 0.05
    assert kinds["refinement"] == 6
    assert kinds["comparison"] >= 1
    best = answer["best"]
    (compared,) = [one for one in best["comparisons"] if one["trial"] == best["trial"]]
    assert compared["value"] == best["value"]

"""A job that searches on a truncated trace, from the job file to its export."""

from typing import Any

from tests.cli.conftest import Hamtune

JOB: dict[str, Any] = {
    "name": "two-fidelities",
    "application": {"builtin": "cg", "class": "S", "ranks": 16},
    "machine": {
        "nodes": 16,
        "degree": 4,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "network": "fluid",
    },
    "search": {
        "topology": [{"family": "random", "instances": 8}, "torus-2d"],
        "ordering": ["original", "hamorder"],
    },
    "budget": {"trials": 8},
    "fidelity": "auto",
}


def test_the_best_is_verified_on_the_whole_trace(hamtune: Hamtune) -> None:
    result = hamtune.json("run", hamtune.job_file(JOB))
    job, best = result["job"], result["best"]
    assert job["space"]["fidelity"]["share"] < 0.05
    trials = hamtune.trials(job["id"])
    verified = {t["number"]: t["value"] for t in trials if t["kind"] != "search"}
    assert verified[best["trial"]] == best["value"]
    estimates = {str(t["configuration"]): t["value"] for t in trials if t["kind"] == "search"}
    for trial in trials:
        if trial["kind"] == "verification" and trial["state"] == "completed":
            assert abs(trial["value"] / estimates[str(trial["configuration"])] - 1) < 0.02


def test_a_program_without_loops_is_searched_whole(hamtune: Hamtune) -> None:
    job_file = {**JOB, "application": {"builtin": "ft", "class": "S", "ranks": 16}}
    job = hamtune.json("run", hamtune.job_file(job_file))["job"]
    assert job["space"]["fidelity"]["trace_sha256"] is None
    assert {t["kind"] for t in hamtune.trials(job["id"])} == {"baseline", "search"}
    best = hamtune.json("run", "--resume", job["id"])["best"]
    assert best["trial"] <= len(hamtune.trials(job["id"]))
    with hamtune.service():
        shown = hamtune("show", job["id"]).stdout
    assert "searches on the whole trace: 68% of the trace would remain" in shown

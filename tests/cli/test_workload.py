"""A job of two applications at once, from the job file to what is exported."""

import json
from pathlib import Path
from typing import Any

import pytest

from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from tests.cli.conftest import Hamtune

JOB: dict[str, Any] = {
    "name": "two-at-once",
    "applications": [
        {"name": "solver", "application": {"builtin": "cg", "class": "S", "ranks": 8}},
        {
            "name": "sort",
            "application": {"builtin": "is", "class": "S", "ranks": 8},
            "start": "1ms",
            "weight": 3,
        },
    ],
    "objective": "weighted",
    "machine": {
        "nodes": 16,
        "degree": 4,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "network": "fluid",
    },
    "search": {
        "topology": [{"family": "random", "instances": 4}, "torus-2d"],
        "ordering": ["original", "hamorder"],
        "mapping": ["by-order", "round-robin"],
        "mpi": ["mpich", "ompi"],
    },
    "budget": {"trials": 6},
    "fidelity": "auto",
}


def test_two_applications_are_tuned_together(hamtune: Hamtune, tmp_path: Path) -> None:
    result = hamtune.json("run", hamtune.job_file(JOB))
    best = result["best"]
    times = best["finish_times"]
    assert list(times) == ["solver", "sort"]
    assert best["value"] == (times["solver"] + 3 * times["sort"]) / 4
    assert "several applications" in result["job"]["space"]["fidelity"]["obstacle"]
    with hamtune.service():
        shown = hamtune("best", "two-at-once").stdout
        assert "sort finishes at" in shown
        hamtune.json("export", "two-at-once", "--format", "json", "-o", tmp_path / "out")
        refusal = hamtune.refused(
            "export", "two-at-once", "--format", "simgrid", "-o", tmp_path / "sg", status=1
        )
    assert "export it as json" in refusal
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    solver, sort = document["applications"]
    assert (solver["finish_time"], sort["finish_time"]) == (times["solver"], times["sort"])
    assert not set(solver["rank_hosts"]) & set(sort["rank_hosts"])
    assert sort["start"] == 0.001


def test_a_workload_is_evaluated_as_the_list_that_a_job_has(hamtune: Hamtune) -> None:
    parts = [{**part, "start": 0} for part in JOB["applications"]]
    given = ("--machine", json.dumps(JOB["machine"]), "--configuration", "{topology: torus-2d}")
    (hamtune.directory / "parts.json").write_text(json.dumps(parts))
    answers = [
        hamtune.json("evaluate", "--application", application, *given)
        for application in (json.dumps(parts), "parts.json", json.dumps({"applications": parts}))
    ]
    assert list(answers[0]["finish_times"]) == ["solver", "sort"]
    assert answers[0]["finish_times"] == answers[1]["finish_times"] == answers[2]["finish_times"]


def test_an_application_that_does_nothing_leaves_the_other_as_it_is(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    trace = tmp_path / "nothing.ht"
    write_trace(trace, TraceHeader(ranks=2, program="nothing"), [encode("finalize")] * 2)
    cg = {"builtin": "cg", "class": "S", "ranks": 8}
    common = {name: JOB[name] for name in ("machine", "budget")}
    common["search"] = {"topology": ["torus-2d", "mesh-2d"]}
    alone = {"name": "alone", "application": cg, **common}
    both = {
        "name": "both",
        "applications": [
            {"name": "solver", "application": cg},
            {"name": "idle", "application": {"trace": "nothing.ht"}},
        ],
        **common,
    }
    values = [
        {t["label"]: t["value"] for t in hamtune.trials(hamtune.json("run", file)["job"]["id"])}
        for file in (hamtune.job_file(alone, "a.yaml"), hamtune.job_file(both, "b.yaml"))
    ]
    # SimGrid takes events of the same instant in another order, which moves the last digits.
    assert values[1]["torus-2d"] == pytest.approx(values[0]["torus-2d"], rel=1e-5)

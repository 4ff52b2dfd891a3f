"""`hamtune testbed`: a machine comes up, a program runs with the files of an export, it is gone."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Hamtune

MACHINE = "{nodes: 4, host_speed: 1Gf, link_bandwidth: 1Gbps}"
RING = "{topology: ring, mapping: round-robin, collectives: {alltoall: ring}}"
PROGRAM = Path(__file__).resolve().parents[2] / "measuring" / "programs" / "collectives.c"
BYTES = 20_000


@pytest.fixture
def hamtune(tmp_path: Path) -> Hamtune:
    return Hamtune(tmp_path, {"HAMTUNE_TESTBEDS": str(tmp_path / "testbeds")})


JOB: dict[str, Any] = {
    "name": "is-emulated",
    "application": {"builtin": "is", "class": "S", "ranks": 2},
    "machine": {
        "topology": {"edges": [[0, 1]]},
        "nodes": 2,
        "host_speed": "1Gf",
        "link_bandwidth": "1Gbps",
        "network": "packets",
    },
    "search": {"target": "openmpi-4.1", "collectives": {"allreduce": "all"}},
    "budget": {"trials": 3},
    "finalists": {"measure": 2, "on": "testbed", "testbed": "two", "repetitions": 2},
}


def skip_without_namespaces(hamtune: Hamtune) -> None:
    checks = {check["name"]: check for check in hamtune.json("testbed", "doctor")["checks"]}
    if checks["namespaces"]["status"] == "failed":
        pytest.skip(checks["namespaces"]["text"])


def test_a_program_runs_with_the_files_of_an_export(hamtune: Hamtune, tmp_path: Path) -> None:
    skip_without_namespaces(hamtune)
    up = ["testbed", "up", MACHINE, "--configuration", RING, "--scale", "50", "--name", "four"]
    try:
        assert "four: 4 hosts, 4 cables of 20 Mbit/s (scale 50)" in hamtune(*up).stdout
        assert "up already" in hamtune(*up).stdout
        [listed] = hamtune.json("testbed", "list")
        assert listed["scaled_machine"]["link_bandwidth"] == 2.5e6
        program = tmp_path / "collectives"
        subprocess.run(["mpicc.openmpi", "-O1", PROGRAM, "-o", program], check=True)
        ran = hamtune(
            *("testbed", "run", "four", "--configuration", RING, "--json", "--"),
            *(str(program), "alltoall", "0", f"{BYTES}x1x1"),
        )
        details = json.loads(ran.stdout)["details"]
        # The ring algorithm sends every pair its bytes, over as many cables as they are apart.
        messages = BYTES * 4 * (1 + 2 + 1)
        assert messages < details["cable_bytes"] < 1.06 * messages + 150_000
        assert sum(map(sum, details["cables"])) == details["cable_bytes"]
    finally:
        assert "four down" in hamtune("testbed", "down", "four").stdout
    assert hamtune.json("testbed", "list") == []


@pytest.mark.alone
def test_a_job_measures_its_finalists_on_a_testbed_by_itself(hamtune: Hamtune) -> None:
    skip_without_namespaces(hamtune)
    file = hamtune.job_file(JOB)
    lacking = hamtune("run", file)
    assert lacking.returncode == 2
    assert "two" in lacking.stderr.splitlines()[-1]

    machine = hamtune.directory / "machine.yaml"
    machine.write_text(json.dumps(JOB["machine"]))
    try:
        assert "two: 2 hosts" in hamtune("testbed", "up", machine, "--name", "two").stdout
        done = hamtune("run", file, "--json")
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        best, job = answer["best"], answer["job"]["id"]
        measured = hamtune.json("measured", job)["items"]
        runs = [run for one in measured for run in one["runs"]]
        # Where something else keeps this host's cores busy, a run is made, and told apart.
        assert {run["state"] for run in runs} <= {"counted", "doubted"}
        assert "library's defaults of job" in done.stderr
        if best["decided_by"] != "measured":  # only where other work left no core to the ranks
            assert os.getloadavg()[0] > (os.cpu_count() or 1), done.stderr
            doubts = [one["reason"]["message"] for one in measured if one["state"] == "infeasible"]
            assert doubts
            assert all("no run of it counts: the cores of this host" in one for one in doubts)
            pytest.skip("other work left no core to the ranks, and so no run counts")
        assert best["measured"]["cluster"] == "testbed two"
        (own,) = (one["runs"] for one in measured if one["trial"] == best["trial"])
        assert len(own) >= 2
        counted = [run["seconds"] for run in own if run["state"] == "counted"]
        assert sorted(best["measured"]["runs"]) == sorted(counted)
        table = hamtune("measured", job).stdout
        assert table.startswith(f"decided on testbed two for trial {best['trial']}\n")
    finally:
        assert "two down" in hamtune("testbed", "down", "two").stdout

"""`hamtune validate`: trials of a job are measured on an emulated cluster, and kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Hamtune

MACHINE = (
    "{nodes: 4, host_speed: 2Gf, link_bandwidth: 20Mbps, network: packets,"
    " topology: {edges: [[0, 1], [1, 2], [2, 3], [0, 3]]}}"
)
JOB = f"""
name: validated
application: {{builtin: is, class: S, ranks: 4}}
machine: {MACHINE}
search:
  target: openmpi-4.1
  mapping: [by-order, random]
  collectives: {{alltoall: all, allreduce: all}}
budget: {{trials: 4}}
seed: 1
"""


@pytest.fixture
def hamtune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hamtune:
    monkeypatch.setenv("HAMTUNE_TESTBEDS", str(tmp_path / "testbeds"))
    return Hamtune(tmp_path)


def test_trials_are_measured_beside_what_was_simulated(hamtune: Hamtune, tmp_path: Path) -> None:
    checks = {check["name"]: check for check in hamtune.json("testbed", "doctor")["checks"]}
    if checks["namespaces"]["status"] == "failed":
        pytest.skip(checks["namespaces"]["text"])
    (tmp_path / "job.yaml").write_text(JOB)
    hamtune("run", str(tmp_path / "job.yaml"))
    try:
        hamtune("testbed", "up", MACHINE, "--scale", "1", "--name", "four")
        found = hamtune.json(
            *("validate", "validated", "--testbed", "four", "--top", "1", "--spread", "1"),
            *("--precision", "1"),
        )
    finally:
        hamtune("testbed", "down", "four")
    *trials, defaults = found["configurations"]
    assert defaults["label"] == "the library's defaults"
    assert len(trials) >= 2
    assert all(trial["simulated"] > 0 for trial in trials)
    unknown = [trial for trial in trials if trial["measured"] is None]
    if unknown:  # only where other work left no core to the ranks, and each run says so
        assert os.getloadavg()[0] > (os.cpu_count() or 1), unknown
        assert all(trial["failures"] == [] and trial["doubts"] for trial in unknown)
        assert all("the cores of this host" in doubt for t in unknown for doubt in t["doubts"])
    else:
        assert all(trial["measured"] > 0 for trial in trials)
        assert found["regret"] >= 1
        assert found["chosen"] == min(trials, key=lambda trial: trial["simulated"])["label"]
    kept = hamtune.json("measured", "validated")["items"]
    assert [one["label"] for one in kept] == [one["label"] for one in found["configurations"]]
    assert {one["purpose"] for one in kept} == {"validation"}


def test_a_cluster_must_be_named(hamtune: Hamtune) -> None:
    done = hamtune("validate", "validated")
    assert done.returncode == 2
    assert "name a cluster: either --testbed, or --mpirun with --hosts" in done.stderr

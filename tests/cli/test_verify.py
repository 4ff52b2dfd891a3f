"""`hamtune verify` on Debian's Open MPI, over hosts that are all this machine."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.verify import gain
from tests.cli.conftest import Hamtune

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,tcp",
    "OMPI_MCA_btl_tcp_if_include": "lo",
    "OMPI_MCA_oob_tcp_if_include": "lo",
    "OMPI_MCA_plm_rsh_agent": str(ROOT / "tests/service/exports/programs/on_host"),
    "MPIRUN": "mpirun.openmpi",
}
JOB: dict[str, Any] = {
    "name": "tuned",
    "application": {"builtin": "is", "class": "S", "ranks": 2},
    "machine": {
        "nodes": 4,
        "cores_per_host": 2,
        "degree": 2,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
    },
    "search": {"topology": "random", "mapping": ["by-order", "round-robin"]},
    "budget": {"trials": 4},
}


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Hamtune:
    """A data directory in which a job for Open MPI has run, and its export."""
    hamtune = Hamtune(tmp_path_factory.mktemp("tuned"), ENVIRONMENT)
    job = hamtune.directory / "job.yaml"
    job.write_text(json.dumps(JOB))
    hamtune.json("run", job, "--target", "openmpi-4.1")
    (hamtune.directory / "hosts").write_text("n[0-3]\n")
    hamtune.json("export", "tuned", "--target", "openmpi-4.1", "--hosts", "hosts", "-o", "out")
    return hamtune


def test_every_choice_of_a_search_for_a_target_can_be_exported(tuned: Hamtune) -> None:
    assert tuned.json("best", "tuned")["configuration"]["mpi"] == "openmpi-4.1"
    text = (tuned.directory / "out/mca-params.conf").read_text()

    assert "alltoall = " in text
    for line in text.splitlines():
        kind = line.partition(": ")[2].partition(" ")[0]
        assert kind != "none"
        assert kind != "nearest" or "left to the library" in line


def test_the_collectives_are_measured_and_the_measurement_is_kept(tuned: Hamtune) -> None:
    found = tuned.json("verify", "out", "--runs", "2", "--mpicc", "mpicc.openmpi", "--send")

    assert len(found["exported_seconds"]) == len(found["default_seconds"]) == 2
    assert found["interval"][0] <= found["speedup"] <= found["interval"][1]
    ratios = [
        slow / fast
        for fast, slow in zip(found["exported_seconds"], found["default_seconds"], strict=True)
    ]
    assert found["speedup"] == pytest.approx(math.sqrt(ratios[0] * ratios[1]))
    assert found["simulated_speedup"] > 0


def test_the_simulated_speed_up_is_that_of_what_the_files_hold(tuned: Hamtune) -> None:
    tuned("export", "tuned", "--format", "mpich", "-o", "unlike")
    path = tuned.directory / "unlike/export.json"
    manifest = json.loads(path.read_text())
    assert manifest["unlike"]
    simulated = manifest["simulated"]
    simulated["really"] = 1.25 * simulated["exported"]
    (tuned.directory / "unlike" / manifest["exported"]["command"][0]).write_text(
        '#!/bin/sh\necho "took 1.5 s"\n'
    )
    path.write_text(json.dumps(manifest | {"default": manifest["exported"] | {"unset": []}}))

    found = tuned.json(
        "verify", "unlike", "--runs", "2", "--time-from", "took ([0-9.]+) s", "--", "true"
    )

    assert found["simulated_speedup"] == simulated["default"] / simulated["really"]


def test_a_program_is_measured_by_what_it_says(tuned: Hamtune) -> None:
    script = tuned.directory / "out/program.sh"
    script.write_text('#!/bin/sh\necho "took ${OMPI_MCA_coll_tuned_use_dynamic_rules}.5 s"\n')
    script.chmod(0o755)

    done = tuned(
        "verify", "out", "--runs", "2", "--time-from", "took ([0-9.]+) s", "--", str(script)
    )

    assert done.returncode == 0, done.stderr
    # The export turns dynamic rules on and takes 1.5 s, the default turns them off: 0.5 s.
    assert done.stdout.startswith("measured speed-up 0.333 (95% confidence: 0.333 to 0.333)")
    assert "simulated speed-up " in done.stdout


def test_what_cannot_be_measured_is_said(tuned: Hamtune, tmp_path: Path) -> None:
    assert "is no export for an MPI library" in tuned.refused("verify", str(tmp_path))
    assert "needs a group" in tuned.refused("verify", "out", "--time-from", "x", "--", "true")
    assert "goes with a command" in tuned.refused("verify", "out", "--time-from", "(x)")
    started = tuned.refused("verify", "out", "--", "mpirun.openmpi", "./solver")
    assert "give the program alone, not mpirun.openmpi" in started
    failed = tuned("verify", "out", "--", "false")
    assert failed.returncode == 1
    assert "the exported run failed with status 1" in failed.stderr.splitlines()[0]


def test_an_export_says_what_its_library_will_not_run(tuned: Hamtune) -> None:
    said = tuned("export", "tuned", "--format", "mpich", "-o", "other").stderr.splitlines()

    assert said[0].startswith("hamtune: warning: MPICH 4.0 does not run what was simulated: ")
    assert "hamtune: warning: what is exported takes " in said[-1]
    assert "'--target mpich-4.0 --nearest' exports the nearest" in said[-1]
    same = tuned("export", "tuned", "--target", "openmpi-4.1", "-o", "same")
    assert "warning" not in same.stderr


def test_hosts_may_be_listed_in_the_command(tuned: Hamtune) -> None:
    export = ("export", "tuned", "--target", "openmpi-4.1", "-o", "listed", "--hosts")
    assert "not a number or a range" in tuned.refused(*export, "n[0-x]")
    assert "names 3 hosts; the machine has 4" in tuned.refused(*export, "n[0-2]")
    assert "'nowhere' does not exist" in tuned.refused(*export, "nowhere")

    assert tuned(*export, "n[0-3]").returncode == 0
    listed = (tuned.directory / "listed/hostfile").read_text()
    assert listed == (tuned.directory / "out/hostfile").read_text()


def test_an_export_says_which_files_it_replaces(tuned: Hamtune) -> None:
    export = ("export", "tuned", "--target", "openmpi-4.1", "--hosts", "hosts", "-o", "again")
    assert "replaced" not in tuned(*export).stderr
    assert "replaced" not in tuned(*export).stderr
    (tuned.directory / "again/hostfile").write_text("mine\n")

    said = tuned(*export).stderr
    assert "hamtune: warning: replaced what was in again/hostfile\n" in said


def test_bad_hosts_and_targets_are_refused(tuned: Hamtune) -> None:
    (tuned.directory / "short").write_text("a b c\n")
    (tuned.directory / "twice").write_text("a b c a\n")
    export = ("export", "tuned", "--target", "openmpi-4.1", "-o", "refused")

    assert "names 3 hosts; the machine has 4" in tuned.refused(*export, "--hosts", "short")
    assert "a stands on line 1 already" in tuned.refused(*export, "--hosts", "twice")
    assert "lam" in tuned.refused("export", "tuned", "--target", "lam", "-o", "refused")
    assert "cannot express" in tuned.refused(
        "export", "tuned", "--target", "mpich-4.0", "-o", "refused", status=1
    )
    assert not (tuned.directory / "refused").exists()


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=20), st.floats(0.2, 5.0))
def test_equal_ratios_leave_no_doubt(fast: list[float], ratio: float) -> None:
    speedup, (low, high) = gain(fast, [ratio * seconds for seconds in fast])

    assert speedup == pytest.approx(ratio)
    assert low == pytest.approx(ratio)
    assert high == pytest.approx(ratio)

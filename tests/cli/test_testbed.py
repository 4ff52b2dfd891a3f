"""`hamtune testbed`: a machine comes up, a program runs with the files of an export, it is gone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hamtune

MACHINE = "{nodes: 4, host_speed: 1Gf, link_bandwidth: 1Gbps}"
RING = "{topology: ring, mapping: round-robin, collectives: {alltoall: ring}}"
PROGRAM = Path(__file__).resolve().parents[2] / "measuring" / "programs" / "collectives.c"
BYTES = 20_000


@pytest.fixture
def hamtune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hamtune:
    monkeypatch.setenv("HAMTUNE_TESTBEDS", str(tmp_path / "testbeds"))
    return Hamtune(tmp_path)


def test_a_program_runs_with_the_files_of_an_export(hamtune: Hamtune, tmp_path: Path) -> None:
    checks = {check["name"]: check for check in hamtune.json("testbed", "doctor")["checks"]}
    if checks["namespaces"]["status"] == "failed":
        pytest.skip(checks["namespaces"]["text"])
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
            *(str(program), "alltoall", "0", "1", str(BYTES)),
        )
        details = json.loads(ran.stdout)["details"]
        # The ring algorithm sends every pair its bytes, over as many cables as they are apart.
        messages = BYTES * 4 * (1 + 2 + 1)
        assert messages < details["cable_bytes"] < 1.06 * messages + 150_000
        assert sum(map(sum, details["cables"])) == details["cable_bytes"]
    finally:
        assert "four down" in hamtune("testbed", "down", "four").stdout
    assert hamtune.json("testbed", "list") == []

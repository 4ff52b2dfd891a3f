"""The simulator's input: whatever a trace or a request holds, an answer or one plain line."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.fuzz.mutation import mutants
from tests.service.conftest import write_pair
from tests.workers.simulator.runs import on_a_line
from workers.simulator_client import BINARY

COUNT = int(os.environ.get("HAMTUNE_FUZZ_COUNT", "150"))
SEED = int(os.environ.get("HAMTUNE_FUZZ_SEED", "1"))
STATUSES = ("completed", "censored", "infeasible", "failed")


def requests() -> list[bytes]:
    limits = {"memory_bytes": 1 << 28, "wall_seconds": 2.0, "cutoff": 1.0}
    return [
        json.dumps(on_a_line(0, 1, **limits)).encode(),
        json.dumps(on_a_line(1, 0, **limits, options={"smpi/allreduce": "rdb"})).encode(),
    ]


def test_whatever_a_request_holds_the_server_answers_each_line(tmp_path: Path) -> None:
    write_pair(tmp_path / "pair.ht")
    lines = [
        line.replace(b"\n", b" ").replace(b"\r", b" ") for line in mutants(requests(), COUNT, SEED)
    ]
    asked = [line for line in lines if line.strip()]
    unhurried = on_a_line(0, 1, wall_seconds=600.0)
    done = subprocess.run(
        [BINARY, "--server", "--trace", tmp_path / "pair.ht"],
        input=b"\n".join([*asked, json.dumps(unhurried).encode()]) + b"\n",
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-500:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked) + 1
    assert all(answer["status"] in STATUSES for answer in answers)
    assert answers[-1]["status"] == "completed"


def test_whatever_a_trace_holds_the_simulator_ends_in_order(tmp_path: Path) -> None:
    path = tmp_path / "pair.ht"
    write_pair(path)
    good = path.read_bytes()
    refused = 0
    for number, content in enumerate(mutants([good], COUNT // 3, SEED)):
        path.write_bytes(content)
        done = subprocess.run(
            [BINARY, "--trace", path, "--request", "-"],
            input=requests()[0],
            capture_output=True,
            timeout=300,
        )
        assert done.returncode in (0, 1, 2), f"mutant {number}: {done.returncode} {done.stderr!r}"
        if done.returncode:
            refused += 1
            assert len(done.stderr.splitlines()) == 1, done.stderr
        else:
            assert json.loads(done.stdout)["status"] in STATUSES
    assert refused

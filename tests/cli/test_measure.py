"""`hamtune measure`: scripts of the user's measure a job at a running service, to its end."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Hamtune


@pytest.fixture
def job(job: dict[str, Any]) -> dict[str, Any]:
    """A job that is measured by a script."""
    job |= {"external": "measurements", "budget": {"trials": 6}}
    return job


def script(hamtune: Hamtune, text: str) -> Path:
    """A script; each of its runs adds a line to the file `runs`."""
    path = hamtune.directory / "measure.sh"
    path.write_text(f"#!/bin/sh\necho $HAMTUNE_TRIAL >> {hamtune.directory}/runs\n{text}\n")
    path.chmod(0o755)
    return path


def runs(hamtune: Hamtune) -> list[int]:
    file = hamtune.directory / "runs"
    return list(map(int, file.read_text().split())) if file.exists() else []


def test_a_job_is_measured_to_its_end(hamtune: Hamtune, job: dict[str, Any]) -> None:
    measured = script(hamtune, """if grep -q '"mpi": "ompi"'; then echo 1.5; else echo 2; fi""")
    with hamtune.service():
        job_id = hamtune("submit", hamtune.job_file(job)).stdout.strip()
        done = hamtune("measure", job_id, "--", measured, "--runs", "3")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("best: ")
        trials = hamtune.trials(job_id)
    for trial in trials:
        assert trial["value"] == (1.5 if trial["configuration"]["mpi"] == "ompi" else 2.0)
        assert f"trial {trial['number']}" in done.stderr
    assert sum(trial["kind"] == "search" for trial in trials) == 6
    assert sorted(runs(hamtune)) == [trial["number"] for trial in trials]


def test_several_are_measured_at_once_and_failures_are_told(
    hamtune: Hamtune, job: dict[str, Any]
) -> None:
    job["batch"] = 4
    measured = script(
        hamtune, "echo out of hosts >&2; test $((HAMTUNE_TRIAL % 2)) = 0 || exit 3; echo 1"
    )
    with hamtune.service():
        job_id = hamtune("submit", hamtune.job_file(job)).stdout.strip()
        ended = hamtune.json("measure", job_id, "--parallel", "3", "--", measured)
        assert ended["state"] == "completed"
        trials = hamtune.trials(job_id)
    assert {trial["state"] for trial in trials if trial["number"] % 2} == {"failed"}
    assert {trial["value"] for trial in trials if not trial["number"] % 2} == {1.0}


def test_ctrl_c_hands_back_and_the_same_command_goes_on(
    hamtune: Hamtune, job: dict[str, Any]
) -> None:
    held = hamtune.directory / "hold"
    held.touch()
    measured = script(hamtune, f"while [ -e {held} ]; do sleep 0.05; done; echo 1")
    with hamtune.service():
        job_id = hamtune("submit", hamtune.job_file(job)).stdout.strip()
        process = hamtune.start("measure", job_id, "--", measured)
        while not runs(hamtune):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out) == (130, "")
        assert "the same command goes on" in err
        held.unlink()
        ended = hamtune.json("measure", job_id, "--", measured)
        assert ended["state"] == "completed"
        numbers = [trial["number"] for trial in hamtune.trials(job_id)]
    assert runs(hamtune) == [numbers[0], *numbers]


def test_a_script_that_tells_no_time_costs_no_trial(hamtune: Hamtune, job: dict[str, Any]) -> None:
    measured = script(hamtune, "echo done")
    with hamtune.service():
        job_id = hamtune("submit", hamtune.job_file(job)).stdout.strip()
        line = hamtune.refused("measure", job_id, "--", measured)
        assert "its last line is 'done'; it must print the seconds" in line
        assert {trial["state"] for trial in hamtune.trials(job_id)} == {"pending"}
        script(hamtune, "echo 1")
        assert hamtune.json("measure", job_id, "--", measured)["state"] == "completed"


def test_a_script_can_export_its_trial(hamtune: Hamtune, job: dict[str, Any]) -> None:
    """As the documentation has it: the files of the trial are what the program is run with."""
    job["budget"] = {"trials": 1}
    exported = f"{hamtune.directory}/run-$HAMTUNE_TRIAL"
    export = f'"$HAMTUNE_JOB" --trial "$HAMTUNE_TRIAL" --format openmpi --output "{exported}"'
    measured = script(
        hamtune,
        f"{ROOT}/hamtune export {export} >&2 || exit 1\ntest -x {exported}/mpirun.sh && echo 1",
    )
    with hamtune.service() as service:
        job_id = hamtune("submit", hamtune.job_file(job), "--server", service.url).stdout.strip()
        done = hamtune("measure", job_id, "--server", service.url, "--", measured)
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr


def test_what_cannot_be_measured_is_said(hamtune: Hamtune, job: dict[str, Any]) -> None:
    measured = script(hamtune, "echo 1")
    assert "Missing argument" in hamtune.refused("measure", "cg")
    assert "'none.sh' is no program" in hamtune.refused("measure", "cg", "--", "none.sh")
    assert "no service runs over" in hamtune.refused("measure", "cg", "--", measured, status=1)
    with hamtune.service():
        del job["external"]
        job["budget"] = {"trials": 2}
        other = hamtune("submit", hamtune.job_file(job)).stdout.strip()
        line = hamtune.refused("measure", other, "--", measured, status=1)
        assert "scripts need 'measurements' there" in line
        job["external"] = "measurements"
        paused = hamtune("submit", hamtune.job_file(job)).stdout.strip()
        hamtune("pause", paused)
        line = hamtune.refused("measure", paused, "--", measured, status=1)
        assert "resume it first" in line
        hamtune("cancel", paused)
        done = hamtune("measure", paused, "--json", "--", measured)
        assert done.returncode == 1
        assert json.loads(done.stdout)["state"] == "cancelled"
    assert runs(hamtune) == []

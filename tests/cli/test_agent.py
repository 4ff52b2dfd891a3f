"""Finalists measured by agents: real runs of Open MPI, agents that die, keys that do not fit."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.client import connect
from measuring.building import build_builtin
from searchspace import builtins
from service.settings import Settings
from tests.cli.conftest import Hamtune

JOB: dict[str, Any] = {
    "name": "is-measured",
    "application": {"builtin": "is", "class": "S", "ranks": 4},
    "machine": {
        "nodes": 2,
        "degree": 1,
        "topology": {"edges": [[0, 1]]},
        "cores_per_host": 2,
        "host_speed": "1Gf",
        "link_bandwidth": "1Gbps",
        "network": "packets",
    },
    "search": {"target": "openmpi-4.1", "collectives": {"allreduce": "all"}},
    "budget": {"trials": 4},
    "finalists": {"measure": 2, "on": "agent", "repetitions": 2, "application": "is"},
}


def write_configuration(directory: Path, command: str) -> Path:
    """Two hosts that are both this one: what mpirun would send elsewhere is started here."""
    starter = directory / "start-here.sh"
    starter.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    starter.chmod(0o755)
    launcher = (
        "mpirun.openmpi --allow-run-as-root --oversubscribe --mca btl self,tcp"
    )
    configuration = {
        "cluster": "here",
        "mpirun": f"{launcher} --mca plm_rsh_agent {starter}",
        "hosts": ["localhost", "spare"],
        "cores_per_host": 2,
        "applications": {"is": {"command": command}},
    }
    path = directory / f"agent-{len(list(directory.glob('agent-*')))}.yaml"
    path.write_text(yaml.safe_dump(configuration))
    return path


def wait_for(client: Any, path: str, fits: Any) -> Any:
    for _ in range(600):
        answer = client.get(path)
        if fits(answer):
            return answer
        time.sleep(0.1)
    raise AssertionError(f"{path} stays {answer}")


def test_a_killed_agents_run_is_taken_over_and_the_measured_best_is_the_best(
    hamtune: Hamtune, tmp_path: Path
) -> None:
    command = build_builtin(builtins.validate("is", {"class": "S"}, 4), "openmpi", tmp_path)
    file = hamtune.job_file(JOB)
    with hamtune.service() as served, ExitStack() as held:
        client = held.enter_context(connect(served.url, Settings.under(hamtune.data)))
        job = hamtune("submit", file).stdout.strip()
        measured = f"/jobs/{job}/measured"
        wait_for(client, measured, lambda found: found["state"] == "open")

        hanging = write_configuration(tmp_path, "sleep 600")
        killed = hamtune.start("agent", hanging, "--server", served.url)
        wait_for(client, measured, lambda found: any(one["runs"] for one in found["items"]))
        os.killpg(killed.pid, signal.SIGKILL)  # with its launcher, as when a host dies
        killed.wait()

        able = write_configuration(tmp_path, " ".join(command))
        other = hamtune.start("agent", able, "--server", served.url)
        try:
            found = wait_for(client, measured, lambda one: one["state"] != "open")
        finally:
            other.send_signal(signal.SIGINT)
            other.wait()
        wait_for(client, f"/jobs/{job}", lambda one: one["state"] == "completed")
        best = client.get(f"/jobs/{job}/best")
    states = [Counter(run["state"] for run in one["runs"]) for one in found["items"]]
    assert sum(state["lost"] for state in states) == 1
    assert all(state["counted"] in (0, 2) for state in states)
    assert found["state"] == "decided"
    assert (best["decided_by"], best["trial"]) == ("measured", found["decided"])
    assert best["measured"]["default"] > 0, found


@pytest.mark.parametrize("missing", ["hosts", "applications", "cluster"])
def test_a_configuration_that_lacks_something_is_refused(
    hamtune: Hamtune, tmp_path: Path, missing: str
) -> None:
    path = write_configuration(tmp_path, "true")
    document = yaml.safe_load(path.read_text())
    del document[missing]
    path.write_text(yaml.safe_dump(document))
    assert missing in hamtune.refused("agent", path, "--server", "http://127.0.0.1:1")

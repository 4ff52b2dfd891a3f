"""Finalists measured by agents: real runs of Open MPI, agents that die, keys that do not fit."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.agent import Configuration
from cli.client import connect
from measuring.building import build_builtin
from searchspace import builtins
from searchspace.errors import InvalidInput
from searchspace.validation import check
from service.settings import Settings
from tests.cli.conftest import Hamtune
from tests.processes import are_running

RANKS = 2
JOB: dict[str, Any] = {
    "name": "is-measured",
    "application": {"builtin": "is", "class": "S", "ranks": RANKS},
    "machine": {
        "nodes": 2,
        "degree": 1,
        "topology": {"edges": [[0, 1]]},
        "host_speed": "1Gf",
        "link_bandwidth": "1Gbps",
        "network": "packets",
    },
    "search": {"target": "openmpi-4.1", "collectives": {"allreduce": "all"}},
    "budget": {"trials": 4},
    "finalists": {"measure": 2, "on": "agent", "repetitions": 2, "application": "is"},
}


OPENMPI = {
    "mpirun": "mpirun.openmpi --allow-run-as-root --oversubscribe --mca btl self,tcp",
    "library": "openmpi",
}
MPICH = {"mpirun": "mpiexec.mpich -launcher fork", "library": "mpich"}
SLEEP = "600.0625"


def write_configuration(directory: Path, launcher: dict[str, str], command: str) -> Path:
    """Two hosts that are both this one: what mpirun would send elsewhere is started here."""
    starter = directory / "start-here.sh"
    starter.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    starter.chmod(0o755)
    configuration = {
        **launcher,
        "cluster": "here",
        "hosts": ["localhost", "spare"],
        "applications": {"is": {"command": command}},
    }
    if launcher is OPENMPI:
        configuration["mpirun"] = f"{launcher['mpirun']} --mca plm_rsh_agent {starter}"
    path = directory / f"agent-{len(list(directory.glob('agent-*')))}.yaml"
    path.write_text(yaml.safe_dump(configuration))
    return path


def let_leases_end(hamtune: Hamtune) -> None:
    """As 20 s of silence do."""
    with closing(sqlite3.connect(hamtune.data / "hamtune.db", timeout=30.0)) as database:
        database.execute("UPDATE measured_runs SET expires_at = 0 WHERE state = 'running'")
        database.commit()


@dataclass(frozen=True)
class Service:
    """A service, a client of it, and the commands of its users."""

    hamtune: Hamtune
    url: str
    client: Any

    def submit(self, job: dict[str, Any]) -> str:
        """Submit a job and wait until its finalists are to be measured; its id."""
        job_id = self.hamtune("submit", self.hamtune.job_file(job)).stdout.strip()
        self.wait_for(f"/jobs/{job_id}/measured", lambda found: found["state"] == "open")
        return job_id

    def wait_for(self, path: str, fits: Any) -> Any:
        for _ in range(6000):
            answer = self.client.get(path)
            if fits(answer):
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{path} stays {answer}")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    hamtune = Hamtune(tmp_path_factory.mktemp("agents"))
    with hamtune.service() as served, connect(served.url, Settings.under(hamtune.data)) as client:
        yield Service(hamtune, served.url, client)


def test_a_killed_agents_run_is_taken_over_and_the_measured_best_is_the_best(
    service: Service, tmp_path: Path
) -> None:
    command = build_builtin(builtins.validate("is", {"class": "S"}, RANKS), "openmpi", tmp_path)
    hamtune, client = service.hamtune, service.client
    job = service.submit(JOB)
    measured = f"/jobs/{job}/measured"
    assert client.get(f"/jobs/{job}")["progress"]["measuring"]["wanted"] == 0

    hanging = write_configuration(tmp_path, OPENMPI, f"sleep {SLEEP}")
    killed = hamtune.start("agent", hanging, "--server", service.url)
    service.wait_for(measured, lambda found: any(one["runs"] for one in found["items"]))
    killed.kill()
    killed.communicate()
    let_leases_end(hamtune)

    # Nothing is handed out while the job is paused.
    client.post(f"/jobs/{job}/pause")
    service.wait_for(f"/jobs/{job}", lambda one: one["state"] == "paused")
    able = write_configuration(tmp_path, OPENMPI, " ".join(command))
    idle = hamtune.json("agent", able, "--server", service.url, "--until-idle")
    assert idle == {"runs": 0}
    client.post(f"/jobs/{job}/resume")
    service.wait_for(f"/jobs/{job}", lambda one: one["state"] == "running")

    done = hamtune.json("agent", able, "--server", service.url, "--until-idle")
    found = client.get(measured)
    service.wait_for(f"/jobs/{job}", lambda one: one["state"] == "completed")
    best = client.get(f"/jobs/{job}/best")
    states = [Counter(run["state"] for run in one["runs"]) for one in found["items"]]
    assert sum(state["lost"] for state in states) == 1
    assert all(state["counted"] in (0, 2) for state in states)
    assert done["runs"] == sum(state["counted"] for state in states)
    assert found["state"] == "decided"
    assert (best["decided_by"], best["trial"]) == ("measured", found["decided"])
    assert best["measured"]["default"] is not None, found
    assert not are_running("sleep", SLEEP)  # what the killed agent had started


def test_mpich_is_measured_until_a_user_has_seen_enough(service: Service, tmp_path: Path) -> None:
    command = build_builtin(builtins.validate("is", {"class": "S"}, RANKS), "mpich", tmp_path)
    search = {**JOB["search"], "target": "mpich-4.0"}
    finalists = {**JOB["finalists"], "repetitions": 1000}
    job = service.submit({**JOB, "name": "endless", "search": search, "finalists": finalists})
    assert "finalists wait for an agent" in service.hamtune("show", job).stdout

    able = write_configuration(tmp_path, MPICH, " ".join(command))
    agent = service.hamtune.start("agent", able, "--server", service.url)
    try:
        service.wait_for(
            f"/jobs/{job}/measured",
            lambda found: (
                all(
                    any(run["state"] == "counted" for run in one["runs"])
                    for one in found["items"]
                    if one["state"] == "open"
                )
                and any(one["runs"] for one in found["items"])
            ),
        )
        shown = service.hamtune("show", job).stdout
        table = service.hamtune("measured", job, "--end").stdout.splitlines()
    finally:
        agent.send_signal(signal.SIGINT)
        agent.communicate()
    assert "measuring finalists: 0 of " in shown
    assert table[0].startswith("decided on here for trial ")
    assert table[0].endswith(": it was ended by a user")
    (defaults,) = (line for line in table if line.startswith("library's defaults "))
    assert defaults.endswith("measured")
    service.wait_for(f"/jobs/{job}", lambda one: one["state"] == "completed")
    assert "nothing of job" in service.hamtune.refused("measured", job, "--end", status=1)


def test_a_program_ends_when_its_measuring_has_ended(service: Service, tmp_path: Path) -> None:
    job = service.submit({**JOB, "name": "ended"})
    seconds = f"600.{os.getpid()}"  # no other test sleeps for so long
    hanging = write_configuration(tmp_path, OPENMPI, f"sleep {seconds}")
    agent = service.hamtune.start("agent", hanging, "--server", service.url)
    assert agent.stderr is not None
    try:
        # Where the cluster is another job's for the rest of a lease, it waits for that.
        service.wait_for("/jobs", lambda _: are_running("sleep\0", seconds))
        service.hamtune("measured", job, "--end")
        said = agent.stderr.readline()
        assert agent.poll() is None  # it goes on
    finally:
        agent.send_signal(signal.SIGINT)
        agent.communicate()
    assert f"of job {job}, run 1: ended before its time, for it is no longer wanted" in said
    assert not are_running(seconds)


def test_a_configuration_that_lacks_something_is_refused(hamtune: Hamtune, tmp_path: Path) -> None:
    path = write_configuration(tmp_path, OPENMPI, "true")
    whole = yaml.safe_load(path.read_text())
    for missing in ("hosts", "applications", "cluster"):
        document = {name: value for name, value in whole.items() if name != missing}
        with pytest.raises(InvalidInput, match=missing):
            check(Configuration, document)
    path.write_text(yaml.safe_dump(document))
    assert "cluster" in hamtune.refused("agent", path, "--server", "http://127.0.0.1:1")

"""The format `slurm`, installed on a cluster of three slurmd on this host."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from searchspace.formats.slurm_topology import read_slurm_topology
from tests.service.exports.conftest import SECONDS, Exported, Solve

HOSTS = ["n2", "n0", "n1"]
MACHINE = {
    "nodes": 3,
    "cores_per_host": 2,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
    # Two leaves with three hosts, and two spines.
    "topology": {
        "edges": [[0, 3], [1, 3], [2, 4], [3, 5], [3, 6], [4, 5], [4, 6]],
        "switches": 4,
    },
}
PLACES = ["n2", "n0", "n1", "n2", "n0"]
NODE = "NodeName={name} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=2\n"
CONFIGURATION = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
MessageTimeout=100
MpiDefault=none
TopologyPlugin=topology/tree
{nodes}PartitionName=all Nodes=n[0-2] Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture
def slurm(solve: Solve, exported: Callable[..., Exported]) -> Exported:
    """Five ranks, round robin on three hosts."""
    job_id = solve({"topology": "given", "mapping": "round-robin"}, ranks=5, machine=MACHINE)
    return exported(job_id, "slurm", hosts="\n".join(HOSTS))


@dataclass(frozen=True)
class Cluster:
    """A controller and the daemons of its nodes."""

    folder: Path

    def __call__(self, *command: str | Path, **environment: str) -> str:
        """What a command says."""
        done = self.run(*command, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env={**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), **environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


@contextmanager
def cluster(folder: Path, topology: str, reserve_port: Callable[[], int]) -> Iterator[Cluster]:
    """Start a cluster with this `topology.conf`; ends it at the end."""
    user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    nodes = "".join(NODE.format(name=name, port=reserve_port()) for name in ("n0", "n1", "n2"))
    text = CONFIGURATION.format(port=reserve_port(), user=user, folder=folder, nodes=nodes)
    (folder / "state").mkdir()
    (folder / "slurm.conf").write_text(text)
    (folder / "topology.conf").write_text(topology)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    started: list[subprocess.Popen[bytes]] = []
    try:
        with (folder / "log").open("wb") as log:
            commands = [["slurmctld", "-D"]]
            for name in ("n0", "n1", "n2"):
                (folder / f"spool-{name}").mkdir()
                commands.append(["slurmd", "-D", "-N", name])
            for command in commands:
                started.append(
                    subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
                )
        up = Cluster(folder)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and started[0].poll() is None:
            if up.run("sinfo", "-h", "-o", "%D %t").stdout.split() == ["3", "idle"]:
                break
            time.sleep(0.2)
        yield up
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:  # slurmd may miss the signal on a busy machine
                process.kill()
                process.wait()


def test_slurm_reads_the_tree_and_places_every_rank(
    slurm: Exported, tmp_path: Path, reserve_port: Callable[[], int]
) -> None:
    (tmp_path / "slurm").mkdir()
    hostfile = {"SLURM_HOSTFILE": str(slurm.folder / "hostfile")}
    script = slurm.folder / "job.sh"
    place = "echo $SLURM_PROCID $SLURMD_NODENAME"
    with cluster(tmp_path / "slurm", slurm.text("topology.conf"), reserve_port) as up:
        shown = up("scontrol", "show", "topology")
        output = tmp_path / "job.out"
        up("sbatch", f"--output={output}", script, "sh", "-c", place, **hostfile)
        deadline = time.monotonic() + SECONDS
        while not output.exists() or output.read_text().count("\n") < len(PLACES):
            assert time.monotonic() < deadline, "the job does not end"
            time.sleep(0.1)
        swapped = tmp_path / "swapped"
        swapped.write_text("\n".join(["n0", "n2", "n1", "n2", "n0", ""]))
        other = up(script, "sh", "-c", place, SLURM_HOSTFILE=str(swapped))

    assert "SwitchName=switch0 Level=0 LinkSpeed=1 Nodes=n2,n0" in shown
    assert "SwitchName=switch1 Level=0 LinkSpeed=1 Nodes=n1" in shown
    assert "Level=1 LinkSpeed=1 Nodes=n[0-2] Switches=switch0,switch1" in shown
    assert placed(output.read_text()) == PLACES
    assert placed(other) != PLACES


RAILS = {
    **MACHINE,
    # Two rails, each of two leaves and a spine: every host is on a leaf of both.
    "topology": {
        "edges": [
            *([0, 3], [1, 3], [2, 4], [3, 5], [4, 5]),
            *([0, 6], [1, 6], [2, 7], [6, 8], [7, 8]),
        ],
        "switches": 6,
    },
}


def test_slurm_reads_the_tree_of_hosts_on_two_rails(
    solve: Solve,
    exported: Callable[..., Exported],
    tmp_path: Path,
    reserve_port: Callable[[], int],
) -> None:
    job_id = solve({"topology": "given", "mapping": "round-robin"}, ranks=5, machine=RAILS)
    export = exported(job_id, "slurm", hosts="\n".join(HOSTS))

    text = export.text("topology.conf")
    (tmp_path / "slurm").mkdir()
    with cluster(tmp_path / "slurm", text, reserve_port) as up:
        shown = up("scontrol", "show", "topology")

    assert export.settings("topology.conf") == [
        "SwitchName=switch0 Nodes=n2,n0",
        "SwitchName=switch1 Nodes=n1",
        "SwitchName=switch2 Switches=switch0,switch1",
    ]
    assert sorted(read_slurm_topology(text).host_names) == ["n0", "n1", "n2"]
    assert "Level=1 LinkSpeed=1 Nodes=n[0-2] Switches=switch0,switch1" in shown


def placed(output: str) -> list[str]:
    """The host of every task, by what each has said."""
    told = sorted(tuple(line.split()) for line in output.splitlines())
    return [host for _, host in told]


def test_a_tree_with_an_unknown_node_is_refused(
    slurm: Exported, tmp_path: Path, reserve_port: Callable[[], int]
) -> None:
    wrong = slurm.text("topology.conf").replace("Nodes=n1", "Nodes=n7")
    with cluster(tmp_path, wrong, reserve_port) as up:
        shown = up.run("scontrol", "show", "topology").stdout

    assert "Nodes=n1" not in shown


def test_the_script_runs_nowhere_without_its_hostfile(slurm: Exported) -> None:
    done = subprocess.run(
        [slurm.folder / "job.sh", "true"],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "SLURM_HOSTFILE"},
        check=False,
    )

    assert (done.returncode, done.stderr) == (2, "job.sh: set SLURM_HOSTFILE to the hostfile\n")


def test_the_tree_is_read_back_and_blocks_are_not_called_tried(slurm: Exported) -> None:
    fabric = read_slurm_topology(slurm.text("topology.conf"))

    assert sorted(fabric.host_names) == ["n0", "n1", "n2"]
    assert slurm.settings("topology-block.conf") == [
        "BlockName=block0 Nodes=n2,n0",
        "BlockName=block1 Nodes=n1",
        "BlockSizes=1",
    ]
    assert "Not verified" in slurm.text("topology-block.conf")


def test_a_direct_network_becomes_switches_of_neighbouring_hosts(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    export = exported(solve({"topology": "random", "ordering": "hamorder"}), "slurm")

    fabric = read_slurm_topology(export.text("topology.conf"))
    assert len(fabric.host_names) == 16
    assert fabric.graph.switches == 3
    assert "which Slurm cannot say" in export.text("README.txt")

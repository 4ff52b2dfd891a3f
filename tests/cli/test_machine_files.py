"""Job files whose machine has its network in a file of its own: an existing cluster is tuned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.jobfile import read_job
from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.machine import parse_machine
from searchspace.platform import resolve

SLURM = """\
SwitchName=leaf1 Nodes=n[1-4]
SwitchName=leaf2 Nodes=n[5-8]
SwitchName=spine Switches=leaf1,leaf2
"""


def job(folder: Path, **machine: Any) -> Path:
    """A job file over a machine of these fields."""
    document = {
        "name": "existing",
        "application": {"builtin": "is", "class": "S", "ranks": 8},
        "machine": {"host_speed": "100Gf", "link_bandwidth": "40Gbps", **machine},
        "search": {"ordering": ["original", "hamorder"]},
        "budget": {"trials": 5},
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(document))
    return folder / "job.yaml"


def test_a_cluster_that_exists(tmp_path: Path) -> None:
    (tmp_path / "topology.conf").write_text(SLURM)
    machine = read_job(job(tmp_path, topology={"file": "topology.conf"})).described_machine
    assert machine.nodes == 8
    assert machine.host_names == tuple(f"n{n}" for n in range(1, 9))
    assert machine.given_network is not None
    assert machine.given_network.switches == 3
    resolved = resolve(Configuration({"ordering": "original"}), machine, 8)
    assert resolved.host_names == machine.host_names
    assert len(resolved.simulator_request()["platform"]["edges"]) == 10


def test_hosts_keep_their_names_when_they_are_ordered() -> None:
    edges = [[0, 2], [2, 1], [1, 3]]
    machine = parse_machine(
        {
            "nodes": 4,
            "host_speed": 1e9,
            "link_bandwidth": 1e9,
            "topology": {"edges": edges, "host_names": ["a", "b", "c", "d"]},
        }
    )
    resolved = resolve(Configuration({"ordering": "hamorder"}), machine, 4)
    cables = {frozenset(resolved.host_names[host] for host in edge) for edge in resolved.edges}
    assert cables == {frozenset("ac"), frozenset("bc"), frozenset("bd")}


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ({"topology": {"file": "gone"}}, "machine.topology.file: there is no file .*gone"),
        ({"topology": {"file": "bad"}}, r"machine.topology.file: .*bad: line 1 of the edge list"),
        ({"nodes": 9, "topology": {"file": "ok"}}, "machine.nodes: .*ok has 8 hosts, not 9"),
        (
            {"topology": {"file": "ok", "format": "dot"}},
            "machine.topology.format: unknown format 'dot'; allowed: edges",
        ),
        ({"topology": {"file": "ok", "edges": []}}, "machine.topology.edges: unknown field"),
    ],
)
def test_refuses(machine: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "ok").write_text(SLURM)
    (tmp_path / "bad").write_text("hello\n")
    with pytest.raises(InvalidInput, match=message):
        read_job(job(tmp_path, **machine))


def test_files_are_only_for_commands() -> None:
    description = {
        "nodes": 4, "host_speed": 1e9, "link_bandwidth": 1e9, "topology": {"file": "fabric.txt"},
    }  # fmt: skip
    with pytest.raises(
        InvalidInput, match=r"topology.file: names a file, which only commands read"
    ):
        parse_machine(description)

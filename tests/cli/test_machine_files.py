"""Job files whose machine has its network in a file of its own: an existing cluster is tuned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.jobfile import read_job
from cli.machine_files import read_description, with_network
from searchspace.configuration import Configuration
from searchspace.documents import read_document
from searchspace.errors import InvalidInput
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from tests.cli.conftest import Hamtune

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


HWLOC = """\
<topology version="2.0"><object type="Machine"><object type="Package">
<object type="Core"><object type="PU"/><object type="PU"/></object>
<object type="Core"><object type="PU"/><object type="PU"/></object>
</object></object></topology>
"""


def test_a_host_has_the_cores_that_lstopo_found(tmp_path: Path) -> None:
    (tmp_path / "host.xml").write_text(HWLOC)
    (tmp_path / "topology.conf").write_text(SLURM)
    path = job(tmp_path, topology={"file": "topology.conf"}, cores_per_host={"file": "host.xml"})
    machine = read_job(path).described_machine
    assert (machine.nodes, machine.cores_per_host, machine.cores) == (8, 2, 16)


IB = """\
switchguid=0x1
Switch 4 "S-1" # "leaf"
[1] "H-a"[1] # "gpu01 HCA-1"
[2] "H-b"[1] # "gpu02 HCA-1"
[3] "S-2"[3] # "spine"
[4] "S-2"[4] # "spine"
switchguid=0x2
Switch 4 "S-2" # "spine"
[1] "H-c"[1] # "gpu03 HCA-1"
[3] "S-1"[3] # "leaf"
[4] "S-1"[4] # "leaf"
Ca 1 "H-a" # "gpu01 HCA-1"
[1] "S-1"[1]
Ca 1 "H-b" # "gpu02 HCA-1"
[1] "S-1"[2]
Ca 1 "H-c" # "gpu03 HCA-1"
[1] "S-2"[1]
"""


def test_an_infiniband_cluster_is_tuned_from_its_files_to_an_export(tmp_path: Path) -> None:
    (tmp_path / "fabric.txt").write_text(IB)
    (tmp_path / "host.xml").write_text(HWLOC)
    document = {
        "name": "existing",
        "application": {"builtin": "collective", "operation": "bcast", "bytes": 8, "ranks": 6},
        "machine": {
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
            "switch_latency": "60ns",
            "cores_per_host": {"file": "host.xml"},
            "topology": {"file": "fabric.txt"},
        },
        "search": {
            "ordering": ["original", "hamorder"],
            "mapping": ["by-order", "round-robin"],
            "collectives": {"bcast": ["binomial_tree", "flattree"]},
        },
        "budget": {"trials": 6},
    }
    hamtune = Hamtune(tmp_path)
    ran = hamtune.json("run", hamtune.job_file(document))
    assert ran["job"]["state"] == "completed"
    exported = hamtune("export", ran["job"]["id"], "--format", "json", "--output", tmp_path / "out")
    assert exported.returncode == 0, exported.stderr
    text = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert all(host in text for host in ("gpu01", "gpu02", "gpu03"))


RATED = """\
Switch 4 "S-1" # "leaf"
[1] "H-a"[1] # "n1 HCA-1" lid 3 4xEDR
[3] "S-2"[3] # "spine" lid 2 4xFDR
Switch 4 "S-2" # "spine"
[1] "H-b"[1] # "n2 HCA-1" lid 4 4xEDR
[3] "S-1"[3] # "leaf" lid 1 4xFDR
Ca 1 "H-a" # "n1 HCA-1"
[1] "S-1"[1] # lid 3 lmc 0 "leaf" lid 1 4xEDR
Ca 1 "H-b" # "n2 HCA-1"
[1] "S-2"[1] # lid 4 lmc 0 "spine" lid 2 4xEDR
"""


@pytest.mark.parametrize(
    ("given", "bandwidths"),
    [
        ({}, (54.54545e9 / 8, 12.5e9)),
        ({"host_link_bandwidth": "10Gbps"}, (54.54545e9 / 8, 1.25e9)),
        ({"link_bandwidth": "40Gbps"}, (5e9, None)),
    ],
)
def test_the_rates_of_a_fabric_are_those_of_the_machine_unless_it_says_its_own(
    tmp_path: Path, given: dict[str, str], bandwidths: tuple[float, float | None]
) -> None:
    (tmp_path / "fabric.txt").write_text(RATED)
    path = tmp_path / "job.yaml"
    document = {
        "name": "rated",
        "application": {"builtin": "is", "class": "S", "ranks": 2},
        "machine": {"host_speed": "100Gf", "topology": {"file": "fabric.txt"}, **given},
        "search": {"ordering": ["original", "hamorder"]},
        "budget": {"trials": 5},
    }
    path.write_text(yaml.safe_dump(document))
    read = read_job(path).described_machine
    assert (read.link_bandwidth, read.host_link_bandwidth) == pytest.approx(bandwidths)


@pytest.mark.parametrize(
    ("given", "protocol"),
    [({}, "verbs"), ({"protocol": "tcp-openmpi"}, "tcp-openmpi"), ({"network": "fluid"}, None)],
)
def test_a_fabric_tells_the_protocol_unless_the_machine_says_its_own(
    tmp_path: Path, given: dict[str, str], protocol: str | None
) -> None:
    (tmp_path / "fabric.txt").write_text(RATED)
    path = job(tmp_path, cores_per_host=4, topology={"file": "fabric.txt"}, **given)
    read = read_job(path).described_machine
    assert (None if read.protocol is None else read.protocol.text) == protocol


def test_a_described_machine_has_a_protocol_only_where_it_has_packets(tmp_path: Path) -> None:
    (tmp_path / "fabric.txt").write_text(RATED)
    described = {"host_speed": "100Gf", "topology": {"file": "fabric.txt"}}
    assert parse_machine(with_network(described, tmp_path)).protocol is None
    packets = parse_machine(with_network({**described, "network": "packets"}, tmp_path))
    assert packets.model_text == "packets, verbs"


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
        ({"cores_per_host": {"file": "gone"}}, "machine.cores_per_host.file: there is no file"),
        ({"cores_per_host": {"file": "ok"}}, "machine.cores_per_host.file: .*ok: not XML"),
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


@pytest.mark.parametrize(
    ("text", "name", "what", "named"),
    [
        (IB, "fabric.txt", "output of ibnetdiscover", "{topology: {file: fabric.txt}}"),
        (SLURM, "topology.conf", "Slurm's topology.conf", "{topology: {file: topology.conf}}"),
        (HWLOC, "host.xml", "hwloc's XML", "{cores_per_host: {file: host.xml}}"),
        ("<graphml/>", "a.graphml", "GraphML", "{topology: {file: a.graphml}}"),
        ("<platform/>", "p.xml", "SimGrid platform", "{topology: {file: p.xml}}"),
    ],
)
def test_a_network_where_a_description_belongs_is_told_how_it_is_named(
    text: str, name: str, what: str, named: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput) as of_job:
        read_job(tmp_path / name)
    with pytest.raises(InvalidInput) as of_machine:
        read_description(text.encode(), name, of="machine")

    assert f"{tmp_path / name}: this is {what}" in str(of_job.value)
    assert str(of_job.value).endswith(f"a job names it: machine: {named}")
    assert str(of_machine.value).startswith(f"this is {what}")
    assert f"a machine names it: {named} and its other fields" in str(of_machine.value)


@pytest.mark.parametrize("text", ["a:\n\tb", "<html/>", "0 1", "{topology: [}"])
def test_other_text_is_refused_as_yaml_is_or_read(text: str) -> None:
    def outcome(read: Callable[[str], Any]) -> Any:
        try:
            return read(text)
        except InvalidInput as error:
            return str(error)

    assert outcome(lambda text: read_description(text, "f", of="job")) == outcome(read_document)

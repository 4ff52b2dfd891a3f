"""Formats that no tool here reads: what is in them, and that they say so."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.formats.graphml import read_graphml
from searchspace.formats.ib_discover import read_ib_discover
from searchspace.graph import Graph
from searchspace.machine import NetworkDescription, parse_machine
from searchspace.parts import Parts
from searchspace.topology import generate
from service.exports.cabling_export import COLUMNS, cables
from service.exports.formats import FORMATS
from service.exports.hosts import host_names
from storage.errors import Conflict
from storage.storage import Storage
from tests.searchspace.formats.test_network_files import IB
from tests.service.exports.conftest import Exported, Solve

MACHINE = {
    "nodes": 4,
    "degree": 2,
    "cores_per_host": 2,
    "host_speed": "100Gf",
    "link_bandwidth": "40Gbps",
}
CHOSEN = {"alltoall": "ring", "allreduce": "mvapich2_two_level"}


@pytest.fixture
def job_id(solve: Solve) -> str:
    """Eight ranks, round robin on four hosts."""
    return solve(
        {"topology": "random", "mapping": "round-robin", "collectives": CHOSEN},
        ranks=8,
        machine=MACHINE,
    )


def test_what_was_never_run_says_so(job_id: str, exported: Callable[..., Exported]) -> None:
    for name in ("mvapich2", "intelmpi", "cray"):
        export = exported(job_id, name)
        assert "not verified" in export.text("README.txt").lower()
        for file in export.files:
            if file.endswith((".sh", "RANK_ORDER")) and file != "mpiexec.sh":
                assert "not verified" in export.text(file).lower(), f"{name}: {file}"


def test_mvapich2_has_its_own_algorithms(job_id: str, exported: Callable[..., Exported]) -> None:
    export = exported(job_id, "mvapich2", hosts="a b c d")

    assert export.settings("environment.sh") == [
        "export MV2_ALLTOALL_TUNING=3",
        "export MV2_USE_XOR_ALLTOALL=0",
        "export MV2_INTER_ALLREDUCE_TUNING=1",
        "export MV2_INTER_ALLREDUCE_TUNING_TWO_LEVEL=1",
        "export MV2_INTRA_ALLREDUCE_TUNING=5",
        "export MV2_ENABLE_AFFINITY=1",
        "export MV2_CPU_BINDING_POLICY=bunch",
    ]
    assert export.text("hostfile").split() == ["a", "b", "c", "d"] * 2


def test_intel_mpi_is_told_by_numbers(job_id: str, exported: Callable[..., Exported]) -> None:
    export = exported(job_id, "intelmpi")

    assert export.settings("environment.sh") == [
        "export I_MPI_ADJUST_ALLTOALL=3",
        "export I_MPI_ADJUST_ALLREDUCE=4",
    ]
    assert "alltoall = ring: nearest 3" in export.text("environment.sh")


def test_cray_lists_the_ranks_of_every_host(job_id: str, exported: Callable[..., Exported]) -> None:
    export = exported(job_id, "cray", hosts="nid10 nid9 nid8 nid11")

    # In the order of the nodes' numbers, as the launcher fills them.
    assert export.settings("MPICH_RANK_ORDER") == ["2,6", "1,5", "0,4", "3,7"]


def test_cray_needs_as_many_ranks_on_every_host(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    uneven = solve({"topology": "random"}, ranks=5, machine=MACHINE)

    with pytest.raises(Conflict, match="hosts run 1 to 2 ranks"):
        exported(uneven, "cray")


def test_graphml_holds_the_network_by_its_names(
    job_id: str, exported: Callable[..., Exported]
) -> None:
    fabric = read_graphml(exported(job_id, "graphml", hosts="a b c d").text("network.graphml"))

    assert fabric.host_names == ("a", "b", "c", "d")
    assert len(fabric.graph.edges) == 4


def test_cabling_lists_every_cable(job_id: str, exported: Callable[..., Exported]) -> None:
    rows = list(csv.DictReader(exported(job_id, "cabling").text("cabling.csv").splitlines()))

    assert tuple(rows[0]) == COLUMNS
    assert [row["cable"] for row in rows] == ["1", "2", "3", "4"]
    assert {row["from device"] for row in rows} <= {f"node-{host}" for host in range(4)}
    assert all(row["type"] == "copper" and row["length"] == "2.0" for row in rows)


def test_the_cabling_of_a_known_fabric_has_its_own_switches_and_ports(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    discovered = IB
    for letter in "bc":
        adapter = f'Ca\t2 "H-000000000000{letter}"'
        discovered = discovered.replace(adapter, f"caguid=0x2c903000{letter}0\n{adapter}")
    fabric = read_ib_discover(discovered)
    machine = {
        **{name: value for name, value in MACHINE.items() if name != "degree"},
        "nodes": 3,
        "topology": NetworkDescription.of(fabric.graph, fabric.host_names),
    }
    job_id = solve({"topology": "given"}, machine=machine)

    text = exported(job_id, "cabling", fabric=discovered).text("cabling.csv")
    leaves = [f"MF0;leaf-{number}:SX6036/U1" for number in (1, 2)]
    assert [tuple(row.values())[1:5] for row in csv.DictReader(text.splitlines())] == [
        ("n01", "1", leaves[0], "1"),
        ("n02", "1", leaves[0], "2"),
        ("n03", "1", leaves[1], "1"),
        (leaves[0], "35", leaves[1], "35"),
        (leaves[0], "36", leaves[1], "36"),
    ]
    slurm = exported(job_id, "slurm", fabric=discovered).text("topology.conf")
    assert f"is {leaves[0]}" in slurm
    assert "switch-0" in exported(job_id, "cabling").text("cabling.csv")


@pytest.mark.parametrize("format_name", ["cabling", "all"])
def test_a_fabric_is_refused_where_another_network_is_the_best(
    solve: Solve, exported: Callable[..., Exported], format_name: str
) -> None:
    machine = {
        **MACHINE,
        "topology": NetworkDescription.of(Graph(4, ((0, 1), (0, 3), (1, 2), (2, 3)))),
    }
    job_id = solve({"topology": "random", "topology_seed": 1}, machine=machine)

    with pytest.raises(InvalidInput, match=r"^fabric: what is exported has the network 'random'"):
        exported(job_id, format_name, fabric='Ca 1 "H-1"\n')


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([("random", 64, 5), ("fat-tree", 16, 4), ("torus-2d", 16, 4)]), st.data())
def test_every_port_has_one_cable_and_none_is_skipped(
    family: tuple[str, int, int], data: st.DataObject
) -> None:
    name, nodes, degree = family
    graph = generate(name, nodes, degree=degree, seed=data.draw(st.integers(0, 99)))
    width = data.draw(st.integers(1, 3))
    doubled = Graph.from_cables(
        graph.nodes, [edge for edge in graph.edges for _ in range(width)], switches=graph.switches
    )
    names = tuple(f"d{node}" for node in range(graph.nodes))

    rows = cables(doubled, names, Parts())

    assert len(rows) == width * len(graph.edges)
    ports: dict[str, list[int]] = {}
    for _, here, port, there, other, *_ in rows:
        ports.setdefault(str(here), []).append(int(port))
        ports.setdefault(str(there), []).append(int(other))
    for used in ports.values():
        assert sorted(used) == list(range(1, len(used) + 1))


def test_all_formats_make_one_archive(job_id: str, exported: Callable[..., Exported]) -> None:
    export = exported(job_id, "all")

    folders = {name.partition("/")[0] for name in export.files}
    assert folders == {"README.txt", *FORMATS}
    text = export.text("README.txt")
    assert "alltoall = ring: same pairwise" in text
    assert "allreduce = mvapich2_two_level: nearest smp" in text
    assert all(f"{name}/  " in text for name in FORMATS)


def test_what_does_not_suit_the_job_is_left_out_and_named(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    export = exported(solve({"topology": "random"}, ranks=5, machine=MACHINE), "all")

    assert not any(name.startswith("cray/") for name in export.files)
    assert "cray: the hosts run 1 to 2 ranks" in export.text("README.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b c", "names 3 hosts; the machine has 4"),
        ("n[1-5]", "names 5 hosts; the machine has 4"),
        ("a b\nc a", "line 2: a stands on line 1 already"),
        ("a b c d;reboot", "line 1: 'd;reboot' is not a host name"),
        ("n[1-", "line 1: "),
    ],
)
def test_wrong_lists_of_hosts_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        host_names(text, parse_machine(MACHINE))
    assert refused.value.field == "hosts"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n[0-65534]\n" * 500, "names 32767500 hosts; the machine has 4, name each once"),
        ("n" * 1000 + "[0-65534]", "line 1: .* has a name of more than 253 characters"),
    ],
)
def test_short_lists_of_very_many_hosts_are_not_written_out(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        host_names(text, parse_machine(MACHINE))
    assert refused.value.field == "hosts"


def test_the_hosts_of_a_known_machine_are_not_shuffled() -> None:
    named = {"edges": [[0, 1], [1, 2], [2, 3]], "host_names": ["a", "b", "c", "d"]}
    machine = parse_machine({**MACHINE, "topology": named})

    assert host_names("w x y z", machine) == ("w", "x", "y", "z")
    with pytest.raises(InvalidInput, match="in another order"):
        host_names("b a c d", machine)


def test_nothing_depends_on_when_it_is_exported(
    storage: Storage, job_id: str, exported: Callable[..., Exported]
) -> None:
    assert exported(job_id, "all").files == exported(job_id, "all").files

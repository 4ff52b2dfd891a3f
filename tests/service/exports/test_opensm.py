"""The format `opensm`, read by opensm over a fabric that ibsim plays."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.ib_discover import read_ib_discover
from searchspace.graph import Graph
from searchspace.machine import NetworkDescription
from searchspace.topology import generate
from tests.service.exports.conftest import SECONDS, Exported, Solve

INTERPOSED = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))
FAT_TREE = generate("xgft", 8, degree=4, seed=0, children="2,4", parents="1,2")
# A ring of four switches with a host each has no levels.
RING = Graph.from_edges(
    8, [(0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (4, 7)], switches=4
)
# Both ports of each host's adapter lead to a leaf of their own.
TWO_PORTS = Graph.from_edges(
    7, [*((host, leaf) for host in range(4) for leaf in (4, 5)), (4, 6), (5, 6)], switches=3
)


def network_file(graph: Graph) -> str:
    """The network as ibsim reads it."""
    names = [f"n{i}" if i < graph.hosts else f"s{i}" for i in range(graph.nodes)]
    ports: Counter[int] = Counter()
    lines: dict[int, list[str]] = {node: [] for node in range(graph.nodes)}
    for u, v in graph.edges:
        ports.update((u, v))
        lines[u].append(f'[{ports[u]}] "{names[v]}"[{ports[v]}]\n')
        lines[v].append(f'[{ports[v]}] "{names[u]}"[{ports[u]}]\n')
    nodes = range(graph.nodes)
    kinds = [f"Hca {ports[node]}" if node < graph.hosts else "Switch 8" for node in nodes]
    return "\n".join(f'{kinds[node]} "{names[node]}"\n{"".join(lines[node])}' for node in nodes)


Tool = Callable[..., str]


@contextmanager
def simulated_fabric(network: Graph | str, folder: Path) -> Iterator[Tool]:
    """Start ibsim; gives a function that runs a tool over it and returns what it says."""
    text = network if isinstance(network, str) else network_file(network)
    (folder / "net").write_text(text)
    name = f"hamtune-{os.getpid()}-{folder.name}"
    environment = {
        **os.environ,
        "IBSIM_SOCKNAME": name,
        "OSM_TMP_DIR": str(folder),
        "OSM_CACHE_DIR": str(folder),
    }
    with (folder / "ibsim.log").open("wb") as log:
        process = subprocess.Popen(
            ["ibsim", "-s", "-n", str(folder / "net")],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )

    def tool(*command: str | Path) -> str:
        done = subprocess.run(
            command,
            env={**environment, "LD_PRELOAD": str(INTERPOSED)},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return done.stdout

    try:
        deadline = time.monotonic() + SECONDS
        # It says that it is ready before it listens.
        while f"@{name}:ctl" not in Path("/proc/net/unix").read_text():
            assert process.poll() is None, (folder / "ibsim.log").read_text()
            assert time.monotonic() < deadline, "ibsim does not start"
            time.sleep(0.05)
        yield tool
    finally:
        process.terminate()
        process.wait(timeout=SECONDS)


def manage(tool: Tool, export: Exported, folder: Path) -> str:
    """Install the files, let opensm sweep the fabric once, and return its log."""
    for name in export.files:
        text = (export.folder / name).read_text().replace("/etc/opensm", str(folder))
        (folder / name).write_text(text)
    log = folder / "opensm.log"
    log.unlink(missing_ok=True)
    partitions = ("-P", "/dev/null")
    patient = ("-t", "60000")  # milliseconds for an answer: a busy machine needs more than usual
    command = ("opensm", "-o", "-F", str(folder / "opensm.conf"), *partitions, *patient)
    tool(*command, "-D", "0x43", "-f", log)
    return log.read_text()


@pytest.fixture
def tuned(
    solve: Solve, exported: Callable[..., Exported]
) -> Callable[[str, Mapping[str, object]], Exported]:
    """Exports for the network that `ibnetdiscover` shows."""

    def export(discovered: str, configuration: Mapping[str, object]) -> Exported:
        fabric = read_ib_discover(discovered)
        described = NetworkDescription.of(fabric.graph, fabric.host_names)
        machine = {
            "nodes": fabric.graph.hosts,
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
            "topology": described,
        }
        job_id = solve({"topology": "given", **configuration}, machine=machine)
        return exported(job_id, "opensm", fabric=discovered)

    return export


def test_a_fat_tree_is_routed_from_its_roots(
    tuned: Callable[..., Exported], tmp_path: Path
) -> None:
    with simulated_fabric(FAT_TREE, tmp_path) as tool:
        discovered = tool("ibnetdiscover")
        export = tuned(discovered, {})
        right = manage(tool, export, tmp_path)
        # The leaves in the place of the spines: no fat tree, which opensm finds out.
        leaves = [f"0x{guid:016x}\n" for guid in range(0x200000, 0x200004)]
        (export.folder / "root-guids.conf").write_text("".join(leaves))
        wrong = manage(tool, export, tmp_path)

    roots = [line.split(" # ") for line in export.settings("root-guids.conf")]
    assert sorted(guid for guid, _ in roots) == ["0x0000000000200004", "0x0000000000200005"]
    assert {name.strip() for _, name in roots} <= set(read_ib_discover(discovered).names)
    assert "ftree tables configured" in right
    assert "ftree tables configured" not in wrong


def test_other_networks_are_routed_in_the_order_of_the_ranks(
    tuned: Callable[..., Exported], tmp_path: Path
) -> None:
    with simulated_fabric(RING, tmp_path) as tool:
        export = tuned(tool("ibnetdiscover"), {"ordering": "hamorder"})
        right = manage(tool, export, tmp_path)
        order = export.folder / "routing-order.conf"
        order.write_text(order.read_text() + "0xno\n")
        wrong = manage(tool, export, tmp_path)

    first = export.settings("routing-order.conf")[0]
    assert export.settings("opensm.conf")[0] == "routing_engine updn"
    assert first.startswith("0x00000000001000")
    assert "updn tables configured" in right
    assert "guid_routing_order" not in "".join(line for line in right.splitlines() if "ERR" in line)
    assert wrong.count("ERR") > right.count("ERR")


def test_all_ports_of_hosts_are_routed(tuned: Callable[..., Exported], tmp_path: Path) -> None:
    with simulated_fabric(TWO_PORTS, tmp_path) as tool:
        discovered = tool("ibnetdiscover")
        export = tuned(discovered, {})
        log = manage(tool, export, tmp_path)

    listed = [line.split(" # ") for line in export.settings("compute-node-guids.conf")]
    assert sorted(int(guid, 16) for guid, _ in listed) == [
        guid + port for guid in range(0x100000, 0x10000C, 3) for port in (1, 2)
    ]
    assert [host for host, _ in groupby(host for _, host in listed)] == [
        *read_ib_discover(discovered).host_names
    ]
    assert export.settings("routing-order.conf") == export.settings("compute-node-guids.conf")
    assert export.settings("root-guids.conf") == ["0x0000000000200002 # s6"]
    assert "ftree tables configured" in log


def test_a_map_of_names_names_a_host_that_its_adapter_does_not(tmp_path: Path) -> None:
    with simulated_fabric(network_file(TWO_PORTS).replace("n0", "localhost"), tmp_path) as tool:
        unnamed = tool("ibnetdiscover")
        (tmp_path / "map").write_text('0x100000 "n0 HCA-1"\n')
        named = tool("ibnetdiscover", "--node-name-map", tmp_path / "map")

    with pytest.raises(InvalidInput, match="H-0000000000100000 is 'localhost'; run ibnetdiscover"):
        read_ib_discover(unnamed)
    assert sorted(read_ib_discover(named).host_names) == ["n0", "n1", "n2", "n3"]


def test_a_name_of_several_lines_is_a_comment_of_one(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    names = ["a\n0x1", *(f"n{number}" for number in range(1, 8))]
    machine = {
        "nodes": 8,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "topology": NetworkDescription.of(FAT_TREE, names),
    }
    export = exported(solve({"topology": "given"}, machine=machine), "opensm")

    assert export.settings("compute-node-guids.conf") == []
    assert "# port GUID of a 0x1\n" in export.text("compute-node-guids.conf")


def test_without_guids_the_files_name_the_devices(
    solve: Solve, exported: Callable[..., Exported]
) -> None:
    machine = {
        "nodes": 8,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "topology": NetworkDescription.of(FAT_TREE),
    }
    job_id = solve({"topology": "given"}, machine=machine)
    export = exported(job_id, "opensm")

    assert export.settings("root-guids.conf") == []
    assert "# node GUID of switch-4\n# node GUID of switch-5\n" in export.text("root-guids.conf")
    assert "The GUIDs are not known" in export.text("README.txt")

    with pytest.raises(InvalidInput, match="not the network that the job's machine"):
        exported(
            job_id,
            "opensm",
            fabric='switchguid=0x1(1)\nSwitch 2 "S-1"\n[1] "H-1"[1](2)\n'
            'caguid=0x2\nCa 1 "H-1"\n[1](2) "S-1"[1]\n',
        )

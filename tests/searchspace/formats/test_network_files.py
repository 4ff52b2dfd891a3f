"""Networks in and out of files: every format reads back, and says what it cannot read."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.configuration import Configuration
from searchspace.errors import InvalidInput
from searchspace.formats.fabric import Fabric, build_fabric
from searchspace.formats.host_list import expand
from searchspace.formats.ib_discover import read_ib_rates
from searchspace.formats.network_files import (
    FORMATS,
    format_of,
    read_network,
    recognised,
    write_network,
)
from searchspace.formats.simgrid_xml import platform_xml
from searchspace.graph import Graph
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from searchspace.topology import generate
from searchspace.topology.metrics import measure

WRITTEN = sorted(name for name, entry in FORMATS.items() if entry.write)

SLURM = """\
# two leaves and a spine
SwitchName=leaf[1-2] Nodes=n[01-02] LinkSpeed=900
"""

IB = """\
#
# Topology file: generated on Sat Nov 21 2026
#
vendid=0x2c9
devid=0xc738
sysimgguid=0x2c9030000001
switchguid=0x2c9030000001(2c9030000001)
Switch\t36 "S-0002c9030000001"\t\t# "MF0;leaf-1:SX6036/U1" enhanced port 0 lid 3 lmc 0
[1]\t"H-000000000000a"[1](2c903000a1) \t\t# "n01 HCA-1" lid 5 4xFDR
[2]\t"H-000000000000b"[1](2c903000b1) \t\t# "n02 HCA-1" lid 6 4xFDR
[35]\t"S-0002c9030000002"[35]\t\t# "MF0;leaf-2:SX6036/U1" lid 4 4xFDR
[36]\t"S-0002c9030000002"[36]\t\t# "MF0;leaf-2:SX6036/U1" lid 4 4xFDR

vendid=0x2c9
devid=0xc738
switchguid=0x2c9030000002(2c9030000002)
Switch\t36 "S-0002c9030000002"\t\t# "MF0;leaf-2:SX6036/U1" enhanced port 0 lid 4 lmc 0
[1]\t"H-000000000000c"[1](2c903000c1) \t\t# "n03 HCA-1" lid 7 4xFDR
[35]\t"S-0002c9030000001"[35]\t\t# "MF0;leaf-1:SX6036/U1" lid 3 4xFDR
[36]\t"S-0002c9030000001"[36]\t\t# "MF0;leaf-1:SX6036/U1" lid 3 4xFDR

vendid=0x2c9
caguid=0x2c903000a0
Ca\t2 "H-000000000000a"\t\t# "n01 HCA-1"
[1](2c903000a1) \t"S-0002c9030000001"[1]\t\t# lid 5 lmc 0 "MF0;leaf-1:SX6036/U1" lid 3 4xFDR

Ca\t2 "H-000000000000b"\t\t# "n02 HCA-1"
[1](2c903000b1) \t"S-0002c9030000001"[2]\t\t# lid 6 lmc 0 "MF0;leaf-1:SX6036/U1" lid 3 4xFDR

Ca\t2 "H-000000000000c"\t\t# "n03 HCA-1"
[1](2c903000c1) \t"S-0002c9030000002"[1]\t\t# lid 7 lmc 0 "MF0;leaf-2:SX6036/U1" lid 4 4xFDR
"""

HWLOC = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0">
    <object type="Package" os_index="0">
      <object type="NUMANode" os_index="0"/>
      <object type="L3Cache" cache_size="1">
        <object type="Core"><object type="PU" os_index="0"/></object>
        <object type="Core"><object type="PU" os_index="1"/></object>
      </object>
    </object>
    <object type="Package" os_index="1">
      <object type="L3Cache" cache_size="1">
        <object type="Core"><object type="PU" os_index="2"/></object>
        <object type="Core"><object type="PU" os_index="3"/></object>
      </object>
    </object>
  </object>
</topology>
"""


def platform(body: str) -> str:
    return f'<?xml version="1.0"?>\n<platform version="4.1">{body}</platform>'


@given(st.integers(4, 12), st.integers(0, 10**6), st.sampled_from(WRITTEN))
def test_direct_networks_read_back(nodes: int, seed: int, name: str) -> None:
    graph = generate("random", nodes, degree=3 if nodes % 2 == 0 else 2, seed=seed)
    file = f"network{FORMATS[name].endings[0]}"
    text = write_network(Fabric(graph), file)
    assert read_network(text, file).graph == graph


@pytest.mark.parametrize("name", ["edges", "graphml", "json"])
def test_hosts_on_switches_read_back(name: str) -> None:
    graph = generate("fat-tree", 16)
    file = f"network{FORMATS[name].endings[0]}"
    assert read_network(write_network(Fabric(graph), file), file).graph == graph


@pytest.mark.parametrize("name", ["graphml", "json"])
def test_names_and_parallel_cables_read_back(name: str) -> None:
    fabric = build_fabric(["a", "b & c"], ["s"], [("a", "s"), ("b & c", "s"), ("s", "a")])
    file = f"network{FORMATS[name].endings[0]}"
    again = read_network(write_network(fabric, file), file)
    assert again.graph == fabric.graph
    assert again.host_names == ("a", "b & c")


@pytest.mark.parametrize("name", ["edges", "metis", "graph-golf"])
def test_what_a_format_cannot_say(name: str) -> None:
    double = Fabric(Graph.from_cables(2, [(0, 1), (0, 1)]))
    with pytest.raises(InvalidInput, match=r"write \.graphml"):
        write_network(double, "x", format_name=name)
    with pytest.raises(InvalidInput, match="slurm files are only read; these are written: edges"):
        write_network(double, "topology.conf")
    with pytest.raises(InvalidInput, match=r"must end in one of: \.edges, \.graphml"):
        write_network(double, "network.txt")


def test_networkx_reads_our_graphml_and_we_read_theirs() -> None:
    graph = nx.petersen_graph()
    ours = read_network("\n".join(nx.generate_graphml(graph)), "petersen.graphml")
    theirs = nx.parse_graphml(write_network(ours, "p.graphml"))
    assert nx.is_isomorphic(theirs, graph)


def test_an_infiniband_fabric() -> None:
    fabric = read_network(IB, "fabric.txt")
    assert fabric.names == ("n01", "n02", "n03", "MF0;leaf-1:SX6036/U1", "MF0;leaf-2:SX6036/U1")
    assert fabric.graph.edges == ((0, 3), (1, 3), (2, 4), (3, 4))
    assert fabric.graph.widths == (1, 1, 1, 2)
    assert fabric.graph.switches == 2


def test_adapters_of_one_host_belong_together() -> None:
    second = 'Ca\t1 "H-d"\t\t# "n01 HCA-2"\n[1](d1) \t"S-0002c9030000002"[9]\t\t# lid 9\n'
    fabric = read_network(IB + second, "fabric.txt")
    assert fabric.host_names == ("n01", "n02", "n03")
    assert fabric.graph.neighbors[0] == (3, 4)


def test_a_tree_of_slurm() -> None:
    text = (
        "SwitchName=a Nodes=n[1-2],x\n"
        "SwitchName=b Nodes=n3 \\\n LinkSpeed=9\n"
        "switchname=t Switches=[a-b]\n"
    )
    with pytest.raises(InvalidInput, match=r"line 4: 'a-b' in '\[a-b\]' is not a number"):
        read_network(text, "topology.conf")
    fabric = read_network(text.replace("[a-b]", "a,b"), "topology.conf")
    assert fabric.names == ("n1", "n2", "x", "n3", "a", "b", "t")
    assert fabric.graph.edges == ((0, 4), (1, 4), (2, 4), (3, 5), (4, 6), (5, 6))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[01-03,7],login", ["n01", "n02", "n03", "n7", "login"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("one", ["one"]),
    ],
)
def test_lists_of_hosts(text: str, names: list[str]) -> None:
    assert expand(text) == names


def test_the_inside_of_a_host() -> None:
    fabric = read_network(HWLOC, "host.xml")
    assert fabric.host_names == ("core-0", "core-1", "core-2", "core-3")
    assert fabric.graph.switches == 3
    assert measure(fabric.graph).diameter == 4


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        ('radical="0-3" topology="FLAT"', [(0, 4), (1, 4), (2, 4), (3, 4)]),
        ('radical="0-3"', [(0, 4), (1, 4), (2, 4), (3, 4)]),
        ('radical="0-3" topology="TORUS" topo_parameters="2,2"', [(0, 1), (0, 2), (1, 3), (2, 3)]),
    ],
)
def test_clusters_of_simgrid(cluster: str, expected: list[tuple[int, int]]) -> None:
    fabric = read_network(platform(f'<cluster id="c" prefix="n" suffix=".x" {cluster}/>'), "p.xml")
    assert list(fabric.graph.edges) == expected
    assert fabric.host_names[:2] == ("n0.x", "n1.x")


def test_a_fat_tree_of_simgrid() -> None:
    parameters = 'topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2" radical="0-15"'
    fabric = read_network(platform(f'<cluster id="c" prefix="n" {parameters}/>'), "p.xml")
    tree = generate("xgft", 16, children="4,4", parents="1,2")
    assert fabric.graph.edges == tree.edges
    assert set(fabric.graph.widths[:16]) == {1}
    assert set(fabric.graph.widths[16:]) == {2}


def test_a_platform_that_we_exported_reads_back() -> None:
    machine = parse_machine(
        {"nodes": 12, "degree": 3, "host_speed": "1Gf", "link_bandwidth": "1Gbps"}
    )
    resolved = resolve(Configuration({"topology": "random"}), machine, 12)
    assert read_network(platform_xml(resolved), "platform.xml").graph == resolved.network


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.edges", "", "x.edges: the file is empty"),
        ("x.edges", "# nothing\n", "x.edges: the edge list is empty"),
        ("x.edges", "0 1\n1 0\n", "line 2 of the edge list repeats the edge of line 1"),
        ("x.edges", "0 1\n1 1\n", "line 2 of the edge list joins node 1 to itself"),
        ("x.edges", "0 1 5\n", "line 1 of the edge list has three columns; .* no weight"),
        ("x.edges", "0 b\n", "line 1 of the edge list is not 'u v'"),
        ("x.edges", "# switches: 1\n0 1\n0 2\n", r"edge \(0, 1\) joins two hosts"),
        ("x.graph", "2 1\n2\n\n", "line 2: 2 is a neighbour of 1, but not the other way round"),
        ("x.graph", "2 1 1\n2 5\n1 5\n", "line 1 announces weights"),
        ("x.graph", "2 2\n2\n1\n", "announces 2 edges and has 1"),
        ("x.graph", "2 1\n2\n", "has 1 lines of neighbours for 2 nodes"),
        ("x.graph", "2 1\n1\n2\n", "line 2 joins node 1 to itself"),
        ("x.graph", "2 1\n2 2\n1\n", "line 2 names the neighbour 2 twice"),
        ("x.graph", "2 1\n3\n1\n", "line 2: '3' is not a node from 1 to 2"),
        ("x.graph", "9999999 1\n", "the network has 9999999 nodes; at most 1048576"),
        ("x.graphml", "<graphml", "x.graphml: not XML"),
        ("x.graphml", "<graphml/>", "not a GraphML file with one graph"),
        (
            "x.graphml",
            '<!DOCTYPE a [<!ENTITY b "c">]><graphml><graph>&b;</graph></graphml>',
            "XML with entities is not read",
        ),
        ("x.conf", "SwitchName=a Nodes=n1\nFoo=1\n", "line 2 is not known: 'Foo=1'"),
        ("x.conf", "SwitchName=a\n", "line 1: a switch has either Nodes= or Switches="),
        ("x.conf", "SwitchName=a Switches=b\n", "line 1 names the switch b, which is not descri"),
        ("x.conf", "SwitchName=a Nodes=n[1-\n", "line 1: 'n.1-' has a bracket"),
        ("x.conf", SLURM, "line 2 puts n01 below leaf2; it is below leaf1"),
        ("x.conf", "BlockName=b Nodes=n1\n", "line 1 is not known: 'BlockName=b Nodes=n1'"),
        ("x.txt", IB + "[x] what\n", r"line \d+ is not known: '\[x\] what'"),
        ("x.txt", IB.replace("vendid=0x2c9\n", "", 1) + 'Rt 1 "R-1"\n', "is a router"),
        ("x.txt", 'Switch 2 "S-1" # "s"\n[1] "H-2"[1]\n', "line 2 leads to H-2, which is not"),
        ("x.xml", platform(""), "only platforms of one cluster or one zone"),
        (
            "x.xml",
            platform('<cluster id="c" radical="0-1" topology="DRAGONFLY"/>'),
            "clusters of topology DRAGONFLY cannot be imported",
        ),
        (
            "x.xml",
            platform('<cluster id="c" radical="0-4" topology="TORUS" topo_parameters="2,2"/>'),
            "has 5 hosts, '2,2' makes 4",
        ),
        ("x.xml", "<topology><object type='Machine'/></topology>", "the host has no core"),
        ("x.json", '{"edges": [[0, 0]]}', "joins a node with itself"),
        ("x.golf", "0,0 0,1\n0,0 1\n", "line 2 is not 'x,y x,y'"),
        ("x.golf", "0,0 0,1\n0,1 0,0\n", "line 2 repeats an edge"),
    ],
)  # fmt: skip
def test_refuses(name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_network(text, name)


def graphml(edges: str, *, default: str = "undirected") -> str:
    nodes = '<node id="a"/><node id="b"/>'
    key = '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'
    return f'<graphml>{key}<graph edgedefault="{default}">{nodes}{edges}</graph></graphml>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (graphml("", default="directed"), "the graph is directed"),
        (graphml('<edge source="a" target="b" directed="true"/>'), "'b' is directed"),
        (graphml('<edge source="a" target="c"/>'), "names a node that is not described"),
        (graphml('<edge source="a" target="a"/>'), "joins a node with itself"),
        (graphml('<edge source="a" target="b"/><edge source="b" target="a"/>'), "stands twice"),
        (
            graphml('<edge source="a" target="b"><data key="w">2.5</data></edge>'),
            "has a weight, which networks here do not have",
        ),
        (graphml(""), "a has no cable"),
    ],
)
def test_graphml_of_other_graphs(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_network(text, "x.graphml")


def test_too_many_edges_are_refused_before_they_are_read() -> None:
    with pytest.raises(InvalidInput, match="has 10000000 cables; at most 2000000 can be read"):
        read_network("0 1\n" * 10_000_000, "big.edges")


def test_formats_are_told_by_what_is_in_a_file() -> None:
    texts: dict[str, str] = {
        "ibnetdiscover": IB, "slurm": SLURM, "hwloc": HWLOC, "simgrid": platform("<zone/>"),
        "graphml": graphml(""), "json": "{}", "edges": "0 1\n",
    }  # fmt: skip
    assert {format_of("anything", text) for text in texts.values()} == set(texts)
    assert format_of("x.graph", "2 1\n2\n1\n") == "metis"
    certain = {found.name for text in texts.values() if (found := recognised(text)) is not None}
    assert certain == set(texts) - {"json", "edges"}
    assert recognised("<html/>") is None


def test_xml_in_an_unknown_encoding_is_refused() -> None:
    for encoding in ("UF-8", "utf-7", "utf-16"):
        with pytest.raises(InvalidInput):
            read_network(f'<?xml version="1.0" encoding="{encoding}"?><graphml/>', "x.graphml")


def test_the_links_of_an_infiniband_fabric_are_counted_by_their_rates() -> None:
    of_hosts, between = read_ib_rates(IB.replace("lid 5 4xFDR", "lid 5 4xEDR"))

    assert {str(rate): count for rate, count in of_hosts.items()} == {"4xEDR": 1, "4xFDR": 2}
    assert {str(rate): count for rate, count in between.items()} == {"4xFDR": 2}
    rates = sorted(rate.bandwidth * 8 for rate in of_hosts)
    assert rates == pytest.approx([54.5454e9, 100e9], rel=1e-5)


def test_a_rate_that_is_not_known_is_not_counted() -> None:
    assert not any(read_ib_rates(IB.replace("4xFDR", "4xQQR")))

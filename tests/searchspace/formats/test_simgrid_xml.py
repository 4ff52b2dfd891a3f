from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from searchspace.configuration import Configuration
from searchspace.formats.simgrid_xml import hostfile, platform_xml
from searchspace.kernels import routes
from searchspace.machine import Machine
from searchspace.platform import Resolved, resolve

HOSTS = 9


def resolved(configuration: dict[str, Any], ranks: int = HOSTS, **machine: Any) -> Resolved:
    description = {
        "nodes": HOSTS,
        "degree": 4,
        "host_speed": "100Gf",
        "link_bandwidth": "40Gbps",
        "link_latency": "10ns",
        "switch_latency": "60ns",
    }
    return resolve(
        Configuration.from_json(configuration), Machine(**(description | machine)), ranks
    )


def zone_of(subject: Resolved) -> ElementTree.Element:
    zone = ElementTree.fromstring(platform_xml(subject)).find("zone")
    assert zone is not None
    return zone


def test_hosts_and_cables_carry_the_numbers_of_the_machine() -> None:
    subject = resolved({"topology": "torus-2d"}, cores_per_host=2)

    zone = zone_of(subject)

    hosts = zone.findall("host")
    assert [host.get("id") for host in hosts] == [f"node-{node}" for node in range(HOSTS)]
    assert {(host.get("speed"), host.get("core")) for host in hosts} == {("100000000000.0f", "2")}
    cables = [link for link in zone.findall("link") if link.get("id", "").startswith("cable")]
    assert len(cables) == len(subject.edges) == 18
    assert {cable.get("sharing_policy") for cable in cables} == {"SPLITDUPLEX"}
    bandwidth, latency = cables[0].get("bandwidth", ""), cables[0].get("latency", "")
    assert float(bandwidth.removesuffix("Bps")) == 5e9
    assert float(latency.removesuffix("s")) == 10e-9 + 60e-9


@pytest.mark.parametrize("topology", ["random", "mesh-2d"])
def test_routes_are_those_of_the_tie_rule(topology: str) -> None:
    subject = resolved({"topology": topology, "ordering": "hamorder"})
    paths = routes(HOSTS, subject.edges)

    found = {
        (route.get("src"), route.get("dst")): [
            (link.get("id"), link.get("direction")) for link in route
        ]
        for route in zone_of(subject).findall("route")
    }

    assert len(found) == HOSTS * (HOSTS + 1) // 2
    for source in range(HOSTS):
        assert found[f"node-{source}", f"node-{source}"] == [("loopback", None)]
        for target in range(source + 1, HOSTS):
            assert found[f"node-{source}", f"node-{target}"] == [
                (f"cable-{edge}", "UP" if forward else "DOWN")
                for edge, forward in paths.path(source, target)
            ]


def test_a_switch_that_can_be_the_bottleneck_is_on_every_route_through_it() -> None:
    zone = zone_of(resolved({"topology": "mesh-2d"}, switch_bandwidth="100Gbps"))

    route = zone.find("route[@src='node-0'][@dst='node-2']")

    assert route is not None
    assert [link.get("id") for link in route][::2] == ["switch-0", "switch-1", "switch-2"]


def test_what_the_ranks_of_a_host_share_is_on_their_routes() -> None:
    insides: dict[str, Any] = {"interface_bandwidth": "100Gbps", "memory_bandwidth": "20GBps"}
    zone = zone_of(resolved({"topology": "mesh-2d"}, **insides))

    between = zone.find("route[@src='node-0'][@dst='node-1']")
    within = zone.find("route[@src='node-1'][@dst='node-1']")

    assert between is not None and within is not None
    ends = [(link.get("id"), link.get("direction")) for link in between][:: len(between) - 1]
    assert ends == [("interface-0", "UP"), ("interface-1", "DOWN")]
    assert [link.get("id") for link in within] == ["loopback", "memory-1"]


def test_a_switch_as_fast_as_all_its_cables_is_left_out() -> None:
    xml = platform_xml(resolved({"topology": "mesh-2d"}, switch_bandwidth="320Gbps"))

    assert "switch" not in xml


def test_the_hostfile_has_a_line_a_rank() -> None:
    subject = resolved(
        {"topology": "mesh-2d", "mapping": "round-robin"}, ranks=11, cores_per_host=2
    )

    lines = hostfile(subject).splitlines()

    assert lines == [f"node-{rank % HOSTS}" for rank in range(11)]

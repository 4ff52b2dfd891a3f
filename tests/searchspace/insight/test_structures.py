"""What is known of networks with ranks on them."""

from __future__ import annotations

from searchspace.configuration import Configuration
from searchspace.insight.structures import Structures
from searchspace.machine import parse_machine
from searchspace.space import EnumParameter, SearchSpace


def test_networks_that_differ_in_parallel_cables_are_two() -> None:
    ring = [[host, (host + 1) % 8, 4] for host in range(8)]
    machine = parse_machine(
        {
            "nodes": 8,
            "host_speed": "1Gf",
            "link_bandwidth": "1Gbps",
            "topology": {"edges": [[min(u, v), max(u, v), cables] for u, v, cables in ring]},
        }
    )
    space = SearchSpace([EnumParameter("topology", ("given", "ring"))])
    structures = Structures(space, machine, 8, None, {})
    given, single = (structures.of(Configuration({"topology": name})) for name in ("given", "ring"))
    assert given.resolved is not None and single.resolved is not None
    assert given.resolved.network.edges == single.resolved.network.edges
    assert given.mark != single.mark

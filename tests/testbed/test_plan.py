"""Where every pair's messages go, and at which rate."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.kernels import routes
from searchspace.machine import Machine, NetworkDescription, parse_machine
from searchspace.topology import generate
from testbed.plan import Plan, plan

TORUS = NetworkDescription.of(generate("torus-2d", 9))
FAT_TREE: dict[str, Any] = {  # two leaves of two hosts below two spines
    "edges": [[0, 4], [1, 4], [2, 5], [3, 5], [4, 6], [4, 7], [5, 6], [5, 7, 2]],
    "switches": 4,
}


def machine(topology: Any, nodes: int, **more: Any) -> Machine:
    base = {"nodes": nodes, "host_speed": "1Gf", "link_bandwidth": "80Mbps"}
    return parse_machine({**base, "topology": topology, **more})


def walked(made: Plan, source: int, target: int) -> list[int]:
    """The cables that a packet crosses as every node sends it on."""
    crossed, here = [], source
    while here != target:
        hop = made.next_hops[here][source, target]
        assert set(made.cables[hop.cable].ends) == {here, hop.node}
        crossed.append(hop.cable)
        here = hop.node
    return crossed


@pytest.mark.parametrize("tie_rule", ["lowest-id", "spread"])
@pytest.mark.parametrize(("topology", "hosts"), [(TORUS, 9), (FAT_TREE, 4)])
def test_every_pair_takes_the_route_of_the_model(topology: Any, hosts: int, tie_rule: str) -> None:
    described = machine(topology, hosts, tie_rule=tie_rule)
    made = plan(described)
    network = made.network
    expected = routes(
        network.nodes,
        network.edges,
        hosts=hosts if network.switches else None,
        tie_rule=tie_rule,
    )
    for pair in itertools.permutations(range(hosts), 2):
        assert walked(made, *pair) == [edge for edge, _ in expected.path(*pair)]


def test_the_tie_rules_differ_in_a_fat_tree() -> None:
    lowest, spread = (plan(machine(FAT_TREE, 4, tie_rule=rule)) for rule in ("lowest-id", "spread"))
    assert walked(lowest, 1, 3) != walked(spread, 1, 3)


def test_rates_are_divided_and_parallel_cables_are_one() -> None:
    made = plan(machine(FAT_TREE, 4, host_link_bandwidth="40Mbps"), scale=10)
    rates = {cable.ends: cable.rate for cable in made.cables}
    assert rates[0, 4] == 0.5e6
    assert rates[4, 6] == 1e6
    assert rates[5, 7] == 2e6
    assert "parallel cables" in made.notes[-1]
    assert made.scaled_machine.link_bandwidth == 1e6
    assert made.scaled_machine.host_link_bandwidth == 0.5e6
    assert made.scaled_machine.host_speed == 1e9


def test_hosts_bear_the_names_of_the_machine() -> None:
    named = {**FAT_TREE, "host_names": ["alpha", "beta", "gamma", "delta"]}
    made = plan(machine(named, 4))
    assert made.names[:5] == ("alpha", "beta", "gamma", "delta", "switch-0")
    assert len({made.address(node) for node in range(8)}) == 8


def test_what_is_not_emulated_is_said() -> None:
    [note] = plan(machine(TORUS, 9, interface_bandwidth="80Mbps")).notes
    assert note.startswith("interface_bandwidth is not emulated")


@pytest.mark.parametrize(
    ("topology", "scale", "why"),
    [
        (None, 1.0, "needs the cables"),
        ({**TORUS, "host_names": ["a b", *"cdefghij"]}, 1.0, "cannot be the name of a host"),
        (TORUS, 1e9, "take a smaller one"),
        (TORUS, 0.0, "greater than 0"),
    ],
)
def test_what_cannot_be_emulated_is_refused(topology: Any, scale: float, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        plan(machine(topology, 9), scale)


def test_a_host_with_the_name_of_a_switch_is_refused() -> None:
    names = ["alpha", "beta", "gamma", "switch-3"]
    with pytest.raises(InvalidInput, match="'switch-3' is the name of a switch"):
        plan(machine({**FAT_TREE, "host_names": names}, 4))
    names[-1] = "switch-4"
    assert len({*plan(machine({**FAT_TREE, "host_names": names}, 4)).names}) == 8

"""What networks come to, counted by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchspace.bills import Bills, bill_of, named_network, shared_bills
from searchspace.configuration import Configuration, Value
from searchspace.errors import InvalidInput
from searchspace.graph import Graph
from searchspace.machine import parse_machine
from searchspace.parts import Parts
from searchspace.platform import network_of
from searchspace.topology import generate
from storage.errors import Unavailable

PARTS = Parts.model_validate(
    {
        "switches": [
            {"radix": 2, "price": 100, "watts": 10},
            {"radix": 4, "price": 150, "watts": 15},
            {"radix": 8, "price": 500, "watts": 60},
            {"radix": 16, "price": 450, "watts": 80},
        ],
        "cables": {
            "reach": 3, "copper": 5, "copper_metre": 1, "optical": 40, "optical_metre": 2,
            "optical_watts": 3,
        },
        "adapters": {"price": 30, "watts": 7},
        "hosts": {"watts": 100, "core_watts": 4},
        "floor": {"rack_nodes": 2, "width": 1, "depth": 5, "inside": 1, "overhead": 2},
    }
)  # fmt: skip
MACHINE: dict[str, Any] = {"nodes": 16, "host_speed": "100Gf", "link_bandwidth": "40Gbps"}


def test_a_ring_of_hosts_that_are_switches() -> None:
    """Four hosts, two a rack, racks side by side: two cables of 1 m inside, two of 3 m between."""
    bill = bill_of(generate("ring", 4), PARTS)
    assert (bill.switches, bill.cables, bill.adapters, bill.diameter) == (4, 4, 0, 2)
    assert bill.metres == 2 * 1 + 2 * 3
    assert bill.radixes == {2: 4}
    assert bill.cost == 4 * 100 + 2 * (5 + 1) + 2 * (5 + 3)
    assert bill.power == 4 * 10
    assert bill.hosts == 4


def test_a_fat_tree_has_switches_adapters_and_long_cables() -> None:
    """Four switches with four ports each and eight hosts: two levels, the lower ones first."""
    tree = generate("fat-tree", 8, ports=4, levels=2)
    bill = bill_of(tree, PARTS)
    assert (bill.switches, bill.cables, bill.adapters, bill.diameter) == (6, 16, 8, 4)
    assert bill.radixes == {4: 6}
    inside = [metres for metres in PARTS.plan.lengths(tree) if metres <= 3]
    outside = [metres for metres in PARTS.plan.lengths(tree) if metres > 3]
    copper = 5 * len(inside) + sum(inside)
    optical = 40 * len(outside) + 2 * sum(outside)
    assert len(inside) + len(outside) == 16
    assert bill.cost == 6 * 150 + 8 * 30 + copper + optical
    assert bill.power == 6 * 15 + 8 * 7 + 3 * len(outside)


def test_the_cheapest_switch_with_ports_enough_is_bought() -> None:
    """Five hosts on a switch: it needs five ports, and that with 16 is cheaper than that with 8."""
    star = Graph.from_edges(6, [(host, 5) for host in range(5)], switches=1)
    assert bill_of(star, PARTS).radixes == {16: 1}


def test_parallel_cables_are_bought_one_by_one() -> None:
    trunk = Graph.from_cables(2, [(0, 1)] * 3)
    bill = bill_of(trunk, PARTS)
    assert (bill.cables, bill.radixes, bill.metres) == (3, {4: 2}, 3)
    assert bill.cost == 2 * 150 + 3 * (5 + 1)


def test_a_switch_that_nobody_sells_is_an_obstacle() -> None:
    star = Graph.from_edges(18, [(host, 17) for host in range(17)], switches=1)
    bill = bill_of(star, PARTS)
    assert bill.obstacle == (
        "machine.parts.switches: a switch needs 17 ports, and the largest has 16"
    )
    assert bill.cost == bill.power == math.inf


def test_one_host_needs_nothing() -> None:
    assert bill_of(Graph(1, ()), PARTS).diameter == 0


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([("random", 4), ("hypercube", None), ("torus-2d", None)]),
    st.integers(1, 5),
    st.sampled_from(["original", "hamorder", "rcm"]),
)
def test_nodes_stand_where_the_ordering_puts_them(
    family: tuple[str, int | None], seed: int, ordering: str
) -> None:
    """A bill is that of the network that is installed, whose cables an export lists."""
    name, degree = family
    machine = parse_machine({**MACHINE, **({} if degree is None else {"degree": degree})})
    chosen = Configuration({"topology": name, "topology_seed": seed, "ordering": ordering})
    network = network_of(chosen, machine)
    assert Bills(machine, PARTS).of(chosen) == bill_of(network, PARTS)
    plain = bill_of(generate(name, 16, degree=degree, seed=seed), PARTS)
    assert bill_of(network, PARTS).switches == plain.switches == 16
    if ordering == "original":
        assert bill_of(network, PARTS) == plain


def test_what_does_not_decide_on_the_network_shares_its_bill() -> None:
    bills = shared_bills(parse_machine({**MACHINE, "degree": 3}), PARTS)
    one: dict[str, Value] = {"topology": "random", "topology_seed": 1, "mpi": "ompi"}
    assert bills.of(one) is bills.of({**one, "mpi": "mpich", "mapping": "cyclic"})
    assert bills.of(one) is not bills.of({**one, "topology_seed": 2})
    assert bills.of({**one, "topology": "hypercube"}) is not None
    assert bills.of({"topology": "slim-fly"}) is None  # 16 nodes make none


def test_networks_that_take_long_to_build_are_expected_to_cost_what_others_do() -> None:
    machine = parse_machine({**MACHINE, "degree": 3})
    bills = shared_bills(machine, PARTS)
    optimised: dict[str, Value] = {
        "topology": "optimised",
        "topology_seed": 1,
        "ordering": "original",
    }
    assert bills.of(optimised) is None
    expected = bills.expected(optimised)
    assert expected is not None
    assert (expected.cables, expected.radixes) == (24, {4: 16})
    tailored: dict[str, Value] = {
        "topology": "tailored",
        "tailored.degree": 4,
        "tailored.hosts_per_switch": 2,
    }
    expected = bills.expected(tailored)
    assert expected is not None
    assert (expected.switches, expected.cables) == (8, 8 * 2 + 16)
    assert bills.expected({"topology": "slim-fly"}) is None


def test_where_too_many_would_be_built_others_are_expected_to_cost_what_is_known() -> None:
    machine = parse_machine({**MACHINE, "degree": 3})
    bills = Bills(machine, PARTS, most_nodes=2 * machine.nodes)
    seeds = [{"topology": "random", "topology_seed": seed} for seed in (1, 2, 3)]
    assert bills.of(seeds[0]) is not None
    assert bills.of(seeds[1]) is not None
    assert bills.of(seeds[2]) is None
    assert bills.expected(seeds[2]) is bills.of(seeds[0])
    assert bills.expected({"topology": "ring"}) is None
    for ordering in ("original", "rcm"):
        assert bills.expected({"topology": "optimised", "ordering": ordering}) == bills.of(seeds[0])


def test_what_was_forgotten_is_made_again() -> None:
    machine = parse_machine({**MACHINE, "degree": 3})
    bills = Bills(machine, PARTS, most_known=2)
    seeds = [{"topology": "random", "topology_seed": seed} for seed in (1, 2, 3)]
    first = bills.of(seeds[0])
    assert bills.of(seeds[1]) is not None
    assert bills.of(seeds[0]) is first
    assert bills.of(seeds[2]) is not None  # the second was asked for longest ago
    assert bills.of(seeds[0]) is first
    assert bills.of(seeds[1]) is not None
    assert bills.of(seeds[2]) is not None
    again = bills.of(seeds[0])
    assert again is not first
    assert again == first


class BusyAtFirst:
    """A place for networks that cannot be reached the first time, as a database may be busy."""

    scope = "default"

    def __init__(self) -> None:
        self._asked = False

    def once(self, key: str, build: Callable[[], Graph]) -> Graph:
        if not self._asked:
            self._asked = True
            raise Unavailable("the database is busy")
        return build()


def test_a_busy_moment_is_no_network_without_a_bill() -> None:
    bills = Bills(parse_machine({**MACHINE, "degree": 3}), PARTS, cache=BusyAtFirst())
    optimised: dict[str, Value] = {"topology": "optimised", "optimised.iterations": 10}
    with pytest.raises(Unavailable):
        bills.of(optimised)
    bill = bills.of(optimised)
    assert bill is not None
    assert bill.cables == 24


def test_a_network_is_named() -> None:
    assert named_network(Configuration({"topology": "torus-2d", "mpi": "ompi"})) == "torus-2d"
    named = {"topology": "random", "random.degree": 4, "topology_seed": 2, "ordering": "hamorder"}
    assert named_network(Configuration(named)) == "random (degree = 4, seed 2, hamorder)"
    assert named_network(Configuration({"mpi": "ompi"})) == "given"


def test_parts_do_not_change_what_is_simulated() -> None:
    plain = parse_machine({**MACHINE, "degree": 3})
    priced = parse_machine({**MACHINE, "degree": 3, "parts": PARTS.model_dump()})
    assert priced.simulated_by("fluid").sha256 == plain.simulated_by("fluid").sha256
    assert priced.simulated_by("packets").sha256 == plain.simulated_by("packets").sha256
    assert "parts" not in plain.canonical()
    assert parse_machine(priced.canonical()).parts == PARTS


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"switches": []}, "parts.switches"),
        ({"switches": [{"radix": 0, "price": 1}]}, "parts.switches.0.radix"),
        ({"switches": [{"radix": 4}]}, "parts.switches.0.price"),
        ({"cables": {"copper": -1}}, "parts.cables.copper"),
        ({"floor": {"rack_nodes": 0}}, "parts.floor.rack_nodes"),
        ({"adaptors": {}}, "parts.adaptors"),
    ],
)
def test_parts_that_cannot_be(parts: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_machine({**MACHINE, "parts": parts})
    assert refused.value.field == field

"""The energy of a run, counted by hand."""

from __future__ import annotations

import pytest

from searchspace.bills import bill_of
from searchspace.energy import computing_joules, drawn_watts
from searchspace.machine import parse_machine
from searchspace.parts import Parts
from searchspace.topology import generate

PARTS = Parts.model_validate(
    {
        "switches": [{"radix": 8, "price": 1, "watts": 30}],
        "adapters": {"watts": 5},
        "hosts": {"watts": 100, "core_watts": 4},
    }
)


def test_a_network_draws_with_the_hosts_on_it() -> None:
    """Eight hosts with an adapter each on six switches; all cables are of copper."""
    tree = generate("fat-tree", 8, ports=4, levels=2)
    bill = bill_of(tree, PARTS)
    assert (bill.hosts, bill.power) == (8, 6 * 30 + 8 * 5)
    assert drawn_watts(bill, PARTS) == 8 * 100 + bill.power


def test_cores_draw_more_while_they_compute() -> None:
    machine = {"nodes": 2, "host_speed": "10Gf", "link_bandwidth": "1Gbps"}
    assert computing_joules(5e10, parse_machine(machine), PARTS) == pytest.approx(5 * 4)
    mixed = parse_machine({**machine, "host_speeds": ["10Gf", "30Gf"]})
    assert computing_joules(5e10, mixed, PARTS) == pytest.approx(2.5 * 4)

"""Hosts plugged into switches of their own: times and loads by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from searchspace.configuration import Configuration
from searchspace.machine import parse_machine
from searchspace.platform import resolve
from tests.workers.simulator import smpirun
from tests.workers.simulator.runs import (
    BANDWIDTH,
    ENVELOPE,
    LATENCY,
    answer_of,
    line_of,
    on_a_line,
)
from workers.capture import capture_builtin
from workers.simulator_client import Simulator

COMPUTED = 1e-3
BYTES = 1000 + ENVELOPE
SWITCH = 5e-6


def between_two_switches(**changes: Any) -> dict[str, Any]:
    """Host 0 on switch 2, host 1 on switch 3, and a cable between the switches."""
    platform = line_of(2, edges=[[0, 2], [1, 3], [2, 3]], switches=2, switch_latency=SWITCH)
    return on_a_line(0, 1, platform=platform | changes)


def test_a_message_crosses_every_cable_and_every_switch_once(message: Path) -> None:
    answer = answer_of(message, between_two_switches())
    expected = COMPUTED + 3 * LATENCY + 2 * SWITCH + BYTES / BANDWIDTH
    assert answer["simulated_time"] == pytest.approx(expected, rel=1e-9)
    assert answer["link_loads"] == [[1000, 0], [0, 1000], [1000, 0]]


def test_hosts_may_have_cables_of_their_own(message: Path) -> None:
    answer = answer_of(message, between_two_switches(host_link_bandwidth=BANDWIDTH / 4))
    expected = COMPUTED + 3 * LATENCY + 2 * SWITCH + BYTES / (BANDWIDTH / 4)
    assert answer["simulated_time"] == pytest.approx(expected, rel=1e-9)


def test_parallel_cables_have_their_joint_bandwidth(message: Path) -> None:
    edges = [[0, 2, 2], [1, 3, 2], [2, 3, 2]]
    answer = answer_of(message, between_two_switches(edges=edges))
    expected = COMPUTED + 3 * LATENCY + 2 * SWITCH + BYTES / (2 * BANDWIDTH)
    assert answer["simulated_time"] == pytest.approx(expected, rel=1e-9)


def test_a_slow_switch_limits_what_goes_through_it(message: Path) -> None:
    answer = answer_of(message, between_two_switches(switch_bandwidth=BANDWIDTH / 10))
    through = 1.05 * BYTES / (BANDWIDTH / 10)  # SimGrid's acknowledgements go back through it
    expected = COMPUTED + 3 * LATENCY + 2 * SWITCH + through
    assert answer["simulated_time"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"edges": [[0, 1], [0, 2], [1, 3], [2, 3]]}, "platform.edges[0]: joins two hosts"),
        ({"edges": [[0, 2, 0], [1, 3], [2, 3]]}, "platform.edges[0]: must stand for at least one"),
        ({"edges": [[0, 2], [1, 3]]}, "platform.edges: the network is not connected"),
        ({"edges": [[0, 2], [1, 2], [1, 3]]}, "platform.edges: the network is not connected"),
        ({"switches": "two"}, "platform.switches: must be a whole number"),
        ({"tie_rule": "any"}, 'platform.tie_rule: must be "lowest-id" or "spread"'),
    ],
)
def test_refuses(message: Path, changes: dict[str, Any], complaint: str) -> None:
    answer = answer_of(message, between_two_switches(**changes))
    assert answer["status"] == "failed"
    assert complaint in answer["reason"]["message"]


@pytest.mark.parametrize("tie_rule", ["lowest-id", "spread"])
def test_times_are_those_of_the_program_itself_under_smpirun(tmp_path: Path, tie_rule: str) -> None:
    """On a fat tree, and on a tree with parallel cables, slow switches and cables of hosts."""
    capture_builtin("is", "S", 8, {}, tmp_path / "is.ht")
    program = smpirun.compile_builtin("is", tmp_path)
    document: dict[str, Any] = {
        "host_speed": "10Gf", "link_bandwidth": "10Gbps", "switch_latency": "60ns",
        "link_latency": "100ns", "host_link_bandwidth": "4Gbps", "tie_rule": tie_rule,
    }  # fmt: skip
    leaves = [[host, 8 + host // 4] for host in range(8)]
    trunks = {"edges": [*leaves, [8, 10, 2], [9, 10, 3]], "switches": 3}
    machines = {
        "fat-tree": document | {"nodes": 16},
        "given": document | {"nodes": 8, "switch_bandwidth": "20Gbps", "topology": trunks},
    }
    for topology, machine in machines.items():
        chosen = Configuration({"topology": topology, "mpi": "ompi"})
        resolved = resolve(chosen, parse_machine(machine), 8)
        with Simulator([tmp_path / "is.ht"]) as simulator:
            ours = simulator.evaluate(resolved.simulator_request())["simulated_time"]
        assert ours == pytest.approx(smpirun.live(program, ["S"], resolved), rel=1e-9)

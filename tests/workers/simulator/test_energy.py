"""The energy that fronts weigh is that of SimGrid's plugins for hosts and links."""

from __future__ import annotations

from pathlib import Path

import pytest

from searchspace.bills import bill_of
from searchspace.configuration import Configuration
from searchspace.energy import computing_joules, drawn_watts
from searchspace.kernels import trace_summary
from searchspace.machine import parse_machine
from searchspace.parts import Parts
from searchspace.platform import network_of, resolve
from tests.workers.simulator import smpirun
from workers.capture import capture_builtin

LINK_WATTS = 3.0
PARTS = Parts.model_validate(
    {
        # All that the network draws is at its cables, where SimGrid has it.
        "switches": [{"radix": 4, "price": 0, "watts": 0}],
        "cables": {"reach": 0, "optical_watts": LINK_WATTS},
        "hosts": {"watts": 90, "core_watts": 7.5},
    }
)


@pytest.mark.parametrize("mapping", ["by-order", "packed"])
def test_joules_are_those_of_simgrid(tmp_path: Path, mapping: str) -> None:
    machine = parse_machine(
        {
            "nodes": 8, "degree": 3, "host_speed": "1Gf", "cores_per_host": 2,
            "link_bandwidth": "10Gbps", "link_latency": "1us",
        }
    )  # fmt: skip
    configuration = Configuration({"topology": "torus-3d", "mapping": mapping})
    resolved = resolve(configuration, machine, 8)
    trace = tmp_path / "cg.ht"
    capture_builtin("cg", "S", 8, {}, trace)
    program = smpirun.compile_builtin("cg", tmp_path)
    seconds, hosts, cables = smpirun.energy(program, ["S"], resolved, PARTS.hosts, LINK_WATTS)

    bill = bill_of(network_of(configuration, machine), PARTS)
    computing = computing_joules(float(trace_summary(trace)["flops"]), machine, PARTS)
    assert cables == pytest.approx(bill.power * seconds, rel=1e-6)
    assert hosts == pytest.approx(bill.hosts * 90 * seconds + computing, rel=1e-6)
    assert computing > 0.01 * hosts
    assert hosts + cables == pytest.approx(drawn_watts(bill, PARTS) * seconds + computing, rel=1e-6)

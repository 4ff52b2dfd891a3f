"""What was measured on one network serves machines on another."""

from __future__ import annotations

from typing import Any

import pytest

from measuring.calibration import apply, rescaled
from searchspace.errors import InvalidInput
from searchspace.machine import Machine, parse_machine

RING = {"edges": [[0, 1], [1, 2], [2, 3], [0, 3]]}
STAR = {"edges": [[0, 3], [1, 3], [2, 3]], "switches": 1}
CALIBRATION = {
    "date": "2026-11-20",
    "software": {"Open MPI": "4.1.4"},
    "points": 120,
    "median": 0.02,
    "error": 0.07,
    "scale": 0.02,
}


def calibrated(**changes: Any) -> Machine:
    return parse_machine(
        {
            "nodes": 4,
            "host_speed": "3Gf",
            "link_bandwidth": "20Mbps",
            "link_latency": "1us",
            "network": "packets",
            "protocol": {"name": "tcp-openmpi", "send_buffer": "1MiB"},
            "topology": RING,
            "calibration": CALIBRATION,
            **changes,
        }
    )


def sheet(**changes: Any) -> Machine:
    return parse_machine(
        {"nodes": 3, "host_speed": "2Gf", "link_bandwidth": "1Gbps", "topology": STAR, **changes}
    )


def test_numbers_are_taken_and_the_network_is_kept() -> None:
    on = apply(calibrated(), sheet(tie_rule="spread", cores_per_host=2))
    assert (on.nodes, on.cores_per_host, on.tie_rule) == (3, 2, "spread")
    assert on.topology == sheet().topology
    assert (on.host_speed, on.link_bandwidth, on.link_latency) == (3e9, 2.5e6, 1e-6)
    assert on.trial_model == "packets"
    assert on.protocol == calibrated().protocol
    assert on.calibration == calibrated().calibration


def test_on_its_own_network_a_machine_stays_what_it_is() -> None:
    assert apply(calibrated(), calibrated()).sha256 == calibrated().sha256


def test_rates_of_host_links_keep_their_ratio_to_the_cables() -> None:
    on = apply(calibrated(), sheet(host_link_bandwidth="100Mbps"))
    assert on.host_link_bandwidth == pytest.approx(0.1 * on.link_bandwidth)


def test_only_a_calibrated_machine_gives_numbers() -> None:
    with pytest.raises(InvalidInput, match="no calibration"):
        apply(calibrated(calibration=None), sheet())


def test_hosts_of_several_speeds_take_no_single_one() -> None:
    with pytest.raises(InvalidInput, match="leave host_speeds out"):
        apply(calibrated(), sheet(host_speeds=["1Gf", "2Gf", "3Gf"]))


def test_another_scale_changes_rates_alone() -> None:
    slower = rescaled(calibrated(host_link_bandwidth="40Mbps"), 0.005)
    assert slower.link_bandwidth == pytest.approx(2.5e6 / 4)
    assert slower.host_link_bandwidth == pytest.approx(5e6 / 4)
    assert slower.calibration is not None
    assert slower.calibration.scale == 0.005
    assert slower.protocol == calibrated().protocol
    assert slower.link_latency == calibrated().link_latency
    back = rescaled(slower, 0.02)
    assert back.link_bandwidth == pytest.approx(calibrated().link_bandwidth)


def test_what_was_not_calibrated_has_no_scale() -> None:
    with pytest.raises(InvalidInput, match="no calibration"):
        rescaled(sheet(), 0.01)

"""Machine descriptions."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from benchmarks.machines import designed
from searchspace.errors import InvalidInput
from searchspace.job import load_new_job
from searchspace.machine import parse_machine

HU: dict[str, Any] = designed(64, 6, switch_bandwidth="10Pbps")


def test_units_are_read_and_defaults_filled_in() -> None:
    machine = parse_machine(HU)
    assert machine.host_speed == 100e9
    assert machine.link_bandwidth == 5e9
    assert machine.switch_latency == 60e-9
    assert machine.cores == 64
    assert (machine.model, machine.tie_rule) == ("smpi-default", "lowest-id")


def test_the_same_machine_in_other_words_has_the_same_identity() -> None:
    machine = parse_machine(HU)
    other = parse_machine(
        HU | {"host_speed": 1e11, "link_bandwidth": "5GBps", "link_latency": "0us"}
    )
    assert other.sha256 == machine.sha256
    assert parse_machine(machine.canonical()) == machine
    assert parse_machine(HU | {"model": "plain"}).sha256 != machine.sha256


def test_a_given_network_is_brought_into_one_form() -> None:
    ring = parse_machine(HU | {"nodes": 3, "topology": {"edges": [[2, 0], [1, 0], [2, 1]]}})
    assert ring.canonical()["topology"] == {"edges": [[0, 1], [0, 2], [1, 2]]}
    assert parse_machine(ring.canonical()).sha256 == ring.sha256


def test_the_degree_of_a_given_network_serves_random_ones() -> None:
    document = {k: v for k, v in HU.items() if k != "degree"} | {"nodes": 3}
    assert parse_machine(document).random_degree is None
    path = parse_machine(document | {"topology": {"edges": [[0, 1], [1, 2]]}})
    assert path.random_degree == 2


def test_hosts_may_differ_in_speed() -> None:
    machine = parse_machine(HU | {"nodes": 2, "degree": 1, "host_speeds": ["1Gf", "2Gf"]})
    assert machine.canonical()["host_speeds"] == [1e9, 2e9]
    assert "host_speeds" not in parse_machine(HU).canonical()


@pytest.mark.parametrize(
    "field", ["host_link_bandwidth", "interface_bandwidth", "memory_bandwidth"]
)
def test_what_only_some_machines_have_counts_only_there(field: str) -> None:
    plain, special = parse_machine(HU), parse_machine(HU | {field: "20Gbps"})
    assert field not in plain.canonical()
    assert special.canonical()[field] == 2.5e9
    assert parse_machine(special.canonical()).sha256 == special.sha256 != plain.sha256


def test_model_factors() -> None:
    model = {"bandwidth_factor": "65536:0.9; 0:0.5", "latency_factor": 2}
    canonical = parse_machine(HU | {"model": model}).canonical()["model"]
    assert canonical == {"bandwidth_factor": "0:0.5;65536:0.9", "latency_factor": "0:2.0"}


def test_a_fluid_network_goes_without_saying() -> None:
    machine = parse_machine(HU)
    assert (machine.network, machine.protocol) == ("fluid", None)
    assert {"network", "protocol"}.isdisjoint(machine.canonical())
    assert parse_machine(HU | {"network": "fluid", "protocol": None}).sha256 == machine.sha256


def test_packets_go_by_a_protocol_whose_numbers_are_its_identity() -> None:
    packets = parse_machine(HU | {"network": "packets"})
    assert packets.canonical()["protocol"] == packets.canonical()["protocol"] | {
        "switching": "cut-through", "mtu": 1500, "eager_limit": 65_480, "buffer": None,
    }  # fmt: skip
    assert parse_machine(packets.canonical()) == packets
    named = parse_machine(HU | {"network": "packets", "protocol": "tcp-openmpi"})
    over = parse_machine(HU | {"network": "packets", "protocol": {"name": "verbs"}})
    jumbo = parse_machine(HU | {"network": "packets", "protocol": {"mtu": 9000}})
    assert named.sha256 == packets.sha256
    assert len({named.sha256, over.sha256, jumbo.sha256, parse_machine(HU).sha256}) == 4


def test_the_model_of_trials_is_named() -> None:
    assert parse_machine(HU).model_text == "fluid, smpi-default"
    assert parse_machine(HU | {"network": "packets"}).model_text == "packets, tcp-openmpi"
    mixed = HU | {"network": "auto", "protocol": {"name": "verbs", "mtu": "2KiB"}}
    assert parse_machine(mixed).model_text == "packets, verbs with mtu of its own"


def test_a_machine_as_one_model_evaluates_it() -> None:
    auto = parse_machine(HU | {"network": "auto", "protocol": "verbs", "model": "plain"})
    assert auto.trial_model == "packets"
    assert auto.simulated_by("fluid") == parse_machine(HU | {"model": "plain"})
    packets = parse_machine(HU | {"network": "packets", "protocol": "verbs"})
    assert auto.simulated_by("packets").sha256 == packets.sha256
    assert parse_machine(HU).simulated_by("packets").model_text == "packets, tcp-openmpi"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"protocol": "verbs"},
            "protocol: means nothing to the fluid model; leave it out, or set network to packets",
        ),
        ({"network": "packet"}, "network: unknown value 'packet'; allowed: fluid, packets, auto"),
        ({"network": "packets", "protocol": "tcp"}, "protocol: unknown protocol 'tcp'; allowed: "),
        (
            {"network": "auto", "protocol": {"mtu": 40}},
            "protocol.header: must be less than the mtu of 40, not 52",
        ),
        ({"nodes": 0}, "nodes: must be greater than or equal to 1, not 0"),
        ({"nodes": 10**9}, "nodes: must be less than or equal to 16384"),
        ({"host_sped": 1}, "host_sped: unknown field; allowed: nodes, degree, host_speed"),
        (
            {"host_speeds": ["1Gf"]},
            "host_speeds: must list the speed of each of the 64 hosts, not of 1",
        ),
        ({"host_speed": "100GHz"}, "host_speed: '100GHz' has an unknown unit of speed; allowed: f"),
        ({"link_bandwidth": 0}, "link_bandwidth: must be greater than 0"),
        (
            {"host_speed": 100},
            "host_speed: must be at least 10kf, not '100': a number without a unit is in flop/s; "
            "write it like 100Gf",
        ),
        (
            {"link_bandwidth": "40"},
            r"link_bandwidth: must be at least 10kBps, not '40': .* in bytes/s; .* 40Gbps \(bits\)",
        ),
        ({"switch_latency": 60}, "switch_latency: must be at most 1s, not '60': .* in seconds; .*"),
        ({"loopback_latency": "2s"}, "loopback_latency: must be at most 1s"),
        ({"switch_latency": "-1ns"}, "switch_latency: '-1ns' is not a duration"),
        ({"model": "quick"}, "model: unknown value 'quick'; allowed: smpi-default, plain"),
        ({"model": {"bandwidth_factor": 1}}, "model.latency_factor: is required"),
        (
            {"model": {"bandwidth_factor": "1", "latency_factor": 1}},
            "model.bandwidth_factor: '1' is not 'bytes:factor'",
        ),
        (
            {"model": {"bandwidth_factor": "9:1", "latency_factor": 1}},
            "must begin at message size 0",
        ),
        ({"tie_rule": "any"}, "tie_rule: unknown value 'any'; allowed: lowest-id"),
        ({"topology": {"edges": []}}, "topology.edges: must list at least 1"),
        ({"topology": {"edges": [[0, 64]]}}, "topology.edges: edge .0, 64. names a node outside"),
        ({"topology": {"edges": [[0, 1]]}}, "topology.edges: the network is not connected"),
        ({"topology": [[0, 1]]}, "topology: must be a group of fields"),
    ],
)
def test_refuses(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_machine(HU | change)


@pytest.mark.parametrize("field", ["nodes", "host_speed", "link_bandwidth"])
def test_what_must_be_given(field: str) -> None:
    with pytest.raises(InvalidInput, match=f"{field}: is required"):
        parse_machine({name: value for name, value in HU.items() if name != field})


CALIBRATION: dict[str, Any] = {
    "date": "2026-11-20",
    "software": {"Open MPI": "4.1.4"},
    "points": 120,
    "median": 0.02,
    "error": 0.07,
    "residuals": {"ping-pong": {"points": 40, "median": 0.01, "error": 0.03}},
    "intervals": {"link_bandwidth": [4.9e9, 5.1e9]},
}


def test_where_numbers_come_from_is_kept_and_not_evaluated() -> None:
    plain = parse_machine(HU | {"network": "packets"})
    machine = parse_machine(HU | {"network": "packets", "calibration": CALIBRATION})
    assert parse_machine(machine.canonical()) == machine
    assert machine.sha256 != plain.sha256
    assert "calibration" not in plain.canonical()
    for model in ("packets", "fluid"):
        assert machine.simulated_by(model).sha256 == plain.simulated_by(model).sha256


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"error": 0.01}, "at least the median"),
        ({"scale": 0}, "calibration.scale"),
        ({"software": {}}, "calibration.software"),
        ({"intervals": {"link_bandwidth": [2, 1]}}, "link_bandwidth must not end before it begins"),
        ({"by": "me"}, "unknown field"),
    ],
)
def test_a_calibration_is_checked(changes: dict[str, Any], message: str) -> None:
    document = HU | {"network": "packets", "calibration": CALIBRATION | changes}
    with pytest.raises(InvalidInput, match=message):
        parse_machine(document)


def test_the_fluid_model_is_not_calibrated() -> None:
    with pytest.raises(InvalidInput, match="is of the packets model"):
        parse_machine(HU | {"calibration": CALIBRATION})


@pytest.mark.parametrize("cables", [0, -7, 4097, 2**31, 10**30])
def test_so_many_parallel_cables_there_are_not(cables: int) -> None:
    document = {"nodes": 3, "host_speed": "1Gf", "link_bandwidth": "1Gbps"}
    with pytest.raises(InvalidInput, match="edges"):
        parse_machine({**document, "topology": {"edges": [[0, 1], [1, 2, cables]]}})


def test_parallel_cables_of_a_job_are_written_as_they_were_read() -> None:
    job: dict[str, Any] = {
        "name": "two-cables",
        "application": {"builtin": "is", "class": "S", "ranks": 2},
        "machine": {
            "nodes": 2,
            "host_speed": "100Gf",
            "link_bandwidth": "40Gbps",
            "topology": {"edges": [[0, 2], [1, 2, 2]], "switches": 1},
        },
        "search": {"mpi": ["mpich", "ompi"]},
        "budget": {"trials": 2},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = load_new_job(job)
        assert spec.canonical()["machine"]["topology"] == job["machine"]["topology"]
    job["machine"]["topology"]["edges"] = [[0, 2], [1]]
    with pytest.raises(InvalidInput, match=r"^machine\.topology\.edges\.1\.1: is required$"):
        load_new_job(job)


def test_long_factors_are_read_in_one_pass() -> None:
    model = {"bandwidth_factor": f"0:{'1' * 300_000}!", "latency_factor": "0:.5;8:5e-1"}
    with pytest.raises(InvalidInput, match="is not 'bytes:factor'"):
        parse_machine(HU | {"model": model})

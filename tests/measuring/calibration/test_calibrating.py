"""Calibrating real clusters: a small emulated one, and what cannot be calibrated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from measuring.calibration import Log, calibrate, patterns, under
from measuring.calibration.fits import closed_forms, eager
from measuring.calibration.measure import Bench
from measuring.calibration.plan import Part
from measuring.clusters import Cluster
from measuring.mpirun_cluster import MpirunCluster
from measuring.testbed_cluster import TestbedCluster
from searchspace.errors import HamtuneError, InvalidInput
from searchspace.machine import Machine, parse_machine
from testbed import clusters
from testbed.doctor import examine

RATE = 5e6


def line(hosts: int) -> Machine:
    return parse_machine(
        {
            "nodes": hosts,
            "host_speed": "1Gf",
            "link_bandwidth": RATE,
            "network": "packets",
            "topology": {"edges": [[host, host + 1] for host in range(hosts - 1)]},
        }
    )


@pytest.fixture
def emulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestbedCluster]:
    failed = [finding.text for finding in examine() if finding.status == "failed"]
    if failed:
        pytest.skip(failed[0])
    monkeypatch.setenv("HAMTUNE_TESTBEDS", str(tmp_path / "testbeds"))
    testbed, _ = clusters.bring_up(line(4), "four", scale=1.0)
    yield TestbedCluster(testbed)
    clusters.take_down("four")


@pytest.mark.alone
def test_experiments_on_four_hosts_show_rate_and_limit(
    emulated: TestbedCluster, tmp_path: Path
) -> None:
    sizes = (4096, 16384, 65536, 131072)
    pairs = [patterns.ping_pong(0, 3, size, "3 hops") for size in sizes]
    crowd = patterns.all_to_all(range(4), 1024)
    waits = [patterns.late_receiver(3, 0, size, eager.LATE) for size in (65480, 65481)]
    part = Part("round 0 part 0", tuple((each, 3) for each in (*pairs, crowd, *waits)))
    protocol = line(4).protocol
    assert protocol is not None
    for attempt in range(5):  # all three runs of a size may have met other work of this host
        log = Log(tmp_path / f"log {attempt}", under(emulated, line(4), "openmpi", 1))
        try:
            row = Bench(emulated, "openmpi", log, 0.002, tmp_path).run(part)
        except HamtuneError as error:  # only where other work left no core to the ranks
            assert "do not count: the cores of this host were busy" in str(error)
            assert os.getloadavg()[0] > (os.cpu_count() or 1)
            pytest.skip("other work left no core to the ranks, and so no run counts")
        least = {each: min(row.seconds[each.name]) for each in pairs}
        rate = closed_forms.bandwidth(least, protocol)
        if rate == pytest.approx(RATE, rel=0.05):
            break
    assert rate == pytest.approx(RATE, rel=0.05)
    assert set(row.seconds) == {each.name for each in (*pairs, crowd, *waits)}
    assert len(row.first) == 3
    at_once, waited = (min(row.seconds[each.name]) for each in waits)
    assert at_once < eager.LATE / 2 < waited
    # What the log has is not measured again.
    again = Log(tmp_path / f"log {attempt}", under(emulated, line(4), "openmpi", 1))
    clusters.take_down("four")
    assert Bench(emulated, "openmpi", again, 0.002, tmp_path).run(part).seconds == row.seconds


def on_this_host(*options: str, hosts: int) -> Cluster:
    words = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", *options]
    return MpirunCluster(words, ["localhost"] * hosts, 1)


@pytest.mark.parametrize(
    ("hosts", "machine", "told"),
    [
        (1, line(2), "one host has no network to calibrate; name two or more"),
        (3, line(4), "the machine has 4 hosts and the cluster 3"),
        (
            3,
            parse_machine(
                {"nodes": 3, "degree": 2, "host_speed": "1Gf", "link_bandwidth": "1Gbps"}
            ),
            "leaves its network open",
        ),
    ],
)
def test_what_is_no_network_of_hosts_is_refused(
    hosts: int, machine: Machine, told: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=told):
        calibrate(on_this_host(hosts=hosts), machine, "openmpi", Log(tmp_path / "log", {}))


def test_a_program_that_does_not_run_is_told_of(tmp_path: Path) -> None:
    unreachable = on_this_host("--mca", "btl", "self", "--mca", "pml", "ob1", hosts=2)
    with pytest.raises(HamtuneError, match="does not run on the cluster") as refused:
        calibrate(unreachable, line(2), "openmpi", Log(tmp_path / "log", {}))
    assert "see that a small MPI program runs there by itself" in str(refused.value)

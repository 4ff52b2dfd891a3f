"""The loop closed: times that the simulator made with known numbers are fitted back to these."""

from __future__ import annotations

import random

import pytest

from measuring.agreement import quantile
from measuring.calibration import patterns
from measuring.calibration.experiments import Experiment
from measuring.calibration.fits.numbers import with_numbers
from measuring.calibration.fitting import fit
from measuring.calibration.simulate import SimulatedCluster
from searchspace.errors import HamtuneError
from searchspace.machine import parse_machine

SOLD_AS = parse_machine(
    {
        "nodes": 5,
        "host_speed": "1Gf",
        "link_bandwidth": "100Mbps",
        "network": "packets",
        "topology": {"edges": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]},
    }
)
NUMBERS = {
    "link_bandwidth": 11.5e6,
    "link_latency": 12e-6,
    "burst": 3000.0,
    "send_overhead.seconds": 9e-6,
    "send_overhead.per_byte": 2e-9,
    "isend_overhead.seconds": 6e-6,
    "isend_overhead.per_byte": 1e-9,
    "receive_overhead.seconds": 25e-6,
    "receive_overhead.per_byte": 3e-9,
}
PROTOCOL = {"eager_limit": 30_000, "exchange_above": 30_000, "send_buffer": 400_000}
REPETITIONS = 9


def experiments() -> list[Experiment]:
    ranks = range(5)
    return [
        *(patterns.ping_pong(0, 1, size, "1 hops") for size in (1, 1024, 4096, 32768, 262144)),
        *(patterns.ping_pong(0, 2, size, "2 hops") for size in (1, 4096)),
        *(patterns.gaps(0, 1, size, blocking=True) for size in (1, 8192)),
        *(patterns.gaps(0, 1, size, blocking=False) for size in (1, 8192)),
        *(patterns.late_receive(0, 1, size, 0.05) for size in (1, 8192)),
        *(patterns.stream(0, 1, size) for size in (1, 4096)),
        patterns.exchange_begun_by(3, 0, 1, 131072, 1),
        patterns.exchange_begun_by(3, 0, 1, 131072, 1, later=8192),
        patterns.all_to_all(ranks, 1024),
        patterns.pipeline(ranks, 1024),
    ]


def measured(exchange: str, noise: float, seed: int) -> dict[Experiment, list[float]]:
    known = with_numbers(SOLD_AS, NUMBERS, {**PROTOCOL, "exchange": exchange})
    chosen = experiments()
    with SimulatedCluster(known, chosen) as cluster:
        seconds = cluster.seconds(known)
    rng = random.Random(seed)
    return {
        each: [time * rng.lognormvariate(0.0, noise) for _ in range(REPETITIONS)]
        for each, time in zip(chosen, seconds, strict=True)
    }


@pytest.mark.parametrize("exchange", ["half", "full", "ordered"])
def test_known_numbers_are_found_again(exchange: str) -> None:
    fitted = fit(SOLD_AS, measured(exchange, 0.01, seed=4), PROTOCOL)
    machine, protocol = fitted.machine, fitted.machine.protocol
    assert protocol is not None
    assert protocol.exchange == exchange
    assert protocol.switching == "cut-through"
    assert machine.link_bandwidth == pytest.approx(11.5e6, rel=0.01)
    assert machine.link_latency == pytest.approx(12e-6, abs=3e-6)
    assert protocol.burst == pytest.approx(3000, rel=0.15)
    for name in ("send_overhead", "isend_overhead", "receive_overhead"):
        [(_, seconds, per_byte)] = getattr(protocol, name)
        assert seconds == pytest.approx(NUMBERS[f"{name}.seconds"], abs=3e-6)
        assert per_byte == pytest.approx(NUMBERS[f"{name}.per_byte"], abs=1.5e-9)
    inside = [low <= NUMBERS[name] <= high for name, (low, high) in fitted.intervals.items()]
    assert sum(inside) >= len(inside) - 1
    errors = sorted(each.error for each in fitted.compared)
    assert quantile(errors, 0.9) < 0.05


def test_more_noise_than_can_be_fitted_is_told_of() -> None:
    with pytest.raises(HamtuneError, match="more noise than can be fitted; see what else runs"):
        fit(SOLD_AS, measured("half", 1.0, seed=4), PROTOCOL)

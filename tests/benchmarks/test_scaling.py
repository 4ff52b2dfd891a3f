"""The simulation behind docs/scaling.md, against what queueing theory knows exactly."""

from __future__ import annotations

import math

import pytest

from benchmarks.scaling import Coefficients, Installation, bounds, simulate

NOTHING = Coefficients(ask=0.0, tell=0.0, database=0.0, commit=0.0, broker=0.0, worker=0.0)


@pytest.mark.parametrize(("ask", "window"), [(0.05, 8), (0.2, 16), (0.01, 4)])
def test_one_coordinator_before_enough_workers_is_the_machine_repair_model(
    ask: float, window: int
) -> None:
    # M/M/1//N: N trials that each think for a second at a worker of their own.
    terms = [math.perm(window, k) * ask**k for k in range(window + 1)]
    exact = (1.0 - 1.0 / sum(terms)) / ask
    installation = Installation(
        workers=window, coordinators=1, jobs=1, window=window, evaluation=1.0
    )
    costs = Coefficients(**{**vars(NOTHING), "ask": ask})

    found = simulate(installation, costs, trials=30_000)

    assert found.rate == pytest.approx(exact, rel=0.02)


def test_what_is_busiest_bounds_the_rate() -> None:
    few = Installation(workers=10, jobs=10)
    many = Installation(workers=1000, jobs=1000, window=64)

    forecasts = [simulate(one, trials=5000) for one in (few, many)]

    assert [forecast.first for forecast in forecasts] == ["workers", "event log"]
    for one, forecast in zip((few, many), forecasts, strict=True):
        limits = bounds(one)
        assert min(limits, key=lambda part: limits[part]) == forecast.first
        assert forecast.rate == pytest.approx(limits[forecast.first], rel=0.06)


def test_a_seed_makes_the_forecast() -> None:
    installation = Installation(workers=100)

    assert simulate(installation, trials=2000, seed=3) == simulate(
        installation, trials=2000, seed=3
    )

"""Which estimates are verified on the whole trace, and when no other can win any more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.configuration import Configuration
from storage.records import Trial
from tuner.verification import MOST, TOLERANCE, Drift, Entrant, Race

WHOLE = Trial(
    id="job-1",
    job_id="job",
    number=1,
    kind="verification",
    label=None,
    inside=True,
    configuration={},
    configuration_sha256="",
    technique=None,
    state="completed",
    cutoff=None,
    value=1.0,
    cached=False,
    reason=None,
    result=None,
    cpu_seconds=1.0,
    wall_seconds=1.0,
    peak_rss_bytes=1,
    worker=None,
    created_at=0.0,
    started_at=None,
    finished_at=None,
)


def entrants(*estimates: float) -> list[Entrant]:
    return [
        Entrant(estimate, number, Configuration.from_json({"mpi": f"mpi-{number}"}))
        for number, estimate in enumerate(estimates, 1)
    ]


def run(race: Race, factors: list[float]) -> list[float]:
    """The estimates that are verified, one after the other, where the whole takes so much more."""
    verified = []
    while not race.over:
        entrant = race.start()
        verified.append(entrant.estimate)
        value = entrant.estimate * factors[entrant.number - 1]
        stopped = race.best is not None and value > race.best
        outcome = replace(
            WHOLE,
            state="censored" if stopped else "completed",
            value=race.best if stopped else value,
        )
        race.finish(entrant, outcome)
    return verified


def test_two_are_enough_where_all_estimates_are_off_alike() -> None:
    race = Race(Drift(), entrants(3.0, 2.0, 2.1, 1.999, 4.0))
    assert run(race, [1.05] * 5)[:2] == [1.999, 2.0]
    assert race.best == pytest.approx(1.999 * 1.05)


def test_with_the_drift_known_one_is_enough() -> None:
    drift = Drift()
    drift.enter(1.0, 1.05, exact=True)
    drift.enter(2.0, 2.11, exact=True)
    assert run(Race(drift, entrants(2.0, 2.5, 3.0)), [1.05] * 3) == [2.0]


def test_more_are_verified_where_estimates_are_unsure() -> None:
    drift = Drift()
    drift.enter(1.0, 1.0, exact=True)
    drift.enter(1.0, 1.3, exact=True)
    assert run(Race(drift, entrants(2.0, 2.1, 2.2, 3.5)), [1.2, 1.1, 1.0, 1.0]) == [2.0, 2.1, 2.2]


def test_what_was_verified_before_ends_a_race_that_cannot_be_won() -> None:
    drift = Drift()
    drift.enter(1.0, 1.0, exact=True)
    drift.enter(2.0, 2.0, exact=True)
    assert run(Race(drift, entrants(2.0, 2.1), best=1.5), [1.0] * 2) == [2.0]
    assert Race(drift, (), best=1.5).over


def test_a_race_is_bounded_and_failures_count() -> None:
    race = Race(Drift(), entrants(*range(1, 20)))
    started = []
    while not race.over:
        started.append(race.start())
        race.finish(started[-1], replace(WHOLE, state="failed", value=None))
    assert len(started) == MOST
    assert race.best is None


@given(
    estimates=st.lists(st.floats(1.0, 2.0), min_size=1, max_size=MOST),
    factor=st.floats(0.5, 2.0),
    noise=st.lists(st.floats(1.0, 1.0 + TOLERANCE), min_size=MOST, max_size=MOST),
)
def test_the_best_is_found_within_the_tolerance(
    estimates: list[float], factor: float, noise: list[float]
) -> None:
    factors = [factor * one for one in noise]
    values = [estimate * one for estimate, one in zip(estimates, factors, strict=False)]
    race = Race(Drift(), entrants(*estimates))
    run(race, factors)
    assert race.best is not None
    # Twice: what drifts within the tolerance is not told apart, and neither is what differs by it.
    assert race.best <= min(values) * (1.0 + TOLERANCE) / (1.0 - TOLERANCE) + 1e-12

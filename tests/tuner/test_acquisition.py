"""Two objectives in a search: what is proposed, what is cut off, what counts as found."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.bills import Bill, Bills
from searchspace.configuration import Configuration
from searchspace.energy import drawn_watts
from searchspace.front import hypervolume, pareto_front
from searchspace.insight import Insight, Probes
from searchspace.insight.known import Known
from searchspace.job import JobSpec, build_space, load_job
from searchspace.parts import Parts
from tests.tuner.analytic import SPEC
from tests.tuner.test_insight import insight
from tuner.acquisition import log_seconds, widest
from tuner.objective import TrialResult
from tuner.search import Point, Search
from tuner.tradeoff import Tradeoff

PRICES = st.lists(st.integers(1, 40), min_size=1, max_size=8)


@given(known=PRICES, offered=PRICES, seed=st.integers(0, 999))
def test_the_candidate_that_widens_the_front_most_is_chosen(
    known: list[int], offered: list[int], seed: int
) -> None:
    drawn = np.random.default_rng(seed)
    times, bounds = drawn.normal(size=len(known)), drawn.normal(size=len(offered))
    chosen = widest(np.array(known, float), times, np.array(offered, float), bounds)

    logs = [(float(p), float(t)) for p, t in zip(np.log(known), times, strict=True)]
    mine = [(float(p), float(t)) for p, t in zip(np.log(offered), bounds, strict=True)]
    corner = tuple(
        max(values) + (0.1 * (max(values) - min(values)) or 1.0)
        for values in ([p for p, _ in logs + mine], [t for _, t in logs + mine])
    )
    areas = [hypervolume([*logs, one], (corner[0], corner[1])) for one in mine]
    assert areas[chosen] == pytest.approx(max(areas))


def test_where_nothing_widens_the_front_the_nearest_is_chosen() -> None:
    prices, times = np.array([1.0, 10.0]), np.array([5.0, 0.0])
    assert widest(prices, times, np.array([10.0, 10.0, 5.0]), np.array([2.0, 1.0, 7.0])) == 1
    assert widest(prices, times, np.array([np.nan, 5.0]), np.array([3.0, 5.5])) == 1


def test_what_cannot_be_bought_moves_no_reference() -> None:
    front_prices, times = np.array([1.0, 10.0]), np.array([5.0, 0.0])
    assert widest(front_prices, times, np.array([np.inf, 5.0]), np.array([-1.0, 2.0])) == 1
    assert widest(np.array([np.nan]), times[:1], np.array([np.inf, np.nan]), times[:2]) == 1


def test_a_program_that_takes_no_time_has_a_place_on_the_front() -> None:
    times = log_seconds([0.0, 1.0])
    assert np.isfinite(times).all()
    assert times[0] < times[1] == 0.0
    prices = np.array([10.0, 5.0])
    assert widest(prices, times, np.array([7.0, 4.0]), np.array([0.5, 0.5])) == 1


JOB: dict[str, Any] = {
    **SPEC,
    "machine": {**SPEC["machine"], "nodes": 8, "degree": None},
    "application": {"builtin": "is", "class": "S", "ranks": 8},
    "search": {
        "topology": [{"family": "random", "degree": [3, 4, 5], "instances": 4}, "ring", "torus-3d"],
        "ordering": ["original", "hamorder"],
        "mpi": ["mpich", "ompi"],
        "collectives": {"bcast": ["default", "binomial_tree"]},
    },
    "objective": ["time", "cost"],
    "constraints": {"diameter": 3},
}


def seconds(configuration: Configuration) -> float:
    """The denser, the faster: a front with as many points as there are degrees."""
    degree: Any = configuration.get("random.degree", 2)
    seed: Any = configuration.get("topology_seed", 9)
    slow = 1.2 if configuration["mpi"] == "ompi" else 1.0
    return slow * (10.0 / float(degree)) + 0.01 * int(seed)


def searched(spec: JobSpec, told: Insight, trials: int) -> tuple[list[Point], Bills]:
    built = build_space(spec, 8)
    assert built.bills is not None
    asked: list[Point] = []
    pending: deque[Point] = deque()
    with Search(built.space, spec.seed, insight=told) as search:
        for _ in range(trials):
            point = search.ask()
            if point is None:
                break
            asked.append(point)
            pending.append(point)
            if len(pending) == 3:
                oldest = pending.popleft().configuration
                search.tell(oldest, TrialResult(seconds(oldest), "completed"))
    return asked, built.bills


def told_terms(tmp_path: Path, spec: JobSpec) -> Insight:
    plain = insight(tmp_path)
    machine = spec.described_machine.simulated_by("fluid")
    return Insight(machine, 8, plain.called, plain.traces, Probes(), spec.terms)


@pytest.mark.parametrize(("second", "least"), [("cost", 3), ("energy", 2)])
def test_a_search_finds_the_front_and_asks_for_nothing_beyond_a_limit(
    tmp_path: Path, second: str, least: int
) -> None:
    # Where hosts draw nothing, what the network draws weighs as much as it can.
    machine = {**JOB["machine"], "parts": {"hosts": {"watts": 0}}}
    spec = load_job({**JOB, "machine": machine, "objective": ["time", second]})
    built = build_space(spec, 8)
    everything = [p for p in built.space.enumerate() if built.space.infeasible(p) is None]
    told = told_terms(tmp_path, spec)
    asked, bills = searched(spec, told, 24)

    def places(points: list[Configuration]) -> list[tuple[float, float]]:
        found = [bills.of(point) for point in points]
        assert spec.terms is not None
        return [
            (spec.terms.weight(bill).at(seconds(point)), seconds(point))
            for bill, point in zip(found, points, strict=True)
            if bill is not None
        ]

    assert all(built.space.infeasible(point.configuration) is None for point in asked)
    whole, mine = places(everything), places([point.configuration for point in asked])
    assert len(everything) > 2 * len(asked)
    corner = max(p for p, _ in whole) * 1.1, max(t for _, t in whole) * 1.1
    assert hypervolume(mine, corner) > 0.99 * hypervolume(whole, corner)
    assert len(pareto_front(mine)) >= least
    again, _ = searched(spec, Insight.from_json(told.to_json()), 24)
    assert again == asked


@pytest.mark.parametrize(
    ("limits", "parts"),
    [({"cables": 12}, {}), ({"diameter": 9}, {"switches": [{"radix": 3, "price": 1}]})],
)
def test_beyond_the_networks_that_are_built_what_is_known_of_others_like_them_counts(
    tmp_path: Path, limits: dict[str, int], parts: dict[str, Any]
) -> None:
    """Seeds change neither how many cables there are nor how many ports a switch needs."""
    machine = {**JOB["machine"], "parts": parts}
    spec = load_job({**JOB, "machine": machine, "constraints": limits})
    told = told_terms(tmp_path, spec)
    known = told.known(build_space(spec, 8).space)
    assert spec.terms is not None
    bills = Bills(told.machine, spec.terms.parts, most_nodes=2 * told.machine.nodes)
    known = Known(known.probes, known.called, known.structures, spec.terms, bills)

    def network(degree: int, seed: int) -> Configuration:
        names = {"topology": "random", "random.degree": degree, "topology_seed": seed}
        return Configuration({**names, "ordering": "original", "mpi": "mpich"})

    for seed in (3, 4):
        assert known.infeasible(network(3, seed)) is None
        assert known.infeasible(network(4, seed)) is not None
    assert bills.of(network(4, 4)) is None
    assert known.weight(network(3, 4)) == known.weight(network(3, 3))


RING = Configuration({"topology": "ring", "ordering": "original"})
DENSE = Configuration({"topology": "random", "random.degree": 5, "topology_seed": 3})


def weighing(second: str) -> tuple[Tradeoff, dict[Configuration, Bill | None], Parts]:
    """Of a job without limits, with the bills of the two networks and what they are built of."""
    spec = load_job({**JOB, "objective": ["time", second], "constraints": {}})
    bills = build_space(spec, 8).bills
    assert spec.terms is not None
    assert bills is not None
    known = {one: bills.of(one) for one in (RING, DENSE)}
    return Tradeoff(spec.terms, bills), known, spec.terms.parts


def test_a_trial_has_to_beat_what_costs_no_more() -> None:
    tradeoff, _, _ = weighing("cost")
    assert tradeoff.rival(RING) is None
    assert tradeoff.tell(DENSE, 1.0)
    assert tradeoff.rival(DENSE) == 1.0
    assert tradeoff.rival(RING) is None  # nothing that costs as little is known
    assert tradeoff.tell(RING, 9.0)
    assert (tradeoff.rival(RING), tradeoff.rival(DENSE)) == (9.0, 1.0)
    assert not tradeoff.tell(RING, 9.5)
    assert tradeoff.tell(RING, 0.5)
    assert tradeoff.rival(DENSE) == 0.5


def test_what_draws_less_may_be_slower_by_as_much_where_energy_is_weighed() -> None:
    tradeoff, bills, parts = weighing("energy")
    low, high = (drawn_watts(bill, parts) for bill in bills.values() if bill is not None)
    assert low < high
    assert tradeoff.tell(DENSE, 1.0)
    assert tradeoff.rival(DENSE) == 1.0
    # As much energy as the dense network the ring takes when it is slower by as much.
    assert tradeoff.rival(RING) == pytest.approx(high / low)
    assert not tradeoff.tell(RING, 1.01 * high / low)
    assert tradeoff.tell(RING, 0.99 * high / low)
    # Whatever is quicker on either also takes less.
    assert tradeoff.rival(RING) == pytest.approx(0.99 * high / low)
    assert tradeoff.rival(DENSE) == 1.0
    assert tradeoff.tell(RING, 0.5)
    assert tradeoff.rival(DENSE) == 0.5

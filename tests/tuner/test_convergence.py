"""Hu's quantities on numbers worked out by hand, and what must always hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records import TrialPoint, TrialState
from tuner.convergence import best_point, convergence, proximity, speedup, trials_to_reach


def point(number: int, value: float | None, **changes: Any) -> TrialPoint:
    state: TrialState = "failed" if value is None else "completed"
    fields: dict[str, Any] = {
        "number": number,
        "kind": "search",
        "label": None,
        "inside": True,
        "state": state,
        "value": value,
        "cached": False,
        "cpu_seconds": 2.0,
        "finished_at": 1000.0 + 10 * number,
    }
    return TrialPoint(**{**fields, **changes})


TRIALS = [
    point(1, 1.5, kind="baseline", label="mesh-2d", inside=False),
    point(2, 4.0, kind="baseline", label="random original mpich"),
    point(3, None),
    point(4, 3.0, finished_at=1090.0),
    point(5, 2.9, state="censored"),
    point(6, 2.0, cached=True, cpu_seconds=7.0),
    point(7, 2.5),
    point(8, None, state="running", finished_at=None),
]


def test_the_convergence_of_a_job() -> None:
    converged = convergence(TRIALS, started_at=1000.0)
    json.dumps(converged, allow_nan=False)
    points = converged["points"]
    assert [p["trial"] for p in points] == [1, 2, 3, 4, 5, 6, 7]
    assert [p["best"] for p in points] == [None, 4.0, 4.0, 3.0, 3.0, 2.0, 2.0]
    assert [p["cpu_seconds"] for p in points] == [2, 4, 6, 8, 10, 10, 12]
    assert [p["wall_seconds"] for p in points] == [10, 20, 30, 90, 90, 90, 90]
    assert converged["best"] == {"trial": 6, "value": 2.0}
    assert converged["initial"] == {"trial": 4, "value": 3.0}
    assert converged["speedup"] == 1.5
    assert converged["baselines"] == {"mesh-2d": 1.5, "random original mpich": 4.0}
    assert converged["gains"] == {"mesh-2d": 0.75, "random original mpich": 2.0}
    assert converged["proximity"] == [None, 0.5, 0.5, 1.0, 1.0]
    assert (converged["close"], converged["trials_to_reach"], converged["share"]) == (0.9, 4, 0.8)


def test_a_baseline_outside_the_space_is_never_the_best() -> None:
    assert best_point(TRIALS) == TRIALS[5]
    assert best_point([TRIALS[0]._replace(inside=True), *TRIALS[1:]])  # a lower one within it is
    assert best_point(TRIALS[:1]) is None


def test_of_equal_values_the_first_is_the_best() -> None:
    best = best_point([point(1, 2.0), point(2, 1.0), point(3, 1.0)])
    assert best is not None
    assert best.number == 2


def test_a_job_without_trials_has_nothing_to_show() -> None:
    converged = convergence([], started_at=None)
    assert converged["points"] == converged["proximity"] == []
    for name in ("best", "initial", "speedup", "trials_to_reach", "share"):
        assert converged[name] is None


def test_a_job_whose_trials_all_failed_has_no_quantities() -> None:
    converged = convergence([point(1, None), point(2, None)], started_at=0.0)
    assert converged["proximity"] == [None, None]
    assert converged["speedup"] is None


def test_equation_6_as_in_the_paper() -> None:
    """T_n = 1.1 T_o is 90% of the optimal performance."""
    assert proximity([2.2, 1.1, 1.0]) == pytest.approx([-0.2, 0.9, 1.0])
    assert trials_to_reach(proximity([2.2, 1.0999, 1.0]), 0.9) == 2


def test_programs_that_take_no_time_have_no_speedup() -> None:
    assert speedup(1.0, 0.0) is None
    assert proximity([1.0, 0.0]) == [None, 1.0]


values = st.lists(st.none() | st.floats(1e-9, 1e9), max_size=40)


@given(values)
def test_proximity_rises_to_one(values: list[float | None]) -> None:
    converged = [close for close in proximity(values) if close is not None]
    assert converged == sorted(converged)
    assert len(converged) == 0 or converged[-1] == 1.0


@given(values)
def test_the_best_falls_and_the_costs_rise(values: list[float | None]) -> None:
    trials = [point(number, value) for number, value in enumerate(values, 1)]
    points = convergence(trials, started_at=1000.0)["points"]
    best = [p["best"] for p in points if p["best"] is not None]
    assert best == sorted(best, reverse=True)
    for cost in ("wall_seconds", "cpu_seconds"):
        assert [p[cost] for p in points] == sorted(p[cost] for p in points)

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storage.records import ConvergencePoint, TrialKind, TrialPoint, TrialState
from tuner.convergence import convergence
from tuner.downsampling import downsampled, sampled_indices

BESTS = st.lists(st.integers(0, 50), max_size=200).map(lambda drops: list(accumulate(drops, min)))


@given(BESTS, st.integers(2, 60))
def test_what_is_kept_draws_the_same_steps(values: list[float | None], most: int) -> None:
    indices = sampled_indices(values, most)

    assert indices == sorted(set(indices))
    steps = [i for i in range(1, len(values)) if values[i] != values[i - 1]]
    assert set(steps) <= set(indices)
    if values:
        assert (indices[0], indices[-1]) == (0, len(values) - 1)
    needed = {0, len(values) - 1, *steps} if values else set()
    assert len(indices) == min(len(values), max(most, len(needed)))


def test_what_has_to_stay_is_kept_instead_of_others() -> None:
    assert sampled_indices([1.0] * 101, 6, always=(3, 4)) == [0, 3, 4, 27, 75, 100]
    assert sampled_indices([1.0] * 9, 2, always=(3, 0, 8)) == [0, 3, 8]
    assert sampled_indices([1.0] * 4, 9, always=(3,)) == [0, 1, 2, 3]


def test_the_rest_is_thinned_evenly() -> None:
    assert sampled_indices([1.0] * 101, 6) == [0, 13, 38, 62, 87, 100]
    assert sampled_indices([None] * 2 + [2.0] * 6, 4) == [0, 2, 4, 7]


FIGURES = ("best", "initial", "baselines", "gains", "speedup", "trials_to_reach", "share")


def test_a_long_job_keeps_its_figures() -> None:
    trials = [trial(number) for number in range(1, 1001)]
    whole = convergence(trials, started_at=0.0)
    short = downsampled(reached(trials), 50, started_at=0.0)

    assert len(short["points"]) == len(short["proximity"]) == 50
    assert short["proximity_at"][0] == 1
    assert short["proximity_at"][-1] == 1000
    assert [p["best"] for p in short["points"] if p["trial"] in (300, 600, 900)] == [7, 4, 1]
    same_where_shown(short, whole)


TRIALS = st.lists(
    st.tuples(
        st.sampled_from(("baseline", "search", "search", "refinement")),
        st.booleans(),
        st.sampled_from(("completed", "completed", "censored", "failed")),
        st.integers(1, 9),
    ),
    min_size=1,
    max_size=60,
)


@given(TRIALS, st.integers(1, 70))
def test_any_convergence_is_the_same_where_it_is_shown(
    drawn: list[tuple[TrialKind, bool, TrialState, int]], most: int
) -> None:
    trials = [
        trial(number)._replace(kind=kind, inside=inside, state=state, value=float(value))
        for number, (kind, inside, state, value) in enumerate(drawn, 1)
    ]
    whole = convergence(trials, started_at=0.5)
    short = downsampled(reached(trials), most, started_at=0.5)
    same_where_shown(short, whole)
    steps = {p["best"] for p in whole["points"]}
    assert {p["best"] for p in short["points"]} == steps


def same_where_shown(short: dict[str, Any], whole: dict[str, Any]) -> None:
    """A downsampled convergence leaves out points, and nothing else."""
    assert {name: short[name] for name in FIGURES} == {name: whole[name] for name in FIGURES}
    assert [p for p in whole["points"] if p in short["points"]] == short["points"]
    assert [whole["proximity"][n - 1] for n in short["proximity_at"]] == short["proximity"]


def reached(trials: Sequence[TrialPoint]) -> list[ConvergencePoint]:
    """What had been reached by each trial, summed up one after the other."""
    points = []
    best: float | None = None
    searched_best: float | None = None
    for count, one in enumerate(trials, 1):
        value = one.value if one.state == "completed" else None
        if value is not None and one.inside:
            best = value if best is None else min(best, value)
        if value is not None and one.kind == "search":
            searched_best = value if searched_best is None else min(searched_best, value)
        searched = sum(other.kind == "search" for other in trials[:count])
        spent = sum(other.cpu_seconds or 0.0 for other in trials[:count])
        points.append(ConvergencePoint(one, best, one.finished_at, spent, searched_best, searched))
    return points


def trial(number: int) -> TrialPoint:
    """Every hundredth trial is better than all before."""
    fields: dict[str, Any] = {
        "number": number,
        "kind": "search",
        "label": None,
        "inside": True,
        "state": "completed",
        "value": 10.0 - number // 100 if number % 100 == 0 else 20.0,
        "cached": False,
        "cpu_seconds": 1.0,
        "finished_at": float(number),
    }
    return TrialPoint(**fields)

from __future__ import annotations

from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storage.records import TrialPoint
from tuner.convergence import convergence
from tuner.thinning import kept, thinned

COURSES = st.lists(st.integers(0, 50), max_size=200).map(lambda drops: list(accumulate(drops, min)))


@given(COURSES, st.integers(2, 60))
def test_what_is_kept_draws_the_same_steps(values: list[float | None], most: int) -> None:
    indices = kept(values, most)

    assert indices == sorted(set(indices))
    steps = [i for i in range(1, len(values)) if values[i] != values[i - 1]]
    assert set(steps) <= set(indices)
    if values:
        assert (indices[0], indices[-1]) == (0, len(values) - 1)
    needed = {0, len(values) - 1, *steps} if values else set()
    assert len(indices) == min(len(values), max(most, len(needed)))


def test_the_rest_is_thinned_evenly() -> None:
    assert kept([1.0] * 101, 6) == [0, 13, 38, 62, 87, 100]
    assert kept([None] * 2 + [2.0] * 6, 4) == [0, 2, 4, 7]


def test_a_long_course_keeps_its_figures() -> None:
    whole = convergence([trial(number) for number in range(1, 1001)], started_at=0.0)
    short = thinned(whole, 50)

    assert len(short["points"]) == len(short["proximity"]) == 50
    assert short["proximity_at"][0] == 1
    assert short["proximity_at"][-1] == 1000
    assert [whole["proximity"][n - 1] for n in short["proximity_at"]] == short["proximity"]
    assert [p["best"] for p in short["points"] if p["trial"] in (300, 600, 900)] == [7, 4, 1]
    same = ("best", "initial", "baselines", "gains", "speedup", "trials_to_reach", "share")
    assert {name: short[name] for name in same} == {name: whole[name] for name in same}


def test_a_short_course_is_left_whole() -> None:
    whole = convergence([trial(number) for number in range(1, 11)], started_at=0.0)
    assert thinned(whole, 10) == whole | {"proximity_at": None}


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

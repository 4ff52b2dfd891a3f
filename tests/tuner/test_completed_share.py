"""Which trials run to their end under `cutoff: adaptive`."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.storage import Storage
from tests.tuner.analytic import open_storage
from tests.tuner.driving import essence, run
from tuner.completed_share import CompletedShare
from tuner.opentuner_session import Status

SHARES = st.floats(0.01, 0.99)
BATCHES = st.integers(1, 9)
FATES = st.lists(st.sampled_from(["fast", "slow", "crash", "infeasible"]), min_size=1, max_size=120)


def status(fate: str, whole: bool) -> Status:
    """What becomes of a trial."""
    if fate == "slow":
        return "completed" if whole else "censored"
    return {"fast": "completed", "crash": "failed", "infeasible": "infeasible"}[fate]  # type: ignore[return-value]


def course(share: float, batch: int, fates: list[str]) -> list[tuple[bool, Status]]:
    """Of each trial, whether it was asked without a cutoff and what became of it."""
    shares = CompletedShare(share, batch)
    asked: list[tuple[bool, Status]] = []
    in_flight: deque[tuple[int, Status]] = deque()
    for number, fate in enumerate(fates, 1):
        if len(in_flight) == batch:
            shares.tell(*in_flight.popleft())
        whole = shares.whole(number)
        asked.append((whole, status(fate, whole)))
        in_flight.append((number, asked[-1][1]))
    return asked


@given(SHARES, BATCHES, st.lists(st.sampled_from(["fast", "slow"]), min_size=1, max_size=200))
def test_the_share_completes_at_every_time(share: float, batch: int, fates: list[str]) -> None:
    found = course(share, batch, fates)
    for count in range(1, len(found) + 1):
        completed = sum(1 for _, became in found[:count] if became == "completed")
        assert completed >= math.floor(share * count)


@given(SHARES, BATCHES, st.integers(1, 200))
def test_of_slow_trials_no_more_than_the_share_completes(
    share: float, batch: int, count: int
) -> None:
    found = course(share, batch, ["slow"] * count)
    assert sum(1 for _, became in found if became == "completed") <= math.ceil(share * count)


@given(SHARES, st.integers(1, 200))
def test_a_trial_that_failed_without_a_cutoff_had_its_turn(share: float, count: int) -> None:
    found = course(share, 1, ["crash"] * count)
    assert sum(1 for whole, _ in found if whole) <= math.ceil(share * count)


@given(SHARES, FATES)
def test_infeasible_trials_count_for_nothing(share: float, fates: list[str]) -> None:
    found = [one for one in course(share, 1, fates) if one[1] != "infeasible"]
    assert found == course(share, 1, [fate for fate in fates if fate != "infeasible"])


@given(SHARES, BATCHES, FATES, st.data())
def test_what_is_told_sooner_changes_nothing(
    share: float, batch: int, fates: list[str], data: st.DataObject
) -> None:
    """Results that only fast workers could have told by then are not used."""
    waiting, hasty = CompletedShare(share, batch), CompletedShare(share, batch)
    told = 0
    became: list[Status] = []
    for number, fate in enumerate(fates, 1):
        if number > batch:
            waiting.tell(number - batch, became[number - batch - 1])
        sooner = data.draw(st.integers(max(told, number - batch), number - 1))
        for one in range(told + 1, sooner + 1):
            hasty.tell(one, became[one - 1])
        told = max(told, sooner)
        whole = waiting.whole(number)
        assert hasty.whole(number) == whole
        became.append(status(fate, whole))


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    opened = open_storage(tmp_path)
    yield opened
    opened.close()


def completed(storage: Storage, **changes: Any) -> tuple[int, int]:
    """How many search trials of a job completed, and how many completed or were censored."""
    job = run(storage, budget={"trials": 40}, cutoff_factor=1.01, **changes)
    states = [one.state for one in storage.trials.of_job(job.id) if one.kind == "search"]
    return states.count("completed"), states.count("completed") + states.count("censored")


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_a_job_lets_the_share_run_to_its_end(storage: Storage, share: float) -> None:
    few, all_of_them = completed(storage)
    assert few < share * all_of_them
    more, all_of_them = completed(storage, cutoff="adaptive", completed_share=share)
    assert more >= math.floor(share * all_of_them)


def test_a_quarter_completes_where_the_job_says_nothing(storage: Storage) -> None:
    found, all_of_them = completed(storage, cutoff="adaptive")
    assert found >= all_of_them // 4


def test_workers_of_any_number_let_the_same_trials_run_to_their_end(storage: Storage) -> None:
    adaptive: dict[str, Any] = {"cutoff": "adaptive", "completed_share": 0.4, "cutoff_factor": 1.01}
    one, many = (run(storage, workers=workers, **adaptive) for workers in (1, 4))
    assert essence(storage, one) == essence(storage, many)
    assert any(
        trial.cutoff is None for trial in storage.trials.of_job(one.id) if trial.kind == "search"
    )

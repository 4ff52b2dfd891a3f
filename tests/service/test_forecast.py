from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.jobs.forecast import seconds_left
from storage.records import Job

JOB = Job(
    id="j", name="j", state="running", spec={"batch": 8, "budget": {"trials": 100}}, seed=1,
    application_id=None, space={"size": 1000}, error=None, ended_because=None, lease_owner="c",
    lease_token=1, lease_expires_at=None, created_at=0.0, started_at=0.0, finished_at=None,
    active_seconds=10.0, cpu_seconds=50.0, evaluations=20,
)  # fmt: skip
DONE = {"search": 25}


def with_budget(**budget: Any) -> Job:
    return replace(JOB, spec={"batch": 8, "budget": budget})


def test_what_is_left_takes_the_mean_time_on_ones_share_of_the_workers() -> None:
    assert seconds_left(JOB, DONE, 1.0) == 75 * 2.0
    assert seconds_left(JOB, DONE, 4.0) == 75 * 2.0 / 4
    assert seconds_left(JOB, DONE, 0.5) == 75 * 2.0 * 2
    # No more than the job has in flight, or may have.
    assert seconds_left(JOB, DONE, 100.0) == 75 * 2.0 / 8
    assert seconds_left(replace(JOB, concurrency=2), DONE, 100.0) == 75.0
    assert seconds_left(replace(JOB, space={"size": 30}), DONE, 1.0) == 5 * 2.0


def test_a_search_that_takes_longer_than_its_evaluations_is_counted() -> None:
    assert seconds_left(JOB, DONE, 100.0, 0.5) == 75 * 0.5
    assert seconds_left(with_budget(evaluations=30), DONE, 100.0, 0.5) == 10 * 0.5
    assert seconds_left(JOB, DONE, 1.0, 0.5) == 75 * 2.0


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        ({"evaluations": 30}, 10 * 2.5),
        ({"cpu_seconds": 80.0}, 30.0),
        ({"wall_seconds": 25.0}, 15.0),
        ({"wall_seconds": 5.0}, 0.0),
        ({"trials": 1000, "cpu_seconds": 80.0, "wall_seconds": 900.0}, 30.0),
    ],
)
def test_the_first_budget_to_run_out_decides(budget: dict[str, float], left: float) -> None:
    assert seconds_left(with_budget(**budget), DONE, 1.0) == pytest.approx(left)


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert seconds_left(JOB, {}, 4.0) is None
    assert seconds_left(replace(JOB, evaluations=0), DONE, 4.0) is None
    assert seconds_left(JOB, DONE, 0.0) is None
    assert seconds_left(replace(with_budget(patience=5), space=None), DONE, 4.0) is None

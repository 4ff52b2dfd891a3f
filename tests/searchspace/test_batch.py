"""How many trials of a job are in flight."""

from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.job import load_job

JOB: dict[str, Any] = {
    "name": "cg",
    "application": {"builtin": "cg", "class": "S", "ranks": 4},
    "machine": {"nodes": 4, "degree": 2, "host_speed": "100Gf", "link_bandwidth": "40Gbps"},
    "search": {"topology": ["random", "torus-2d"]},
    "budget": {"trials": 10},
}


def test_a_number_holds_for_any_workers() -> None:
    assert load_job(JOB).with_batch(64).batch_size == 8
    assert load_job({**JOB, "batch": 3}).with_batch(64).batch_size == 3


@pytest.mark.parametrize(("slots", "batch"), [(0, 1), (1, 1), (24, 24), (5_000, 1_024)])
def test_auto_becomes_what_workers_evaluate_at_once(slots: int, batch: int) -> None:
    spec = load_job({**JOB, "batch": "auto"})
    assert spec.with_batch(slots).batch_size == batch
    assert load_job(spec.canonical()) == spec


def test_auto_is_no_more_than_the_job_may_evaluate_at_once() -> None:
    assert load_job({**JOB, "batch": "auto", "concurrency": 2}).with_batch(64).batch_size == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": "many"}, "batch: unknown value 'many'; allowed: auto"),
        ({"batch": 2_000}, "batch: must be less than or equal to 1024"),
        (
            {"batch": "auto", "external": "measurements"},
            "batch: no worker evaluates anything; say how many trials may be out at once",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_job({**JOB, **changes})

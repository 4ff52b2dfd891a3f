"""Counts of long jobs: of all trials, as the file of the table has them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.importance.model import MOST, importance
from service.outcomes import comparable
from service.runtime import Runtime
from service.statistics.model import MOST_VALUES
from storage.records import Outcome, TrialPoint
from tests.service.conftest import SPEC
from tests.service.seeded import seed

TRIALS = 10_000

Row = dict[str, str]


@pytest.fixture
def job(runtime: Runtime) -> str:
    """A job of ten thousand trials."""
    return seed(runtime.settings.database_url, runtime.storage, SPEC, TRIALS)


@pytest.fixture
def rows(client: TestClient, job: str) -> list[Row]:
    """What the file says of each trial."""
    text = client.get(f"/api/v1/jobs/{job}/table/csv").text
    return list(csv.DictReader(io.StringIO(text)))


def compared(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["state"] == "completed" and row["inside"] == "True"]


def names(row: Row) -> list[str]:
    """Of the parameters that trials chose."""
    prefix = "configuration."
    return [name.removeprefix(prefix) for name in row if name.startswith(prefix)]


def parsed(cell: str) -> int | str:
    return int(cell) if cell.isdecimal() else cell


def test_counts_are_those_of_the_file(client: TestClient, job: str, rows: list[Row]) -> None:
    found = client.get(f"/api/v1/jobs/{job}/statistics").json()
    assert found["trials"] == len(rows) == TRIALS
    assert found["states"] == dict(Counter(row["state"] for row in rows))
    assert found["cached"] == sum(row["cached"] == "True" for row in rows)
    assert found["compared"] == len(compared(rows))
    assert len(client.get(f"/api/v1/jobs/{job}/table?points=2500").json()["columns"]["number"]) < (
        TRIALS / 3
    )


def test_workers_are_those_of_the_file(client: TestClient, job: str, rows: list[Row]) -> None:
    found = client.get(f"/api/v1/jobs/{job}/statistics").json()["workers"]
    assert [one["worker"] for one in found] == [
        *sorted({row["worker"] for row in rows} - {""}),
        None,
    ]
    for one in found:
        own = [row for row in rows if row["worker"] == (one["worker"] or "")]
        took = [float(row["wall_seconds"]) for row in own if row["wall_seconds"]]
        assert (one["trials"], one["evaluated"]) == (len(own), len(took))
        assert one["busy_seconds"] == pytest.approx(sum(took))
        assert one["longest_seconds"] == max(took, default=0.0)


def test_the_fastest_of_each_value_is_that_of_the_file(
    client: TestClient, job: str, rows: list[Row]
) -> None:
    found = client.get(f"/api/v1/jobs/{job}/statistics").json()["parameters"]
    assert [one["name"] for one in found] == names(rows[0])
    for parameter in found:
        column = f"configuration.{parameter['name']}"
        by_value: dict[str, list[Row]] = {}
        for row in compared(rows):
            by_value.setdefault(row[column], []).append(row)
        assert parameter["different"] == len(by_value)
        expected = sorted(
            (float(fastest["value"]), int(fastest["number"]), value, len(own))
            for value, own in by_value.items()
            for fastest in [min(own, key=lambda row: float(row["value"]))]
        )
        assert [
            (one["seconds"], one["trial"], str(one["value"]), one["trials"])
            for one in parameter["values"]
        ] == expected[:MOST_VALUES]


def test_importance_is_that_of_the_file(client: TestClient, job: str, rows: list[Row]) -> None:
    found = client.get(f"/api/v1/jobs/{job}/importance").json()
    learnt = [
        ({name: parsed(row[f"configuration.{name}"]) for name in names(row)}, float(row["value"]))
        for row in compared(rows)
    ]
    censored = sum(1 for row in rows if (row["kind"], row["state"]) == ("search", "censored"))
    assert found == importance(learnt, censored=censored).model_dump()
    assert found["available"] == len(learnt)
    assert found["trials"] <= MOST
    assert found["parameters"][0]["name"] == "mpi"


@pytest.mark.parametrize("state", [None, "completed", "censored", "infeasible"])
def test_the_fastest_rows_are_those_of_the_file(
    client: TestClient, job: str, rows: list[Row], state: str | None
) -> None:
    asked: dict[str, Any] = {"order": "fastest", "skip": 150, "limit": 50}
    if state is not None:
        asked["state"] = state
    found = client.get(f"/api/v1/jobs/{job}/rows", params=asked).json()
    matching = [row for row in rows if state in (None, row["state"])]
    ranked = sorted(matching, key=rank)
    assert found["matching"] == len(matching)
    assert found["columns"]["number"] == [int(row["number"]) for row in ranked[150:200]]
    assert len(found["parameters"][0]["codes"]) == 50


def rank(row: Row) -> tuple[float, ...]:
    """Completed trials, then bounds, then those without a time."""
    groups = {"completed": 0.0, "censored": 1.0, "infeasible": 2.0}
    return (groups[row["state"]], float(row["value"] or 0), float(row["number"]))


def test_rows_are_the_newest_first_and_may_be_those_of_the_cache(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job = create_job()
    done, cached = (Outcome(status="completed", value=2.0, cached=flag) for flag in (False, True))
    add_trials(job, done, cached, None, cached, done)
    found = client.get(f"/api/v1/jobs/{job}/rows").json()
    assert found["columns"]["number"] == [5, 4, 2, 1]  # the third has no outcome yet
    found = client.get(f"/api/v1/jobs/{job}/rows", params={"cached": True}).json()
    assert (found["matching"], found["columns"]["number"]) == (2, [4, 2])
    assert client.get(f"/api/v1/jobs/{job}/rows", params={"skip": 9}).json()["matching"] == 4
    assert client.get(f"/api/v1/jobs/{job}/rows", params={"order": "odd"}).status_code == 422


def test_statistics_follow_a_job_that_runs(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job = create_job()
    assert client.get(f"/api/v1/jobs/{job}/statistics").json()["trials"] == 0
    add_trials(job, Outcome(status="completed", value=2.0), None)
    assert client.get(f"/api/v1/jobs/{job}/statistics").json()["trials"] == 1
    assert client.get("/api/v1/jobs/nothing/statistics").status_code == 404


def test_only_times_of_one_trace_are_compared() -> None:
    """Estimates on a truncated trace are not held against times of the whole."""

    def point(number: int, kind: Any, inside: bool, state: Any = "completed") -> TrialPoint:
        return TrialPoint(number, kind, None, inside, state, 1.0, False, 0.1, 2.0)

    whole = [
        point(1, "baseline", True),
        point(2, "baseline", False),
        point(3, "verification", True),
    ]
    assert [one.number for one in comparable(whole)] == [1, 3]
    estimates = [point(4, "search", False), point(5, "search", False, "censored")]
    assert [one.number for one in comparable([*whole, *estimates])] == [4]

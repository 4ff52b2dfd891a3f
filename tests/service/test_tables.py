import csv
import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pyarrow.parquet as parquet
import pytest
from fastapi.testclient import TestClient
from optuna.storages.journal import JournalFileBackend

from service.curves import endpoints as curves
from service.tables.study import optuna_study
from storage.errors import NotFound
from storage.records import Outcome
from storage.storage import Storage
from storage.view import StorageView

DONE = Outcome(status="completed", value=2.0, cpu_seconds=1.5, wall_seconds=1.0)
BETTER = Outcome(status="completed", value=1.0, cpu_seconds=0.5, wall_seconds=1.0)
CUT = Outcome(status="censored", value=1.0, cpu_seconds=0.25)
BROKEN = Outcome(status="failed", reason={"kind": "crash", "message": "it crashed"})
CACHED = Outcome(status="completed", value=1.5, cached=True)


@pytest.fixture
def job(create_job: Callable[..., str], add_trials: Callable[..., None]) -> str:
    """A job with a baseline, trials of every kind, and one that is open."""
    job_id = create_job()
    add_trials(job_id, DONE, BETTER, CUT, BROKEN, CACHED, None, baselines=("torus-2d",))
    return job_id


def table(client: TestClient, job: str, **query: Any) -> dict[str, Any]:
    response = client.get(f"/api/v1/jobs/{job}/table", params=query)
    assert response.status_code == 200, response.text
    return dict(response.json())


def decoded(column: dict[str, Any]) -> list[Any]:
    return [None if code < 0 else column["values"][code] for code in column["codes"]]


def test_the_table_has_a_row_for_each_trial_with_an_outcome(client: TestClient, job: str) -> None:
    found = table(client, job)
    columns = found["columns"]
    assert columns["number"] == [1, 2, 3, 4, 5]
    assert columns["value"] == [2.0, 1.0, 1.0, None, 1.5]
    assert columns["best"] == [2.0, 1.0, 1.0, 1.0, 1.0]
    assert columns["cpu_seconds"] == [1.5, 2.0, 2.25, 2.25, 2.25]
    assert columns["cached"] == [False, False, False, False, True]
    assert decoded(columns["state"]) == [
        "completed", "completed", "censored", "failed", "completed",
    ]  # fmt: skip
    assert decoded(columns["technique"]) == [None] + ["PureRandom"] * 4
    assert decoded(columns["label"]) == ["torus-2d"] + [None] * 4
    assert [trial["number"] for trial in found["open"]] == [6]
    assert found["total"] == 5
    assert found["gains"] == {"torus-2d": 2.0}
    seeds = next(p for p in found["parameters"] if p["name"] == "topology_seed")
    assert decoded(seeds) == [1, 2, 3, 4, 5]


def test_who_follows_a_job_asks_only_for_what_is_new(client: TestClient, job: str) -> None:
    later = table(client, job, after=3)
    assert later["columns"]["number"] == [4, 5]
    assert later["columns"]["best"] == [1.0, 1.0]  # of all trials, not of those shown
    assert later["columns"]["cpu_seconds"] == [2.25, 2.25]
    assert later["total"] == 5


def test_the_cursor_of_the_table_leads_to_the_events_after_it(
    client: TestClient, storage: Storage, job: str
) -> None:
    cursor = table(client, job)["cursor"]
    assert storage.events.after(cursor, job_id=job) == []
    client.post(f"/api/v1/jobs/{job}/cancel")
    assert [event.data["state"] for event in storage.events.after(cursor, job_id=job)] == [
        "cancelling"
    ]


@pytest.mark.parametrize("truncated", [False, True])
def test_a_long_table_is_thinned_but_keeps_its_steps(
    client: TestClient,
    create_job: Callable[..., str],
    add_trials: Callable[..., None],
    truncated: bool,
) -> None:
    job = create_job()
    values = [100.0 - 5 * (number // 20) for number in range(100)]
    outcomes = [Outcome(status="completed", value=value) for value in values]
    add_trials(job, *outcomes, truncated=truncated)
    found = table(client, job, points=20)
    assert len(found["columns"]["number"]) == 20
    assert {1, 21, 41, 61, 81, 100} <= set(found["columns"]["number"])
    assert found["total"] == 100


def test_a_long_table_keeps_its_baselines(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job = create_job()
    labels = tuple(f"baseline {number}" for number in range(1, 9))
    # No step of the best: each is slower than the one before, the best is the last.
    values = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, *[20.0] * 91, 1.0]
    outcomes = [Outcome(status="completed", value=value) for value in values]
    add_trials(job, *outcomes, baselines=labels)
    columns = table(client, job, points=12)["columns"]
    assert [label for label in decoded(columns["label"]) if label is not None] == list(labels)
    assert len(columns["number"]) == 12


def test_csv_has_a_line_for_each_trial(client: TestClient, job: str) -> None:
    response = client.get(f"/api/v1/jobs/{job}/table/csv")
    assert response.headers["content-disposition"] == f'attachment; filename="{job}-trials.csv"'
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [row["state"] for row in rows] == [
        "completed", "completed", "censored", "failed", "completed", "pending",
    ]  # fmt: skip
    assert rows[3]["reason"] == "it crashed"
    assert rows[1]["configuration.topology"] == "random"


def test_parquet_without_its_library_is_told_plainly(
    client: TestClient, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = client.get(f"/api/v1/jobs/{job}/table/parquet")
    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        "format: this service has no pyarrow, which parquet needs; install it there, or ask for csv"
    )


def test_parquet_has_types(client: TestClient, job: str) -> None:
    content = client.get(f"/api/v1/jobs/{job}/table/parquet").content
    found = parquet.read_table(io.BytesIO(content))
    assert found.column("value").to_pylist() == [2.0, 1.0, 1.0, None, 1.5, None]
    assert str(found.schema.field("cached").type) == "bool"
    assert found.column("configuration.topology_seed").to_pylist() == [1, 2, 3, 4, 5, 6]
    assert found.schema.metadata[b"hamtune.job"] == job.encode()


def study_in(path: Path, content: bytes) -> optuna.Study:
    path.write_bytes(content)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    (name,) = optuna.get_all_study_names(storage)
    return optuna.load_study(study_name=name, storage=storage)


def test_optuna_reads_its_study(client: TestClient, job: str, tmp_path: Path) -> None:
    content = client.get(f"/api/v1/jobs/{job}/table/optuna").content
    study = study_in(tmp_path / "study.log", content)
    assert study.best_value == 1.0
    assert study.best_params == {"topology": "random", "topology_seed": 2}
    assert [trial.state.name for trial in study.trials] == [
        "COMPLETE", "COMPLETE", "PRUNED", "FAIL", "COMPLETE", "WAITING",
    ]  # fmt: skip
    assert study.trials[2].intermediate_values == {0: 1.0}
    assert study.trials[0].user_attrs["label"] == "torus-2d"
    assert study.trials[0].user_attrs["fidelity"] == "full"


def test_to_write_a_study_does_not_wait_for_the_disk(
    client: TestClient, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        waits: list[int] = []
        patch.setattr(os, "fsync", waits.append)
        response = client.get(f"/api/v1/jobs/{job}/table/optuna")
    assert response.status_code == 200
    assert waits == []


def test_a_study_tells_permutations_beside_the_parameters(
    storage: Storage, job: str, tmp_path: Path
) -> None:
    orders = [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0]]
    trials = [
        replace(trial, configuration={"mapping": order, "topology": "random"})
        for trial, order in zip(storage.trials.of_job(job, limit=10), orders, strict=True)
    ]
    content = optuna_study(storage.jobs.get(job), trials)
    study = study_in(tmp_path / "study.log", content)
    told = [trial.user_attrs["configuration.mapping"] for trial in study.trials]
    assert [json.loads(order) for order in told] == orders
    assert [trial.params for trial in study.trials] == [{"topology": "random"}] * len(orders)
    for order in told:  # each with its own trial alone
        assert content.count(order.encode()) == 1


def test_a_file_may_have_the_trials_of_some_states(client: TestClient, job: str) -> None:
    url = f"/api/v1/jobs/{job}/table/csv"
    text = client.get(url, params={"state": ["failed", "censored"]}).text
    assert [row["number"] for row in csv.DictReader(io.StringIO(text))] == ["3", "4"]
    assert client.get(url, params={"state": "infeasible"}).text.count("\n") == 1  # the names
    assert client.get(url, params={"state": "lost"}).status_code == 422


def test_other_formats_are_refused(client: TestClient, job: str) -> None:
    response = client.get(f"/api/v1/jobs/{job}/table/xls")
    assert response.status_code == 422
    assert response.json()["detail"] == (
        "format: unknown table format 'xls'; allowed: csv, parquet, optuna"
    )


def test_an_empty_job_has_an_empty_table(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    job = create_job()
    found = table(client, job)
    assert found["columns"]["number"] == found["parameters"] == found["open"] == []
    for name in ("csv", "parquet", "optuna"):
        assert client.get(f"/api/v1/jobs/{job}/table/{name}").status_code == 200


def test_curves_are_the_steps_of_each_job(
    client: TestClient, create_job: Callable[..., str], job: str
) -> None:
    idle = create_job(name="idle")
    found = client.get("/api/v1/curves", params={"job": [job, idle, "nothere"]}).json()["items"]
    assert [curve["job_id"] for curve in found] == [job, idle]
    assert found[0]["trial"] == [1, 2, 5]
    assert found[0]["best"] == [2.0, 1.0, 1.0]
    assert (found[0]["baseline_label"], found[0]["gain"]) == ("torus-2d", 2.0)
    assert found[0]["error"] == client.get(f"/api/v1/jobs/{job}/best").json()["error"]
    assert found[1]["trial"] == []
    assert found[1]["gain"] is None


def test_what_is_measured_later_is_the_error_everywhere(
    client: TestClient, storage: Storage, job: str
) -> None:
    leased = storage.leases.acquire("test", 60.0, job)
    assert leased is not None
    storage.jobs.transition(job, "completed", token=leased.lease_token)
    before = table(client, job)["error"]
    for number, took in enumerate((1.5, 3.1, 4.6), start=1):
        answer = client.post(
            f"/api/v1/jobs/{job}/measured",
            json={
                "label": f"trial {number}",
                "simulated": float(number),
                "cluster": "b",
                "outcomes": [{"seconds": took}],
            },
        )
        assert answer.status_code == 201, answer.text
    (curve,) = client.get("/api/v1/curves", params={"job": job}).json()["items"]
    best = client.get(f"/api/v1/jobs/{job}/best").json()
    assert table(client, job)["error"] == curve["error"] == best["error"] != before


def test_a_job_that_is_deleted_meanwhile_leaves_the_others_their_curves(
    client: TestClient, create_job: Callable[..., str], job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = create_job(name="idle")
    steps = curves._steps

    def gone(storage: StorageView, job_id: str) -> curves.Curve:
        if job_id == idle:
            raise NotFound("there is no such job")
        return steps(storage, job_id)

    monkeypatch.setattr(curves, "_steps", gone)
    found = client.get("/api/v1/curves", params={"job": [idle, job]}).json()["items"]
    assert [curve["job_id"] for curve in found] == [job]


def test_jobs_are_found_by_a_part_of_their_name(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    create_job(name="Large 100% torus")
    other = create_job(name="small")

    def found(text: str) -> list[str]:
        page = client.get("/api/v1/jobs", params={"search": text}).json()
        return [job["name"] for job in page["items"]]

    assert found("TORUS") == ["Large 100% torus"]
    assert found("0%") == ["Large 100% torus"]
    assert found("%") == ["Large 100% torus"]
    assert found(other[:10]) == ["small"]
    assert found("nothing") == []

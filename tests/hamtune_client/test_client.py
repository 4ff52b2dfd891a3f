import asyncio
import inspect
import io
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import matplotlib.pyplot as plt
import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from cli.in_process import InProcess
from hamtune_client import (
    Application,
    ApplicationRecord,
    AskedTrial,
    AsyncApplication,
    AsyncAskedTrial,
    AsyncClient,
    AsyncJob,
    AuditEntry,
    Best,
    BestSoFar,
    Check,
    Client,
    Convergence,
    Deletion,
    Delivery,
    Event,
    HamtuneClientError,
    Job,
    JobRecord,
    Key,
    MachineRecord,
    Measured,
    Measurement,
    NewKey,
    NewSubscription,
    Outlook,
    OutlookPoint,
    Progress,
    ProjectRecord,
    Refused,
    Replay,
    RunningTrial,
    Session,
    Subscription,
    Trial,
    Unreachable,
)
from hamtune_client.calls import Call
from service.app import create_app
from service.runtime import Runtime
from storage.storage import Storage
from tests.service.conftest import SPEC


@pytest.mark.parametrize(
    ("model", "schema"),
    [
        (JobRecord, "JobView"),
        (Progress, "Progress"),
        (BestSoFar, "BestSoFar"),
        (Best, "BestView"),
        (Trial, "TrialDetail"),
        (Replay, "Replay"),
        (ApplicationRecord, "ApplicationView"),
        (MachineRecord, "MachineView"),
        (Check, "CheckView"),
        (Convergence, "ConvergenceView"),
        (Measured, "MeasuredList"),
        (Measurement, "MeasurementView"),
        (RunningTrial, "RunningTrial"),
        (Session, "SessionView"),
        (Deletion, "Deletion"),
        (Key, "KeyView"),
        (NewKey, "NewKeyView"),
        (Outlook, "OutlookView"),
        (OutlookPoint, "OutlookPoint"),
        (AuditEntry, "AuditView"),
        (ProjectRecord, "ProjectView"),
        (Subscription, "SubscriptionView"),
        (NewSubscription, "NewSubscriptionView"),
        (Delivery, "DeliveryView"),
    ],
)
def test_models_are_those_of_the_interface(
    client: TestClient, model: type[BaseModel], schema: str
) -> None:
    described = client.get("/api/v1/openapi.json").json()["components"]["schemas"][schema]
    assert set(model.model_fields) <= set(described["properties"])
    for name, field in model.model_fields.items():
        kinds = {one.get("type") for one in described["properties"][name].get("anyOf", [])}
        nullable = "null" in kinds
        assert (type(None) in getattr(field.annotation, "__args__", ())) == nullable, name


def test_models_read_the_examples_of_the_interface(client: TestClient) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    models: dict[str, type[BaseModel]] = {
        "/api/v1/jobs/{job_id}": JobRecord,
        "/api/v1/jobs/{job_id}/best": Best,
        "/api/v1/jobs/{job_id}/trials/{number}": Trial,
        "/api/v1/jobs/{job_id}/trials/{number}/replay": Replay,
    }
    for path, model in models.items():
        answer = next(iter(paths[path].values()))["responses"]["200"]["content"]["application/json"]
        model.model_validate(answer["example"])


def test_a_job_is_submitted_steered_and_listed(hamtune: Client, tmp_path: Path) -> None:
    job = hamtune.submit(SPEC)
    assert job.state == "queued"
    assert job.pause().state == "paused"
    assert job.wait(timeout=300).state == "paused"
    assert job.resume().state == "queued"
    assert job.prioritise("high").record.model_dump()["priority"] == "high"
    assert job.describe(note="new cables", tags=["spring"]).record.tags == ["spring"]
    assert job.describe(tags=[]).record.model_dump(include={"note", "tags"}) == {
        "note": "new cables", "tags": [],
    }  # fmt: skip
    copy = job.clone({"name": "copy", "seed": 7})
    assert (copy.name, copy.record.seed) == ("copy", 7)
    unnamed = job.clone({"seed": 8})
    assert unnamed.name == "cg-16-2"
    unnamed.cancel().delete(now=True)
    assert [one.name for one in hamtune.jobs()] == ["copy", "cg-16"]
    assert [one.id for one in hamtune.jobs(search="cop")] == [copy.id]
    assert copy.cancel().archive().record.archived_at is not None
    assert [one.name for one in hamtune.jobs()] == ["cg-16"]
    assert [one.name for one in hamtune.jobs(archived="only")] == ["copy"]
    assert copy.archive(False).record.archived_at is None
    deletion = copy.delete()
    assert deletion.restore == f"hamtune restore {copy.id}"
    with pytest.raises(Refused, match="was deleted; 'hamtune restore"):
        copy.refresh()
    (gone,) = hamtune.list_jobs(deleted="only")
    assert (gone.id, gone.record.restorable_until) == (copy.id, deletion.restorable_until)
    assert gone.restore().state == "cancelled"
    copy.delete()
    assert hamtune.restore("copy").id == hamtune.restore(copy.id).id == copy.id
    assert copy.delete(now=True).restorable_until is None
    assert list(hamtune.jobs(deleted="only")) == []
    with pytest.raises(Refused, match="there is no job"):
        copy.restore()
    assert [one.id for one in hamtune.jobs(state="queued")] == [job.id]
    path = tmp_path / "job.yaml"
    path.write_text("name: from a file\n" + _yaml_of_spec())
    assert hamtune.submit(path).name == "from a file"
    assert hamtune.submit(path.read_text()).name == "from a file"


def _yaml_of_spec() -> str:
    return "".join(f"{name}: {value}\n" for name, value in SPEC.items() if name != "name").replace(
        "'", '"'
    )


def test_results_are_read(hamtune: Client, job: Job) -> None:
    best = job.best()
    assert (best.value, best.speedup, best.trial) == (1.0, 2.0, 3)
    assert [trial.number for trial in job.trials()] == [1, 2, 3, 4]
    assert [trial.number for trial in job.trials(state="censored")] == [4]
    assert job.trial(1).label == "torus-2d"
    assert job.table("csv").startswith(b"number,")
    assert job.table("csv", state=["censored", "failed"]).count(b"\n") == 1 + len(
        list(job.trials(state=["censored", "failed"]))
    )
    assert job.importance().note == "3 completed trials of the search space: at least 12 are needed"
    front = job.front("power", reference=(3.0, 1e9))
    assert [(one.trial, one.value) for one in front.points] == [(3, 1.0)]
    assert front.hypervolume == (3.0 - 1.0) * (1e9 - front.points[0].power)
    counted = job.statistics()
    assert (counted.trials, counted.states["censored"]) == (4, 1)
    assert [(one.name, one.values[0].trial) for one in counted.parameters] == [("topology_seed", 3)]
    assert repr(job.refresh()).endswith("running, best 1 s>")


def test_files_of_a_program_are_listed_and_read(
    hamtune: Client, job: Job, runtime: Runtime, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="no application yet"):
        job.files()
    archive = tmp_path / "left.tar"
    with tarfile.open(archive, "w") as tar:
        content = tarfile.TarInfo("out/result one.txt")
        content.size = 3
        tar.addfile(content, io.BytesIO(b"VE="))
    storage = runtime.storage
    kept: dict[str, Any] = {"sha256": storage.artifacts.put(archive), "left_out": []}
    kept["files"] = [{"path": "out/result one.txt", "bytes": 3}]
    application = storage.applications.add_source(name="solver", key="solver", recipe={}, ranks=4)
    assert storage.applications.claim_capture(application.id, "worker", silence_seconds=1.0)
    storage.applications.report_capture(application.id, "worker", output_files=kept)
    storage.jobs.set_application(job.id, application.id)

    assert job.files() == {"out/result one.txt": 3}
    assert job.file("out/result one.txt") == b"VE="


def test_exports_and_replays_are_asked_for_with_all_that_they_take(job: Job) -> None:
    # Nothing of the job was captured, which both are refused for.
    with pytest.raises(Refused, match="nothing to export"):
        job.export(
            "openmpi", hosts="n[01-16]", target="openmpi-4.1", nearest=True, name="README.txt"
        )
    with pytest.raises(Refused, match="unknown target"):
        job.export("openmpi", target="lam")
    with pytest.raises(Refused, match="no application to replay"):
        job.replay(3)


def test_trials_become_a_data_frame_and_a_figure(job: Job) -> None:
    frame = job.to_dataframe()
    assert list(frame.index) == [1, 2, 3, 4]
    assert frame.loc[3, "value"] == 1.0
    assert frame.loc[1, "label"] == "torus-2d"
    assert frame["configuration.topology_seed"].tolist() == [1, 2, 3, 4]
    axes = job.plot()
    best = next(line for line in axes.lines if line.get_label() == "best so far")
    assert best.get_ydata().tolist() == [2.0, 1.0]
    plt.close(axes.figure)


def test_a_figure_needs_no_pandas(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    axes = job.plot()
    assert axes.get_title() == job.name
    plt.close(axes.figure)
    with pytest.raises(HamtuneClientError, match="pip install pandas"):
        job.to_dataframe()


def test_events_come_to_an_end_with_the_job(hamtune: Client, storage: Storage) -> None:
    job = hamtune.submit(SPEC)
    job.cancel()
    events = list(job.events())
    assert all(isinstance(event, Event) for event in events)
    assert [event.data["state"] for event in events] == ["queued", "cancelled"]
    assert list(job.events(after=events[0].id)) == events[1:]


def test_refusals_name_the_fields(hamtune: Client) -> None:
    with pytest.raises(Refused) as refused:
        hamtune.submit({**SPEC, "budget": {"trials": 0}})
    assert refused.value.status == 422
    assert refused.value.errors[0][0] == "budget.trials"
    with pytest.raises(Refused, match="there is no job nothere"):
        hamtune.job("nothere")
    with pytest.raises(HamtuneClientError, match="is queued after 0"):
        hamtune.submit(SPEC).wait(timeout=0)


def test_a_broken_connection_creates_one_job_only(runtime: Runtime, storage: Storage) -> None:
    inner = InProcess(create_app(runtime))

    class Breaking(httpx.BaseTransport):
        answers = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = inner.handle_request(request)
            self.answers += 1
            if self.answers == 1:
                raise httpx.ReadError("cut")
            return response

        def close(self) -> None:
            inner.close()

    with Client("http://localhost", transport=Breaking()) as client:
        client.submit(SPEC)
    assert len(storage.jobs.page().items) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_cannot_be_answered_now_is_asked_again(status: int) -> None:
    answers = [status, status, 200]

    def answer(_: httpx.Request) -> httpx.Response:
        found = httpx.Response(answers.pop(0), json={"items": [], "cursor": None})
        found.headers["Retry-After"] = "0"
        return found

    with Client("http://127.0.0.1:9", transport=httpx.MockTransport(answer)) as client:
        assert list(client.jobs()) == []
    assert answers == []


@pytest.mark.parametrize(
    ("status", "asked", "safe", "attempt", "pause"),
    [
        (503, "5", True, 1, 5.0),
        (503, "", True, 2, 1.0),
        (503, "Wed, 21 Oct 2026 07:28:00 GMT", True, 1, 0.5),
        (503, "5", False, 1, None),
        (503, "5", True, 3, None),
        (429, "300", True, 1, None),
        (404, "", True, 1, None),
        (500, "", True, 1, None),
    ],
)
def test_whether_and_when_a_call_is_worth_another_try(
    status: int, asked: str, safe: bool, attempt: int, pause: float | None
) -> None:
    call = Call("GET", "/jobs", lambda _: None, safe=safe)
    assert call.pause(httpx.Response(status, headers={"Retry-After": asked}), attempt) == pause


def test_a_service_that_is_away_is_said() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    client = Client("http://127.0.0.1:9", transport=httpx.MockTransport(refuse))
    with pytest.raises(Unreachable, match=r"no answer from http://127\.0\.0\.1:9") as away:
        client.job("x")
    assert away.value.__suppress_context__  # one line, not the story of three libraries


def test_a_password_in_a_url_is_not_shown() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            raise httpx.ConnectError("refused")
        return httpx.Response(502, text="<html>")

    client = Client("http://me:hunter2@127.0.0.1:9", transport=httpx.MockTransport(answer))
    with pytest.raises(Unreachable) as away:
        client.session()
    with pytest.raises(Refused, match="answers 502") as refused:
        client.check(SPEC)
    for error in (away.value, refused.value):
        assert "hunter2" not in str(error) and "127.0.0.1" in str(error)


@pytest.mark.parametrize("answer", ["<html>", "[]", '{"items": 5}', '{"jobs": []}'])
def test_another_service_under_the_url_is_said(answer: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text=answer))
    with Client("http://127.0.0.1:9", transport=transport) as client:
        for ask in (client.session, lambda: list(client.jobs())):
            with pytest.raises(HamtuneClientError, match="does not answer as Hamtune does"):
                ask()


def test_the_key_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json={"items": [], "cursor": None})

    monkeypatch.setenv("HAMTUNE_API_KEY", "ht_b")
    for key in ("ht_a", None):
        list(Client(key=key, transport=httpx.MockTransport(answer)).jobs())
    assert seen == ["Bearer ht_a", "Bearer ht_b"]


def test_the_asynchronous_client_does_the_same(
    runtime: Runtime, job: Job, add_trials: Callable[..., None]
) -> None:
    async def use() -> dict[str, Any]:
        transport = httpx.ASGITransport(create_app(runtime))
        async with AsyncClient("http://localhost", transport=transport) as client:
            same = await client.job(job.id)
            other = await client.submit(SPEC)
            await other.cancel()
            return {
                "best": (await same.best()).value,
                "trials": [trial.number async for trial in same.trials()],
                "frame": list((await same.to_dataframe()).index),
                "states": [event.data["state"] async for event in other.events()],
                "names": [one.name async for one in client.jobs()],
                "waited": (await other.wait()).state,
            }

    assert asyncio.run(use()) == {
        "best": 1.0,
        "trials": [1, 2, 3, 4],
        "frame": [1, 2, 3, 4],
        "states": ["queued", "cancelled"],
        "names": ["cg-16", "cg-16"],
        "waited": "cancelled",
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Client, AsyncClient),
        (Job, AsyncJob),
        (Application, AsyncApplication),
        (AskedTrial, AsyncAskedTrial),
    ],
)
def test_both_clients_have_the_same_methods(one: type, other: type) -> None:
    def methods(owner: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(owner, inspect.isfunction)
            if not name.startswith("_")
        }

    assert methods(one) == methods(other)

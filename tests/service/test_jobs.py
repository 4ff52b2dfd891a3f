from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

from searchspace.job import load_job, load_new_job
from service.jobs.service import merge
from storage.records import JobState, Outcome
from storage.storage import Storage

URL = "/api/v1/jobs"


def test_a_pattern_is_accepted_in_its_one_form(client: TestClient, spec: dict[str, Any]) -> None:
    pattern = {"pattern": "alltoall", "ranks": 8, "size": "64kB", "count": 10, "rate": 50}
    job = client.post(URL, json={**spec, "application": pattern}).json()
    assert job["spec"]["application"] == {
        "pattern": "all-to-all", "ranks": 8, "size": 64000, "count": 10, "rate": 50,
        "host_speed": 1e9,
    }  # fmt: skip


def test_a_job_is_created_from_json_and_from_yaml(client: TestClient, spec: dict[str, Any]) -> None:
    response = client.post(URL, json=spec)
    assert response.status_code == 201
    job = response.json()
    assert job["state"] == "queued"
    assert job["spec"] == load_new_job(spec).canonical()
    assert job["progress"] == {
        "trials": {}, "finished": 0, "kinds": {}, "evaluations": 0, "cpu_seconds": 0.0,
        "best": None, "measuring": None, "outlook": None, "capture": None, "failures": [],
    }  # fmt: skip
    assert client.get(response.headers["location"]).json() == job
    again = client.post(
        URL, content=yaml.safe_dump(spec), headers={"Content-Type": "application/yaml"}
    ).json()
    assert again["id"] != job["id"]
    assert again["spec"] == job["spec"]


def test_a_repeated_request_with_its_key_creates_one_job(
    client: TestClient, spec: dict[str, Any]
) -> None:
    headers = {"Idempotency-Key": "abc"}
    first, second = (client.post(URL, json=spec, headers=headers).json() for _ in range(2))
    assert first == second
    assert len(client.get(URL).json()["items"]) == 1


def test_a_job_may_refer_to_an_uploaded_trace_and_a_stored_machine(
    client: TestClient, spec: dict[str, Any], trace: Path
) -> None:
    application = client.post(
        "/api/v1/applications",
        content=trace.read_bytes(),
        headers={"Content-Type": "application/octet-stream"},
    ).json()
    machine = client.post("/api/v1/machines", json={"name": "m", "machine": spec["machine"]}).json()
    response = client.post(
        URL,
        json={**spec, "application": {"id": application["id"]}, "machine": {"id": machine["id"]}},
    )
    assert response.status_code == 201, response.text
    job = response.json()
    assert job["application_id"] == application["id"]
    # The job holds the machine itself, so that what it means cannot change.
    assert job["spec"]["machine"] == {**machine["machine"], "network": "fluid"}


def test_a_job_of_a_stored_machine_says_what_parts_cost_today(
    client: TestClient, spec: dict[str, Any]
) -> None:
    machine = client.post("/api/v1/machines", json={"name": "m", "machine": spec["machine"]}).json()
    stored = {**spec, "machine": {"id": machine["id"]}}
    plain = client.post(URL, json=stored).json()
    assert "parts" not in plain["spec"]["machine"]
    job = client.post(URL, json={**stored, "objective": ["time", "cost"]}).json()
    assert job["spec"]["machine"]["parts"]["switches"][0] == {
        "radix": 4,
        "price": 1000,
        "watts": 20,
    }
    clone = client.post(f"{URL}/{plain['id']}/clone", json={"constraints": {"cost": 1e9}}).json()
    assert clone["spec"]["machine"]["parts"] == job["spec"]["machine"]["parts"]


@pytest.mark.parametrize("said", [{}, {"network": "fluid"}, {"network": "packets"}])
def test_the_specification_of_a_new_job_says_its_network_model(
    client: TestClient, spec: dict[str, Any], said: dict[str, str]
) -> None:
    spec = {**spec, "machine": {**spec["machine"], **said}}
    network = said.get("network", "auto")
    job = client.post(URL, json=spec).json()
    assert job["spec"]["machine"]["network"] == network
    assert client.post(f"{URL}/check", json=spec).json()["spec"] == job["spec"]
    assert client.post(URL, json=job["spec"]).json()["spec"] == job["spec"]
    cloned = client.post(f"{URL}/{job['id']}/clone", json={"seed": 2}).json()
    assert cloned["spec"]["machine"]["network"] == network


def test_a_clone_of_an_older_job_keeps_its_network_model(
    client: TestClient, storage: Storage, spec: dict[str, Any]
) -> None:
    older = storage.jobs.create(name="older", spec=spec, seed=1)
    clone = f"{URL}/{older.id}/clone"
    assert client.post(clone).json()["spec"]["machine"]["network"] == "fluid"
    changes = {"machine": {"network": "auto"}}
    assert client.post(clone, json=changes).json()["spec"]["machine"]["network"] == "auto"
    assert client.get(f"{URL}/{older.id}").json()["spec"] == spec


def test_a_network_model_that_a_clone_clears_is_that_of_new_jobs(
    client: TestClient, storage: Storage, spec: dict[str, Any]
) -> None:
    older = storage.jobs.create(name="older", spec=spec, seed=1)
    cleared = {"machine": {"network": None}}
    clone = client.post(f"{URL}/{older.id}/clone", json=cleared).json()
    assert clone["spec"]["machine"]["network"] == load_new_job(spec).described_machine.network


def test_a_clone_may_go_back_to_the_fluid_model(
    client: TestClient, create_job: Callable[..., str], spec: dict[str, Any]
) -> None:
    changes = {"machine": {"network": "fluid"}}
    cloned = client.post(f"{URL}/{create_job()}/clone", json=changes).json()
    assert cloned["spec"] == {**load_job(spec).canonical(), "name": cloned["name"]}


def test_jobs_are_listed_by_pages_newest_first(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    ids = [create_job(name=f"job {number}") for number in range(5)]
    found, cursor = [], None
    for _ in range(3):
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = client.get(URL, params=query).json()
        found += [job["id"] for job in page["items"]]
        cursor = page["cursor"]
    assert cursor is None
    assert found == ids[::-1]


def test_jobs_are_filtered_by_state_and_name(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    first, second = create_job(name="a"), create_job(name="b")
    client.post(f"{URL}/{second}/cancel")

    def ids(query: str) -> list[str]:
        return [job["id"] for job in client.get(f"{URL}?{query}").json()["items"]]

    assert ids("state=queued") == [first]
    assert ids("state=queued&state=cancelled") == [second, first]
    assert ids("name=b") == [second]
    assert ids("name=c") == []


def test_progress_tells_why_trials_failed(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    reason = {"kind": "memory", "message": "the simulation needs more memory than allowed"}
    add_trials(job_id, *[Outcome(status="failed", reason=reason)] * 2)

    for job in (client.get(f"{URL}/{job_id}").json(), client.get(URL).json()["items"][0]):
        assert job["progress"]["failures"] == [{**reason, "trials": 2}]


def test_progress_tells_trials_costs_and_the_incumbent(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    job_id = create_job()
    add_trials(
        job_id,
        Outcome(status="completed", value=2.0, cpu_seconds=0.5),
        Outcome(status="completed", value=1.5, cpu_seconds=0.25),
        Outcome(status="censored", value=1.5, cpu_seconds=0.25),
        Outcome(status="completed", value=1.75, cached=True),
        None,
    )
    job = client.get(f"{URL}/{job_id}").json()
    assert job["state"] == "running"
    assert job["progress"] == {
        "trials": {"completed": 3, "censored": 1, "pending": 1},
        "finished": 4,
        "kinds": {"search": 4},
        "evaluations": 3,
        "cpu_seconds": 1.0,
        "best": {"trial": 2, "value": 1.5},
        "measuring": None,
        "outlook": None,
        "capture": None,
        "failures": [],
    }


def test_a_priority_is_changed_until_the_job_has_ended(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    job_id = create_job()
    url = f"{URL}/{job_id}/priority"

    assert client.put(url, json={"priority": "high"}).json()["priority"] == "high"
    job = client.get(f"{URL}/{job_id}").json()
    assert (job["priority"], job["spec"].get("priority", "normal")) == ("high", "normal")
    wrong = client.put(url, json={"priority": "urgent"})
    assert wrong.status_code == 422
    assert "low" in wrong.json()["detail"]
    assert client.put(url, json={}).status_code == 422
    assert client.put(f"{URL}/nothing/priority", json={"priority": "low"}).status_code == 404
    client.post(f"{URL}/{job_id}/cancel")
    late = client.put(url, json={"priority": "low"})
    assert late.status_code == 409
    assert "cancelled" in late.json()["detail"]


def test_a_job_is_renamed_written_on_and_tagged(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    job_id = create_job()
    url = f"{URL}/{job_id}"
    before = client.get(url).json()

    noted = client.patch(url, json={"note": "new cables,\nsee the plan", "tags": [" b ", "a", "a"]})
    assert noted.json() == {**before, "note": "new cables,\nsee the plan", "tags": ["a", "b"]}
    renamed = client.patch(url, json={"name": "another name"}).json()
    assert (renamed["name"], renamed["tags"], renamed["spec"]) == (
        "another name", ["a", "b"], before["spec"],
    )  # fmt: skip
    assert [job["id"] for job in client.get(URL, params={"tag": "a"}).json()["items"]] == [job_id]
    assert client.get(URL, params={"tag": "c"}).json()["items"] == []
    copy = client.post(f"{url}/clone", json={"seed": 9}).json()
    assert (copy["name"], copy["note"], copy["tags"]) == ("another name-2", "", [])


@pytest.mark.parametrize("name", ["two\nlines", "\x1b[2J", "\x9b2J", "", "n" * 201])
def test_a_name_that_terminals_would_obey_or_that_is_too_long_is_refused(
    name: str, client: TestClient, create_job: Callable[..., str]
) -> None:
    refused = client.patch(f"{URL}/{create_job()}", json={"name": name})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "name"


def test_an_archived_job_is_left_out_of_lists_and_comes_back(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    job_id, other = create_job(), create_job()
    url = f"{URL}/{job_id}"

    def listed(**query: str) -> list[str]:
        return [job["id"] for job in client.get(URL, params=query).json()["items"]]

    early = client.patch(url, json={"archived": True})
    assert early.status_code == 409
    assert "pause or cancel it before archiving it" in early.json()["detail"]
    client.post(f"{url}/cancel")
    assert client.patch(url, json={"archived": True}).json()["archived_at"] > 0
    assert listed() == listed(archived="exclude") == [other]
    assert listed(archived="only") == [job_id]
    assert listed(archived="include") == [other, job_id]
    assert client.get(URL, params={"archived": "perhaps"}).status_code == 422
    assert client.get(url).json()["archived_at"] > 0
    assert client.patch(url, json={"archived": False}).json()["archived_at"] is None
    assert listed() == [other, job_id]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"note": "\x00"}, "note"),
        ({"note": "a" * 10_001}, "note"),
        ({"tags": ["a,b"]}, "tags.0"),
        ({"tags": ["a", "  "]}, "tags.1"),
        ({"tags": [f"tag {number}" for number in range(21)]}, "tags"),
        ({"notes": "x"}, "notes"),
    ],
)
def test_a_wrong_description_of_a_job_changes_nothing(
    client: TestClient, create_job: Callable[..., str], changes: dict[str, Any], field: str
) -> None:
    url = f"{URL}/{create_job()}"
    before = client.get(url).json()

    refused = client.patch(url, json={"note": "fine", **changes})

    assert refused.status_code == 422
    assert [error["field"] for error in refused.json()["errors"]] == [field]
    assert client.get(url).json() == before
    assert client.patch(f"{URL}/nothing", json={"note": "x"}).status_code == 404


def put_in_state(storage: Storage, job_id: str, state: JobState) -> None:
    paths: dict[JobState, tuple[JobState, ...]] = {
        "queued": (),
        "preparing": ("preparing",),
        "running": ("running",),
        "pausing": ("running", "pausing"),
        "paused": ("paused",),
        "completed": ("running", "completed"),
        "failed": ("failed",),
        "cancelling": ("running", "cancelling"),
        "cancelled": ("cancelled",),
    }
    for step in paths[state]:
        storage.jobs.transition(job_id, step)


@pytest.mark.parametrize(
    ("state", "pause", "resume", "cancel", "delete"),
    [
        ("queued", "paused", "queued", "cancelled", 409),
        ("preparing", "pausing", "preparing", "cancelling", 409),
        ("running", "pausing", "running", "cancelling", 409),
        ("pausing", "pausing", "queued", "cancelling", 409),
        ("paused", "paused", "queued", "cancelled", 200),
        ("completed", 409, 409, 409, 200),
        ("failed", 409, 409, 409, 200),
        ("cancelling", 409, 409, "cancelling", 409),
        ("cancelled", 409, 409, "cancelled", 200),
    ],
)
def test_what_can_be_done_depends_on_the_state(
    client: TestClient,
    storage: Storage,
    create_job: Callable[..., str],
    state: JobState,
    pause: object,
    resume: object,
    cancel: object,
    delete: int,
) -> None:
    for action, expected in (("pause", pause), ("resume", resume), ("cancel", cancel)):
        job_id = create_job()
        put_in_state(storage, job_id, state)
        for _ in range(2):  # asking twice is as good as once
            response = client.post(f"{URL}/{job_id}/{action}")
            if expected == 409:
                assert response.status_code == 409
                assert state in response.json()["detail"]
            else:
                assert response.json()["state"] == expected
    job_id = create_job()
    put_in_state(storage, job_id, state)
    assert client.delete(f"{URL}/{job_id}").status_code == delete
    assert client.get(f"{URL}/{job_id}").status_code == (404 if delete == 200 else 200)


def test_a_clone_is_a_new_job_with_the_same_file(
    client: TestClient, create_job: Callable[..., str]
) -> None:
    original = client.get(f"{URL}/{create_job()}").json()
    response = client.post(f"{URL}/{original['id']}/clone")
    assert response.status_code == 201
    clone = response.json()
    assert clone["id"] != original["id"]
    assert clone["spec"] == {**original["spec"], "name": clone["name"]}
    assert clone["state"] == "queued"
    assert client.get(response.headers["location"]).json() == clone


def test_clones_have_names_of_their_own(client: TestClient, create_job: Callable[..., str]) -> None:
    """Whoever makes them, and also when a request is repeated."""
    original = create_job(name="cg")
    url = f"{URL}/{original}/clone"
    proposed = client.get(url).json()
    assert proposed == {**client.get(f"{URL}/{original}").json()["spec"], "name": "cg-2"}
    first, again = (
        client.post(url, json={"seed": 2}, headers={"Idempotency-Key": "k"}) for _ in range(2)
    )
    assert first.json()["id"] == again.json()["id"]
    assert (first.json()["name"], first.json()["spec"]["name"]) == ("cg-2", "cg-2")
    differs = client.post(url, json={"seed": 3}, headers={"Idempotency-Key": "k"})
    assert differs.status_code == 409
    assert client.get(url).json()["name"] == "cg-3"
    assert client.post(url).json()["name"] == "cg-3"
    assert client.post(url, json={"name": None}).json()["name"] == "cg-4"
    assert client.post(url, json={"name": "cg"}).json()["name"] == "cg"  # who says so has it


def test_a_clone_may_be_changed(client: TestClient, create_job: Callable[..., str]) -> None:
    original = create_job(budget={"trials": 20, "patience": 5})
    clone = client.post(
        f"{URL}/{original}/clone",
        json={"name": "longer", "budget": {"trials": 400, "patience": None}},
        headers={"Idempotency-Key": "k"},
    ).json()
    assert clone["name"] == "longer"
    assert clone["spec"]["budget"]["trials"] == 400
    assert clone["spec"]["budget"]["patience"] is None


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ({"json": {"budget": {"trials": 0}}}, 422),
        ({"json": {"budget": None}}, 422),
        ({"json": [1]}, 422),
        ({"json": {"application": {"trace": "/etc/passwd"}}}, 422),
        ({"content": b"seed: 2"}, 415),
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400),
    ],
)
def test_a_clone_with_wrong_changes_is_refused(
    client: TestClient, create_job: Callable[..., str], arguments: dict[str, Any], status: int
) -> None:
    original = create_job()
    response = client.post(f"{URL}/{original}/clone", **arguments)
    assert response.status_code == status, response.text
    assert len(client.get(URL).json()["items"]) == 1


# The examples of RFC 7396, appendix A.
@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patches(target: Any, patch: Any, result: Any) -> None:
    assert merge(target, patch) == result

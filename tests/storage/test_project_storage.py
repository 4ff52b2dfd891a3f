"""What belongs to one project does not exist for another, whatever method is asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from storage.errors import NotFound
from storage.project_storage import ProjectStorage
from storage.records import Application, Page
from storage.storage import Storage
from storage.view import StorageView

KEY = {"role": "viewer", "scopes": (), "sha256": "0" * 64, "expires_at": None, "created_by": "t"}

ITS_OWN = {
    "allowances.begin", "allowances.end", "applications.add", "applications.add_source",
    "applications.find", "applications.has_source", "applications.page", "audit.add", "audit.page",
    "jobs.create", "jobs.free_name", "jobs.page", "keys.add", "keys.page", "machines.add",
    "machines.find", "machines.page", "measured_runs.measurable_jobs", "projects.admit_upload",
    "projects.all", "projects.check_quotas", "projects.get", "projects.use",
}  # fmt: skip
"""Methods that are handed no identifier and look at the project by themselves."""

SHARED = {
    "artifacts.path", "artifacts.put", "events.last_id", "leases.queue_positions", "leases.shares",
    "networks.find", "networks.put", "processes.worker_slots",
}  # fmt: skip
"""Methods that show nothing of anybody but how much there is to do: artifacts are found by their
digests alone, networks by those of their descriptions."""


@pytest.fixture
def ours(storage: Storage) -> ProjectStorage:
    storage.projects.add("ours")
    return storage.of_project("ours")


@pytest.fixture
def theirs(storage: Storage) -> ProjectStorage:
    storage.projects.add("theirs")
    return storage.of_project("theirs")


def trace(storage: StorageView, name: str = "cg") -> Application:
    return storage.applications.add(
        name=name, kind="trace", key="trace:1", trace_sha256="1" * 64, ranks=2, summary={}
    )


def offered(storage: ProjectStorage) -> Iterator[tuple[str, Callable[..., Any]]]:
    """All methods that a project is offered, by repository and name."""
    for noun, repository in vars(storage).items():
        for name in dir(repository):
            if not name.startswith("_") and inspect.ismethod(getattr(repository, name)):
                yield f"{noun}.{name}", getattr(repository, name)


def test_each_project_has_its_own(ours: ProjectStorage, theirs: ProjectStorage) -> None:
    application, other = trace(ours), trace(theirs, "the same trace")
    assert application.id != other.id
    assert application.project == "ours"
    machine = ours.machines.add(name="m", description={"nodes": 4})
    assert theirs.machines.add(name="m", description={"nodes": 4}).id != machine.id
    job = ours.jobs.create(name="j", spec={}, seed=1, idempotency_key="k", owner="key:a")
    assert theirs.jobs.create(name="j", spec={"x": 1}, seed=1, idempotency_key="k").id != job.id
    assert (job.project, job.owner) == ("ours", "key:a")

    for noun in ("applications", "machines", "jobs", "keys", "audit"):
        assert all(item.project == "theirs" for item in getattr(theirs, noun).page().items), noun
    assert [project.name for project in theirs.projects.all()] == ["theirs"]


def test_whoever_serves_all_projects_sees_all(storage: Storage, ours: ProjectStorage) -> None:
    job = ours.jobs.create(name="j", spec={}, seed=1)
    assert storage.jobs.get(job.id) == job
    assert storage.jobs.create(name="j", spec={}, seed=1).project == "default"
    assert len(storage.jobs.page().items) == 2
    leased = storage.leases.acquire("me", 10.0)
    assert leased is not None
    assert leased.id == job.id


def test_what_others_have_is_not_found(ours: ProjectStorage, theirs: ProjectStorage) -> None:
    trace(ours)
    machine = ours.machines.add(name="m", description={"nodes": 4})
    job = ours.jobs.create(name="j", spec={}, seed=1)
    for ask in (theirs.projects.get, theirs.projects.use):
        with pytest.raises(NotFound):
            ask("ours")
    assert theirs.applications.find("trace:1") is None
    assert theirs.machines.find(machine.sha256) is None
    assert theirs.events.after(0, job_id=job.id) == []
    assert ours.events.after(0, job_id=job.id) != []


def test_whatever_is_handed_an_identifier_looks_whose_it_is(
    ours: ProjectStorage, theirs: ProjectStorage
) -> None:
    """Also methods that are yet to be written: they are all asked."""
    job = ours.jobs.create(name="j", spec={}, seed=1)
    key = ours.keys.add(name="k", **KEY)  # type: ignore[arg-type]
    subscription = ours.subscriptions.add(
        kind="webhook", target="https://example.org/hook", secret=None, events=["completed"],
        pause_seconds=60.0, owner="t",
    )  # fmt: skip
    identifiers: dict[str, object] = {
        "job_id": job.id,
        "job_ids": [job.id],
        "application_id": trace(ours).id,
        "machine_id": ours.machines.add(name="m", description={"nodes": 4}).id,
        "key_id": key.id,
        "subscription_id": subscription.id,
    }
    unnamed = set()
    for name, method in offered(theirs):
        parameters = inspect.signature(method).parameters.values()
        handed = [one.name for one in parameters if one.name in identifiers]
        needed = [
            one.name
            for one in parameters
            if one.default is one.empty and one.kind is not one.VAR_KEYWORD
        ]
        if name in SHARED or name == "jobs.create" or not handed:  # which may name any application
            unnamed.add(name)
        else:
            values = {one: identifiers.get(one) for one in {*needed, *handed}}
            assert _is_refused(method, values), name
    assert unnamed == ITS_OWN | SHARED
    assert ours.trials.of_job(job.id) == []
    assert ours.jobs.get(job.id).state == "queued"
    assert ours.keys.get(key.id).revoked_at is None
    assert ours.subscriptions.page().items == [subscription]


def _is_refused(method: Callable[..., Any], values: dict[str, object]) -> bool:
    """Whether a method finds nothing."""
    try:
        found = method(**values)
    except NotFound:
        return True
    return found in ([], {}) or (isinstance(found, Page) and not found.items)


def test_a_project_is_offered_part_of_what_there_is(storage: Storage, ours: ProjectStorage) -> None:
    for noun, repository in vars(ours).items():
        if noun not in ("project", "artifacts"):
            assert isinstance(getattr(storage, noun), type(repository)), noun
    names = {name for name, _ in offered(ours)}
    for noun, method in (
        ("leases", "acquire"), ("trials", "propose"), ("trials", "settle"), ("keys", "match"),
        ("attempts", "take"), ("projects", "change"), ("artifacts", "delete"), ("audit", "forget"),
    ):  # fmt: skip
        assert hasattr(getattr(storage, noun), method)
        assert f"{noun}.{method}" not in names
    for noun in ("deliveries", "evaluations", "retention", "statistics"):
        assert hasattr(storage, noun)
        assert not hasattr(ours, noun)


def test_a_share_holds_nothing_of_another(ours: ProjectStorage) -> None:
    assert ours.project == "ours"
    assert not isinstance(ours, Storage)
    assert not hasattr(ours, "of_project")

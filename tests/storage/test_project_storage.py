"""What belongs to one project does not exist for another, whatever method is asked."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.errors import HamtuneError
from storage.errors import NotFound
from storage.project_storage import (
    BY_APPLICATION,
    BY_JOB,
    NARROWED,
    SHARED,
    ProjectStorage,
)
from storage.storage import Storage

ROOT = Path(__file__).parents[2]
FOR_OPERATORS = {
    "add_project", "beat_process", "count_waiting_deliveries", "delete_lapsed_jobs",
    "find_evaluation", "forget_process", "has_project",
    "living_processes", "match_key", "note_use_of_key", "put_evaluation", "revision",
    "set_project", "statistics", "void_claims", "void_preparations",
}  # fmt: skip
"""What the service calls for itself or for its operator, never for a key of a project."""

KEY = {"role": "viewer", "scopes": (), "sha256": "0" * 64, "expires_at": None, "created_by": "t"}


@pytest.fixture
def ours(storage: Storage) -> ProjectStorage:
    storage.add_project("ours")
    return ProjectStorage.of(storage, "ours")


@pytest.fixture
def theirs(storage: Storage) -> ProjectStorage:
    storage.add_project("theirs")
    return ProjectStorage.of(storage, "theirs")


def trace(storage: Storage, name: str = "cg") -> Any:
    return storage.add_application(
        name=name, kind="trace", key="trace:1", trace_sha256="1" * 64, ranks=2, summary={}
    )


def test_each_project_has_its_own(ours: ProjectStorage, theirs: ProjectStorage) -> None:
    application, other = trace(ours), trace(theirs, "the same trace")
    assert application.id != other.id
    assert application.project == "ours"
    machine = ours.add_machine(name="m", description={"nodes": 4})
    assert theirs.add_machine(name="m", description={"nodes": 4}).id != machine.id
    job = ours.create_job(name="j", spec={}, seed=1, idempotency_key="k", owner="key:a")
    assert theirs.create_job(name="j", spec={"x": 1}, seed=1, idempotency_key="k").id != job.id
    assert (job.project, job.owner) == ("ours", "key:a")

    for listing in ("list_applications", "list_machines", "list_jobs", "list_keys", "list_audit"):
        assert all(item.project == "theirs" for item in getattr(theirs, listing)().items), listing
    assert [project.name for project in theirs.list_projects()] == ["theirs"]


def test_whoever_serves_all_projects_sees_all(storage: Storage, ours: ProjectStorage) -> None:
    job = ours.create_job(name="j", spec={}, seed=1)
    assert storage.get_job(job.id) == job
    assert storage.create_job(name="j", spec={}, seed=1).project == "default"
    assert len(storage.list_jobs().items) == 2
    leased = storage.acquire_lease("me", 10.0)
    assert leased is not None
    assert leased.id == job.id


def test_what_others_have_is_not_found(
    storage: Storage, ours: ProjectStorage, theirs: ProjectStorage
) -> None:
    application = trace(ours)
    machine = ours.add_machine(name="m", description={"nodes": 4})
    job = ours.create_job(name="j", spec={}, seed=1)
    key = ours.add_key(name="k", **KEY)
    calls: dict[str, Callable[[], Any]] = {
        "get_application": lambda: theirs.get_application(application.id),
        "get_machine": lambda: theirs.get_machine(machine.id),
        "get_job": lambda: theirs.get_job(job.id),
        "get_key": lambda: theirs.get_key(key.id),
        "application_log": lambda: theirs.application_log(application.id, "build"),
        "revoke_key": lambda: theirs.revoke_key(key.id),
        "rotate_key": lambda: theirs.rotate_key(
            key.id, sha256="1" * 64, grace_seconds=0, expires_at=None
        ),
    }
    for name, call in calls.items():
        with pytest.raises(NotFound):
            call()
        assert name in NARROWED
    assert theirs.find_application("trace:1") is None
    assert theirs.find_machine(machine.sha256) is None
    assert theirs.trial_counts([job.id]) == {}
    assert theirs.measuring_counts([job.id]) == {}
    assert theirs.events_after(0, job_id=job.id) == []
    assert ours.events_after(0, job_id=job.id) != []
    with pytest.raises(HamtuneError, match="one job at a time"):
        theirs.events_after(0)
    assert ours.get_key(key.id).revoked_at is None


def test_methods_of_a_job_or_application_look_whose_it_is(
    ours: ProjectStorage, theirs: ProjectStorage
) -> None:
    job = ours.create_job(name="j", spec={}, seed=1)
    application = trace(ours)
    for names, identifier in ((BY_JOB, job.id), (BY_APPLICATION, application.id)):
        for name in names:
            parameters = list(inspect.signature(getattr(Storage, name)).parameters.values())[2:]
            rest = [None for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
            needed = {one.name: None for one in parameters if one.kind is one.KEYWORD_ONLY}
            with pytest.raises(NotFound):
                getattr(theirs, name)(identifier, *rest, **needed)
    assert ours.list_trials(job.id) == []
    assert ours.get_job(job.id).state == "queued"


def test_what_nobody_looked_at_is_closed(ours: ProjectStorage) -> None:
    looked_at = {*NARROWED, *BY_JOB, *BY_APPLICATION, *SHARED}
    public = {name for name in dir(Storage) if not name.startswith("_")}
    assert looked_at - {"of"} <= public
    closed = public - looked_at
    assert {"acquire_lease", "settle_trial", "put_evaluation", "match_key"} <= closed
    for name in closed:
        with pytest.raises(PermissionError, match=f"{name} serves all projects"):
            getattr(ours, name)()


def test_what_the_service_calls_is_open_to_projects_but_for_what_is_an_operators() -> None:
    sources = [path.read_text() for path in (ROOT / "service").rglob("*.py")]
    called = {name for text in sources for name in re.findall(r"\bstorage\.(\w+)\(", text)}
    opened = {*NARROWED, *BY_JOB, *BY_APPLICATION, *SHARED}
    assert {name for name in called - opened if hasattr(Storage, name)} == FOR_OPERATORS


def test_a_share_holds_nothing_of_another(ours: ProjectStorage) -> None:
    assert ProjectStorage.of(ours, "ours").project == "ours"
    with pytest.raises(ValueError, match="nothing of another's"):
        ProjectStorage.of(ours, "theirs")

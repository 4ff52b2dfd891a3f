from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from storage.errors import NotFound
from storage.models import ApplicationRow
from storage.records import Application
from storage.storage import Storage


def add(storage: Storage, key: str = "builtin:cg:A:64", name: str = "cg") -> Application:
    return storage.applications.add(
        name=name,
        kind="builtin",
        key=key,
        trace_sha256="0" * 64,
        ranks=64,
        summary={"calls": {"MPI_Send": 12}},
    )


def test_an_application_is_found_by_the_key_of_what_it_was_made_from(storage: Storage) -> None:
    added = add(storage)

    assert storage.applications.find("builtin:cg:A:64") == added
    assert storage.applications.get(added.id) == added
    assert added.summary == {"calls": {"MPI_Send": 12}}
    assert storage.applications.find("builtin:cg:B:64") is None


def test_more_is_noted_of_what_a_trace_holds(storage: Storage) -> None:
    added = add(storage)

    noted = storage.applications.add_to_summary(added.id, truncated=False)

    assert noted.summary == {"calls": {"MPI_Send": 12}, "truncated": False}
    assert storage.applications.get(added.id) == noted
    with pytest.raises(NotFound):
        storage.applications.add_to_summary("0" * 16, truncated=False)


def test_a_key_keeps_its_first_application(storage: Storage) -> None:
    first = add(storage, name="first")

    assert add(storage, name="second") == first


def test_workers_that_capture_at_once_agree_on_one_application(storage: Storage) -> None:
    start = threading.Barrier(4)

    def add_after_start(name: str) -> Application:
        start.wait()
        return add(storage, name=name)

    with ThreadPoolExecutor(4) as pool:
        added = list(pool.map(add_after_start, "abcd"))

    assert len({application.id for application in added}) == 1
    assert len(storage.applications.page().items) == 1


def test_applications_are_listed_by_pages(storage: Storage) -> None:
    ids = [add(storage, key=f"k{n}").id for n in range(3)]

    first = storage.applications.page(limit=2)
    second = storage.applications.page(limit=2, cursor=first.cursor)

    assert [a.id for page in (first, second) for a in page.items] == ids[::-1]


def test_an_application_that_does_not_exist_is_named(storage: Storage) -> None:
    with pytest.raises(NotFound, match="no application x"):
        storage.applications.get("x")


def add_source(storage: Storage, key: str = "source:1") -> Application:
    return storage.applications.add_source(
        name="solver", key=key, recipe={"build": "make", "ranks": 4}, ranks=4
    )


def test_a_source_application_is_new_until_it_is_captured(storage: Storage) -> None:
    added = add_source(storage)
    assert (added.state, added.trace_sha256, added.recipe) == (
        "new",
        "",
        {"build": "make", "ranks": 4},
    )
    assert add_source(storage) == added

    assert storage.applications.claim_capture(added.id, "one", silence_seconds=60)
    assert storage.applications.report_capture(added.id, "one", build_log="$ make\n")
    assert storage.applications.get(added.id).state == "capturing"
    assert storage.applications.log(added.id, "build") == "$ make\n"
    assert storage.applications.log(added.id, "run") == ""
    assert storage.applications.report_capture(
        added.id, "one", state="ready", trace_sha256="0" * 64, summary={"calls": {}}
    )
    ready = storage.applications.get(added.id)
    assert (ready.state, ready.trace_sha256, ready.summary) == ("ready", "0" * 64, {"calls": {}})
    assert not storage.applications.claim_capture(added.id, "two", silence_seconds=0)


def test_a_capture_has_one_worker_until_that_falls_silent(storage: Storage) -> None:
    application = add_source(storage).id
    assert storage.applications.claim_capture(application, "one", silence_seconds=60)
    assert not storage.applications.claim_capture(application, "two", silence_seconds=60)
    assert not storage.applications.report_capture(application, "two", state="failed", error="no")

    assert storage.applications.claim_capture(application, "two", silence_seconds=-1)
    assert not storage.applications.report_capture(application, "one", state="ready")
    assert storage.applications.report_capture(application, "two", state="failed", error="no")
    assert storage.applications.get(application).error == "no"
    assert storage.applications.claim_capture(application, "three", silence_seconds=60)
    assert storage.applications.get(application).error is None


def test_what_a_failed_capture_left_counts_once(storage: Storage) -> None:
    source, left = storage.artifacts.put(b"s" * 1000), storage.artifacts.put(b"l" * 50_000)
    trace = storage.artifacts.put(b"t" * 200)
    added = storage.applications.add_source(
        name="solver", key="source:1", recipe={"source_sha256": source}, ranks=4
    )
    files = {"sha256": left, "files": [], "left_out": []}
    for _ in range(3):
        assert storage.applications.claim_capture(added.id, "one", silence_seconds=60)
        assert storage.applications.report_capture(added.id, "one", output_files=files)
        assert storage.applications.report_capture(added.id, "one", state="failed", error="x")
        assert storage.projects.use("default").storage_bytes == 51_000
    assert storage.applications.claim_capture(added.id, "one", silence_seconds=60)
    assert storage.applications.report_capture(
        added.id, "one", state="ready", trace_sha256=trace, summary={}
    )
    assert storage.projects.use("default").storage_bytes == 51_200


def test_what_is_older_than_the_count_of_bytes_is_counted_at_the_start(storage: Storage) -> None:
    trace = storage.artifacts.put(b"t" * 200)
    storage.applications.add(
        name="cg", kind="trace", key="trace:1", trace_sha256=trace, ranks=4, summary={}
    )
    add(storage)  # its trace is not there
    with storage._database.writing() as session:
        session.execute(update(ApplicationRow).values(stored_bytes=0))
    storage.upgrade()
    assert storage.projects.use("default").storage_bytes == 200


def test_only_what_is_built_has_logs(storage: Storage) -> None:
    with pytest.raises(NotFound, match="no logs"):
        storage.applications.log(add(storage).id, "build")
    with pytest.raises(NotFound, match="there is no application"):
        storage.applications.log("nothing", "run")

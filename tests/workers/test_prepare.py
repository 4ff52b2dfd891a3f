from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from searchspace.errors import InvalidInput
from searchspace.job import load_job
from storage.records import Job
from storage.storage import Storage
from tests.workers.conftest import RANKS, job_document
from workers.prepare import add_trace, prepare_job


def create(storage: Storage, document: dict[str, Any]) -> Job:
    spec = load_job(document)
    job = storage.create_job(name=spec.name, spec=spec.canonical(), seed=spec.seed)
    return storage.transition(job.id, "preparing")


def test_a_job_over_a_trace_gets_its_application_and_space(storage: Storage, trace: Path) -> None:
    job = create(storage, job_document(trace))

    prepare_job(storage, job.id)

    prepared = storage.get_job(job.id)
    assert prepared.state == "preparing"
    assert prepared.space is not None
    assert prepared.application_id is not None
    application = storage.get_application(prepared.application_id)
    assert (application.kind, application.ranks, application.name) == ("trace", RANKS, "exchange")
    assert application.summary["calls"]["alltoall"] == 3 * RANKS
    assert storage.artifact_path(application.trace_sha256).read_bytes() == trace.read_bytes()


def test_collectives_that_the_application_never_calls_are_left_out_and_said(
    storage: Storage, trace: Path
) -> None:
    document = job_document(trace)
    document["search"]["collectives"]["bcast"] = "all"
    job = create(storage, document)

    prepare_job(storage, job.id)

    space = storage.get_job(job.id).space
    assert space is not None
    (excluded,) = space["excluded"]
    assert excluded["parameter"] == "collectives.bcast"
    assert "never calls" in excluded["reason"]


def test_a_built_in_program_is_captured_once(storage: Storage) -> None:
    document = job_document(Path("unused"))
    document["application"] = {"builtin": "is", "class": "S", "ranks": 4}
    document["search"]["collectives"] = {"allreduce": "all"}
    first, second = create(storage, document), create(storage, document)

    prepare_job(storage, first.id)
    prepare_job(storage, second.id)

    ids = {storage.get_job(job.id).application_id for job in (first, second)}
    assert len(ids) == 1
    (application,) = storage.list_applications().items
    assert {application.id} == ids
    assert (application.kind, application.ranks) == ("builtin", 4)


def test_the_machine_may_be_a_stored_one(storage: Storage, trace: Path) -> None:
    document = job_document(trace)
    machine = storage.add_machine(name="lab", description=document["machine"])
    job = create(storage, document | {"machine": {"id": machine.id}})

    prepare_job(storage, job.id)

    assert storage.get_job(job.id).space is not None


def _not_a_trace(path: Path) -> Path:
    path.write_bytes(b"not a trace")
    return path


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path, "there is no file"),
        (_not_a_trace, "trace"),
    ],
)
def test_what_cannot_be_prepared_fails_the_job_with_the_reason(
    storage: Storage, tmp_path: Path, make: Callable[[Path], Path], words: str
) -> None:
    job = create(storage, job_document(make(tmp_path / "t.ht")))

    prepare_job(storage, job.id)

    failed = storage.get_job(job.id)
    assert failed.state == "failed"
    assert failed.error is not None
    assert words in failed.error


def test_a_stored_application_or_machine_that_is_gone_fails_the_job(
    storage: Storage, trace: Path
) -> None:
    for change in ({"application": {"id": "gone"}}, {"machine": {"id": "gone"}}):
        job = create(storage, job_document(trace) | change)
        prepare_job(storage, job.id)
        assert "gone" in (storage.get_job(job.id).error or "")


def test_messages_that_come_twice_or_late_do_no_harm(storage: Storage, trace: Path) -> None:
    job = create(storage, job_document(trace))
    prepare_job(storage, job.id)
    prepared = storage.get_job(job.id)
    cancelled = create(storage, job_document(trace))
    storage.transition(cancelled.id, "cancelling")
    storage.transition(cancelled.id, "cancelled")

    prepare_job(storage, job.id)
    prepare_job(storage, cancelled.id)
    prepare_job(storage, "nosuchjob")

    assert storage.get_job(job.id) == prepared
    assert storage.get_job(cancelled.id).space is None


def test_a_trace_added_twice_is_one_application(storage: Storage, trace: Path) -> None:
    assert add_trace(storage, trace) == add_trace(storage, trace)


def test_a_trace_that_does_not_exist_is_refused(storage: Storage, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file"):
        add_trace(storage, tmp_path / "missing.ht")

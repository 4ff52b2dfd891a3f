from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.operations import encode
from searchspace.formats.trace import TraceHeader, write_trace
from storage.storage import Storage
from tests.workers.conftest import RANKS, create, job_document
from workers.applications import add_trace
from workers.prepare import prepare_job


def test_a_job_over_a_trace_gets_its_application_and_space(storage: Storage, trace: Path) -> None:
    job = create(storage, job_document(trace))

    prepare_job(storage, job.id)

    prepared = storage.jobs.get(job.id)
    assert prepared.state == "preparing"
    assert prepared.space is not None
    assert prepared.application_id is not None
    application = storage.applications.get(prepared.application_id)
    assert (application.kind, application.ranks, application.name) == ("trace", RANKS, "exchange")
    assert application.summary["calls"]["alltoall"] == 3 * RANKS
    assert storage.artifacts.path(application.trace_sha256).read_bytes() == trace.read_bytes()


def test_collectives_that_the_application_never_calls_are_left_out_and_said(
    storage: Storage, trace: Path
) -> None:
    document = job_document(trace)
    document["search"]["collectives"]["bcast"] = "all"
    job = create(storage, document)

    prepare_job(storage, job.id)

    space = storage.jobs.get(job.id).space
    assert space is not None
    (excluded,) = space["excluded"]
    assert excluded["parameter"] == "collectives.bcast"
    assert "never calls" in excluded["reason"]


def test_a_search_over_permutations_begins_with_what_mappers_make(
    storage: Storage, trace: Path
) -> None:
    document = job_document(trace)
    document["search"]["mapping"] = ["permutation"]
    job = create(storage, document)

    prepare_job(storage, job.id)

    space = storage.jobs.get(job.id).space
    assert space is not None
    mapped = space["mapped"]
    assert mapped[0] == {"mapper": "by-order", "permutation": list(range(RANKS))}
    assert len({tuple(made["permutation"]) for made in mapped}) == len(mapped) > 1


def test_a_built_in_program_is_captured_once(storage: Storage) -> None:
    document = job_document(Path("unused"))
    document["application"] = {"builtin": "is", "class": "S", "ranks": 4}
    document["search"]["collectives"] = {"allreduce": "all"}
    first, second = create(storage, document), create(storage, document)

    prepare_job(storage, first.id)
    prepare_job(storage, second.id)

    ids = {storage.jobs.get(job.id).application_id for job in (first, second)}
    assert len(ids) == 1
    (application,) = storage.applications.page().items
    assert {application.id} == ids
    assert (application.kind, application.ranks) == ("builtin", 4)


def test_a_pattern_is_written_as_a_trace_once(storage: Storage) -> None:
    document = job_document(Path("unused"))
    document["application"] = {
        "pattern": "all-to-all", "ranks": 4, "size": "64kB", "count": 20, "rate": 50,
    }  # fmt: skip
    document["fidelity"] = "auto"
    first, second = create(storage, document), create(storage, document)

    prepare_job(storage, first.id)
    prepare_job(storage, second.id)

    (application,) = storage.applications.page().items
    assert (application.kind, application.ranks) == ("pattern", 4)
    assert application.summary["bytes"] == 20 * 12 * 64_000
    prepared = [storage.jobs.get(job.id) for job in (first, second)]
    assert [job.application_id for job in prepared] == [application.id] * 2
    assert prepared[0].space is not None
    assert prepared[0].space["fidelity"]["trace_sha256"] is not None


def test_a_large_run_is_extrapolated_from_captures_once(storage: Storage, tmp_path: Path) -> None:
    captures = [{"trace": str(write_ring(tmp_path / f"{n}.ht", n))} for n in (2, 4, 8)]
    document = job_document(Path("unused"))
    document["application"] = {"extrapolate": {"captures": captures}, "ranks": 16}
    document["machine"]["nodes"] = 16
    document["search"]["collectives"] = {"allreduce": "all"}
    first, second = create(storage, document), create(storage, document)

    prepare_job(storage, first.id)
    prepare_job(storage, second.id)

    prepared = [storage.jobs.get(job.id) for job in (first, second)]
    (large,) = {job.application_id for job in prepared}
    assert large is not None
    application = storage.applications.get(large)
    assert (application.kind, application.ranks) == ("extrapolated", 16)
    assert application.summary["calls"]["allreduce"] == 16
    assert application.summary["extrapolated"]["from_ranks"] == [2, 4, 8]
    assert application.summary["extrapolated"]["check"]["calls"] == 0.0


def test_captures_that_follow_no_pattern_fail_the_job(
    storage: Storage, tmp_path: Path, trace: Path
) -> None:
    captures = [{"trace": str(path)} for path in (trace, write_ring(tmp_path / "2.ht", 2))]
    document = job_document(trace)
    document["application"] = {"extrapolate": {"captures": captures}, "ranks": 16}
    document["machine"]["nodes"] = 16
    job = create(storage, document)

    prepare_job(storage, job.id)

    failed = storage.jobs.get(job.id)
    assert failed.state == "failed"
    assert "application.extrapolate: the traces are of several programs" in str(failed.error)


def write_ring(path: Path, ranks: int) -> Path:
    """Write a trace in which every rank passes something on before all reduce."""
    sizes = {"send_count": 10, "send_size": 8, "recv_count": 10, "recv_size": 8}
    body = [
        encode("compute", flops=1e6)
        + encode("sendrecv", **{"to": (rank + 1) % ranks, "from": (rank - 1) % ranks, **sizes})
        + encode("allreduce", count=1, size=8)
        + encode("finalize")
        for rank in range(ranks)
    ]
    write_trace(path, TraceHeader(ranks=ranks, program="ring"), body)
    return path


def test_the_machine_may_be_a_stored_one(storage: Storage, trace: Path) -> None:
    document = job_document(trace)
    machine = storage.machines.add(name="lab", description=document["machine"])
    job = create(storage, document | {"machine": {"id": machine.id}})

    prepare_job(storage, job.id)

    assert storage.jobs.get(job.id).space is not None


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

    failed = storage.jobs.get(job.id)
    assert failed.state == "failed"
    assert failed.error is not None
    assert words in failed.error


def test_a_stored_application_or_machine_that_is_gone_fails_the_job(
    storage: Storage, trace: Path
) -> None:
    for change in ({"application": {"id": "gone"}}, {"machine": {"id": "gone"}}):
        job = create(storage, job_document(trace) | change)
        prepare_job(storage, job.id)
        assert "gone" in (storage.jobs.get(job.id).error or "")


def test_messages_that_come_twice_or_late_do_no_harm(storage: Storage, trace: Path) -> None:
    job = create(storage, job_document(trace))
    prepare_job(storage, job.id)
    prepared = storage.jobs.get(job.id)
    cancelled = create(storage, job_document(trace))
    storage.jobs.transition(cancelled.id, "cancelling")
    storage.jobs.transition(cancelled.id, "cancelled")

    prepare_job(storage, job.id)
    prepare_job(storage, cancelled.id)
    prepare_job(storage, "nosuchjob")

    assert storage.jobs.get(job.id) == prepared
    assert storage.jobs.get(cancelled.id).space is None


def test_a_job_that_another_worker_prepares_is_left_to_it(storage: Storage, trace: Path) -> None:
    job = create(storage, job_document(trace))
    assert storage.preparations.claim(job.id, "another")

    prepare_job(storage, job.id)
    assert storage.jobs.get(job.id).space is None

    storage.preparations.release(job.id, "another")
    prepare_job(storage, job.id)
    assert storage.jobs.get(job.id).space is not None
    assert not storage.preparations.is_under_way(job.id)


def test_a_trace_added_twice_is_one_application(storage: Storage, trace: Path) -> None:
    assert add_trace(storage, trace) == add_trace(storage, trace)


def test_a_trace_that_does_not_exist_is_refused(storage: Storage, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file"):
        add_trace(storage, tmp_path / "missing.ht")

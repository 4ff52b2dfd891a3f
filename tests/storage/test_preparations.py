from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from storage.records import Job
from storage.storage import Storage


def preparing_job(storage: Storage) -> Job:
    job = storage.create_job(name="cg", spec={"name": "cg"}, seed=1)
    return storage.transition(job.id, "preparing")


def test_a_preparation_is_claimed_once(storage: Storage) -> None:
    job = preparing_job(storage)
    assert not storage.is_being_prepared(job.id)
    names = [f"worker-{number}" for number in range(4)]

    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda name: storage.claim_preparation(job.id, name), names))

    assert claims.count(True) == 1
    assert storage.is_being_prepared(job.id)
    holder = names[claims.index(True)]
    assert storage.beat_preparation(job.id, holder)
    assert not storage.beat_preparation(job.id, "another")


def test_a_released_preparation_may_be_claimed_again(storage: Storage) -> None:
    job = preparing_job(storage)
    storage.claim_preparation(job.id, "one")

    storage.release_preparation(job.id, "two")
    assert storage.is_being_prepared(job.id)
    storage.release_preparation(job.id, "one")

    assert not storage.is_being_prepared(job.id)
    assert storage.claim_preparation(job.id, "two")


def test_a_silent_preparer_loses_its_claim(storage: Storage) -> None:
    job = preparing_job(storage)
    storage.claim_preparation(job.id, "dead")

    assert not storage.is_being_prepared(job.id, silence_seconds=0.0)
    assert not storage.claim_preparation(job.id, "next")
    assert storage.claim_preparation(job.id, "next", silence_seconds=0.0)
    assert not storage.beat_preparation(job.id, "dead")


def test_there_is_nothing_to_claim_of_a_job_that_is_prepared_or_over_or_gone(
    storage: Storage,
) -> None:
    application = storage.add_application(
        name="cg", kind="trace", key="cg", trace_sha256="0" * 64, ranks=4, summary={}
    )
    prepared, failed = preparing_job(storage), preparing_job(storage)
    storage.set_job_prepared(prepared.id, application_id=application.id, space={"parameters": []})
    storage.transition(failed.id, "failed", error="no")

    assert not storage.claim_preparation(prepared.id, "one")
    assert not storage.claim_preparation(failed.id, "one")
    assert not storage.claim_preparation("nosuchjob", "one")
    assert not storage.is_being_prepared("nosuchjob")


def test_a_job_whose_application_is_being_captured_is_being_prepared(storage: Storage) -> None:
    job = preparing_job(storage)
    application = storage.add_source_application(name="own", key="own", recipe={}, ranks=4)
    storage.set_job_application(job.id, application.id)
    assert not storage.is_being_prepared(job.id)

    storage.claim_capture(application.id, "one", silence_seconds=30.0)

    assert storage.is_being_prepared(job.id)
    assert not storage.is_being_prepared(job.id, silence_seconds=0.0)


def test_all_claims_are_void_where_nobody_else_lives(storage: Storage) -> None:
    job = preparing_job(storage)
    application = storage.add_source_application(name="own", key="own", recipe={}, ranks=4)
    storage.claim_preparation(job.id, "dead")
    storage.claim_capture(application.id, "dead", silence_seconds=30.0)

    storage.void_preparations()

    assert storage.claim_preparation(job.id, "next")
    assert storage.get_application(application.id).state == "new"
    assert not storage.report_capture(application.id, "dead")

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from storage.records import Job
from storage.storage import Storage


def preparing_job(storage: Storage) -> Job:
    job = storage.jobs.create(name="cg", spec={"name": "cg"}, seed=1)
    return storage.jobs.transition(job.id, "preparing")


def test_a_preparation_is_claimed_once(storage: Storage) -> None:
    job = preparing_job(storage)
    assert not storage.preparations.is_under_way(job.id)
    names = [f"worker-{number}" for number in range(4)]

    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda name: storage.preparations.claim(job.id, name), names))

    assert claims.count(True) == 1
    assert storage.preparations.is_under_way(job.id)
    holder = names[claims.index(True)]
    assert storage.preparations.beat(job.id, holder)
    assert not storage.preparations.beat(job.id, "another")


def test_a_released_preparation_may_be_claimed_again(storage: Storage) -> None:
    job = preparing_job(storage)
    storage.preparations.claim(job.id, "one")

    storage.preparations.release(job.id, "two")
    assert storage.preparations.is_under_way(job.id)
    storage.preparations.release(job.id, "one")

    assert not storage.preparations.is_under_way(job.id)
    assert storage.preparations.claim(job.id, "two")


def test_a_silent_preparer_loses_its_claim(storage: Storage) -> None:
    job = preparing_job(storage)
    storage.preparations.claim(job.id, "dead")

    assert not storage.preparations.is_under_way(job.id, silence_seconds=0.0)
    assert not storage.preparations.claim(job.id, "next")
    assert storage.preparations.claim(job.id, "next", silence_seconds=0.0)
    assert not storage.preparations.beat(job.id, "dead")


def test_there_is_nothing_to_claim_of_a_job_that_is_prepared_or_over_or_gone(
    storage: Storage,
) -> None:
    application = storage.applications.add(
        name="cg", kind="trace", key="cg", trace_sha256="0" * 64, ranks=4, summary={}
    )
    prepared, failed = preparing_job(storage), preparing_job(storage)
    storage.jobs.set_prepared(prepared.id, application_id=application.id, space={"parameters": []})
    storage.jobs.transition(failed.id, "failed", error="no")

    assert not storage.preparations.claim(prepared.id, "one")
    assert not storage.preparations.claim(failed.id, "one")
    assert not storage.preparations.claim("nosuchjob", "one")
    assert not storage.preparations.is_under_way("nosuchjob")


def test_a_job_whose_application_is_being_captured_is_being_prepared(storage: Storage) -> None:
    job = preparing_job(storage)
    application = storage.applications.add_source(name="own", key="own", recipe={}, ranks=4)
    storage.jobs.set_application(job.id, application.id)
    assert not storage.preparations.is_under_way(job.id)

    storage.applications.claim_capture(application.id, "one", silence_seconds=30.0)

    assert storage.preparations.is_under_way(job.id)
    assert not storage.preparations.is_under_way(job.id, silence_seconds=0.0)


def test_all_claims_are_void_where_nobody_else_lives(storage: Storage) -> None:
    job = preparing_job(storage)
    application = storage.applications.add_source(name="own", key="own", recipe={}, ranks=4)
    storage.preparations.claim(job.id, "dead")
    storage.applications.claim_capture(application.id, "dead", silence_seconds=30.0)

    storage.preparations.void()

    assert storage.preparations.claim(job.id, "next")
    assert storage.applications.get(application.id).state == "new"
    assert not storage.applications.report_capture(application.id, "dead")

from __future__ import annotations

import pytest

from storage.errors import QuotaExceeded
from storage.project_storage import ProjectStorage
from storage.proposal import Proposal
from storage.records import Outcome, Quotas
from storage.storage import Storage


@pytest.fixture
def ours(storage: Storage) -> ProjectStorage:
    storage.projects.add("ours")
    return storage.of_project("ours")


def limit(storage: Storage, **quotas: int) -> None:
    storage.projects.change("ours", weight=1.0, priority="normal", quotas=Quotas(**quotas))


def spend(storage: Storage, job_id: str, seconds: float) -> None:
    leased = storage.leases.acquire("coordinator", 60.0, job_id)
    assert leased is not None
    storage.jobs.transition(job_id, "running", token=leased.lease_token)
    trial = storage.trials.propose(
        job_id,
        leased.lease_token,
        Proposal(number=1, kind="search", configuration={}, configuration_sha256="0" * 64),
    )
    storage.trials.settle(
        trial.id, leased.lease_token, Outcome(status="failed", cpu_seconds=seconds)
    )


def test_more_unfinished_jobs_than_a_project_may_have_are_refused(
    storage: Storage, ours: ProjectStorage
) -> None:
    limit(storage, jobs=1)
    first = ours.jobs.create(name="j", spec={}, seed=1, idempotency_key="k")
    with pytest.raises(QuotaExceeded, match="has 1 of the 1 jobs"):
        ours.jobs.create(name="j", spec={}, seed=1)
    assert len(ours.jobs.page().items) == 1
    assert ours.jobs.create(name="j", spec={}, seed=1, idempotency_key="k") == first
    storage.jobs.transition(first.id, "cancelled")
    ours.jobs.create(name="j", spec={}, seed=1)


@pytest.mark.parametrize(
    ("quota", "message"),
    [("trials", "has used 1 of its 1 trials"), ("cpu_seconds", "has used 5 of its 1 CPU seconds")],
)
def test_what_is_used_up_refuses_jobs_and_is_seen_at_a_glance(
    storage: Storage, ours: ProjectStorage, quota: str, message: str
) -> None:
    job = ours.jobs.create(name="j", spec={}, seed=1)
    limit(storage, **{quota: 1})
    glance = storage.jobs.glance(job.id)
    assert glance is not None
    assert glance.exhausted is None

    spend(storage, job.id, 5.0)

    glance = storage.jobs.glance(job.id)
    assert glance is not None
    assert glance.exhausted is not None
    assert message in glance.exhausted
    with pytest.raises(QuotaExceeded, match=message):
        ours.jobs.create(name="j", spec={}, seed=1)
    with pytest.raises(QuotaExceeded, match=message):
        storage.projects.check_quotas("ours")
    limit(storage, **{quota: 100})
    storage.projects.check_quotas("ours")
    use = ours.projects.use("ours")
    assert (use.jobs, use.trials, use.cpu_seconds) == (1, 1, 5.0)


def test_uploads_are_refused_that_do_not_fit(storage: Storage, ours: ProjectStorage) -> None:
    digest = storage.artifacts.put(b"x" * 600)
    ours.applications.add(
        name="t", kind="trace", key="t:1", trace_sha256=digest, ranks=2, summary={}
    )
    limit(storage, storage_bytes=1000)
    ours.projects.admit_upload(400)
    with pytest.raises(QuotaExceeded, match=r"stores 600 B of the 1000 B that it may"):
        ours.projects.admit_upload(401)
    assert ours.projects.use("ours").storage_bytes == 600

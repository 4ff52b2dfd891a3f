from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from searchspace.errors import InvalidInput
from storage.errors import Conflict, LeaseLost, NotFound
from storage.proposal import Proposal
from storage.records import Job
from storage.storage import Storage

SPEC = {"name": "cg-64", "budget": {"trials": 100}}


def test_a_created_job_is_queued_and_can_be_read_again(storage: Storage) -> None:
    job = storage.jobs.create(name="cg-64", spec=SPEC, seed=7)

    assert (job.state, job.name, job.spec, job.seed) == ("queued", "cg-64", SPEC, 7)
    assert job.lease_owner is None
    assert storage.jobs.get(job.id) == job


def test_a_job_that_does_not_exist_is_named_in_the_error(storage: Storage) -> None:
    with pytest.raises(NotFound, match="there is no job nosuchjob"):
        storage.jobs.get("nosuchjob")


def test_the_same_idempotency_key_and_specification_give_the_same_job(storage: Storage) -> None:
    first = storage.jobs.create(name="cg-64", spec=SPEC, seed=1, idempotency_key="k")
    again = storage.jobs.create(name="cg-64", spec=SPEC, seed=1, idempotency_key="k")

    assert again == first
    assert len(storage.jobs.page().items) == 1
    assert len(storage.events.after(0)) == 1


def test_an_idempotency_key_cannot_name_two_different_jobs(storage: Storage) -> None:
    storage.jobs.create(name="cg-64", spec=SPEC, seed=1, idempotency_key="k")

    with pytest.raises(Conflict, match="idempotency key was used"):
        storage.jobs.create(name="cg-64", spec={"name": "other"}, seed=1, idempotency_key="k")


def test_another_job_of_a_name_gets_a_number(storage: Storage) -> None:
    def another(name: str) -> Job:
        return storage.jobs.create(name=name, spec=SPEC, seed=1, numbered=True)

    storage.jobs.create(name="50%_a", spec=SPEC, seed=1)
    storage.jobs.create(name="50%_a-4", spec=SPEC, seed=1)
    storage.jobs.create(name="50%_ab-2", spec=SPEC, seed=1)
    assert storage.jobs.free_name("50%_a") == "50%_a-2"
    jobs = [another("50%_a") for _ in range(3)]
    assert [job.name for job in jobs] == ["50%_a-2", "50%_a-3", "50%_a-5"]
    assert jobs[0].spec == {**SPEC, "name": "50%_a-2"}
    assert another("50%_a-2").name == "50%_a-2-2"
    longest = [another("x" * 200).name for _ in range(10)]
    assert longest == ["x" * 198 + f"-{n}" for n in range(2, 10)] + [
        "x" * 197 + f"-{n}" for n in (10, 11)
    ]


def test_others_that_are_made_at_once_get_different_numbers(storage: Storage) -> None:
    start = threading.Barrier(4)

    def make() -> str:
        start.wait()
        return storage.jobs.create(name="cg", spec=SPEC, seed=1, numbered=True).name

    with ThreadPoolExecutor(4) as pool:
        made = [pool.submit(make) for _ in range(4)]
    assert sorted(one.result() for one in made) == ["cg-2", "cg-3", "cg-4", "cg-5"]


def test_a_number_is_given_once_where_a_request_is_repeated(storage: Storage) -> None:
    """Also when the job was renamed meanwhile."""
    asked: dict[str, Any] = {"name": "cg-64", "spec": SPEC, "seed": 1, "numbered": True}
    first = storage.jobs.create(**asked, idempotency_key="k")
    storage.jobs.describe(first.id, name="another")
    assert storage.jobs.create(**asked, idempotency_key="k").id == first.id
    with pytest.raises(Conflict, match="idempotency key was used"):
        storage.jobs.create(**{**asked, "seed": 2}, idempotency_key="k")


def test_jobs_are_listed_newest_first_page_by_page(storage: Storage) -> None:
    jobs = [storage.jobs.create(name=f"job-{n}", spec=SPEC, seed=n) for n in range(5)]
    newest_first = [job.id for job in reversed(jobs)]

    first = storage.jobs.page(limit=2)
    storage.jobs.create(name="late", spec=SPEC, seed=9)  # must not shift the pages that follow
    second = storage.jobs.page(limit=2, cursor=first.cursor)
    third = storage.jobs.page(limit=2, cursor=second.cursor)

    pages = [first, second, third]
    assert [job.id for page in pages for job in page.items] == newest_first
    assert third.cursor is None


def test_the_last_page_has_no_cursor_even_when_it_is_full(storage: Storage) -> None:
    for n in range(2):
        storage.jobs.create(name=f"job-{n}", spec=SPEC, seed=n)

    assert storage.jobs.page(limit=2).cursor is None


def test_jobs_are_filtered_by_state_and_name(storage: Storage) -> None:
    one = storage.jobs.create(name="one", spec=SPEC, seed=1)
    two = storage.jobs.create(name="two", spec=SPEC, seed=1)
    storage.jobs.transition(two.id, "paused")

    assert [job.id for job in storage.jobs.page(state="paused").items] == [two.id]
    assert [job.id for job in storage.jobs.page(state=("paused", "queued")).items] == [
        two.id,
        one.id,
    ]
    assert [job.id for job in storage.jobs.page(name="one").items] == [one.id]


def test_a_job_is_renamed_written_on_and_tagged_in_any_state(storage: Storage) -> None:
    job = storage.jobs.create(name="cg-64", spec=SPEC, seed=1, idempotency_key="k")
    assert (job.note, job.tags) == ("", ())
    storage.jobs.transition(job.id, "cancelled")

    storage.jobs.describe(
        job.id, note="with 50% more cables", tags=["spring", "50%_more", "spring"]
    )
    changed = storage.jobs.describe(job.id, name="cg-64-cables")

    assert (changed.name, changed.note) == ("cg-64-cables", "with 50% more cables")
    assert changed.tags == ("50%_more", "spring")
    assert changed.spec == SPEC
    assert storage.jobs.get(job.id) == changed
    assert [event.kind for event in storage.events.after(0)] == ["job"] * 4
    # Whoever repeats the request that made it gets it, whatever it is called by now.
    repeated = storage.jobs.create(name="cg-64", spec=SPEC, seed=1, idempotency_key="k")
    assert repeated == changed
    assert storage.jobs.describe(job.id, tags=[]).tags == ()
    with pytest.raises(NotFound):
        storage.jobs.describe("nosuchjob", name="x")


def test_paused_and_ended_jobs_are_put_aside_until_they_go_on(storage: Storage) -> None:
    job = storage.jobs.create(name="cg-64", spec=SPEC, seed=1)
    other = storage.jobs.create(name="cg-128", spec=SPEC, seed=1)
    with pytest.raises(Conflict, match="is queued; pause or cancel it before archiving it"):
        storage.jobs.describe(job.id, archived=True)
    storage.jobs.transition(job.id, "paused")
    since = storage.jobs.describe(job.id, archived=True).archived_at
    assert since is not None
    assert storage.jobs.describe(job.id, archived=True, note="old").archived_at == since

    def listed(**sought: Any) -> list[str]:
        return [found.id for found in storage.jobs.page(**sought).items]

    assert listed() == listed(archived="include") == [other.id, job.id]
    assert listed(archived="exclude") == [other.id]
    assert listed(archived="only") == [job.id]
    assert storage.jobs.describe(job.id, archived=False).archived_at is None
    storage.jobs.describe(job.id, archived=True)
    assert storage.jobs.transition(job.id, "queued").archived_at is None
    storage.jobs.transition(job.id, "cancelled")
    assert storage.jobs.describe(job.id, archived=True).archived_at is not None


def test_jobs_are_found_by_their_tags(storage: Storage) -> None:
    tags = {"one": ["spring", "50%"], "two": ["spring_2"], "three": []}
    for name, given in tags.items():
        job = storage.jobs.create(name=name, spec={"name": name}, seed=1)
        storage.jobs.describe(job.id, tags=given)

    def named(**sought: str) -> list[str]:
        return [job.name for job in storage.jobs.page(**sought).items]  # type: ignore[arg-type]

    assert named(tag="spring") == ["one"]
    assert named(tag="50%") == ["one"]
    assert named(tag="50_") == []
    assert named(search="SPRING") == ["two", "one"]
    assert named(tag="autumn") == []


@pytest.mark.parametrize("limit", [0, 1001])
def test_a_page_has_a_size_within_limits(storage: Storage, limit: int) -> None:
    with pytest.raises(InvalidInput, match=r"limit: .* use 1 to 1000"):
        storage.jobs.page(limit=limit)


def test_a_made_up_cursor_is_refused(storage: Storage) -> None:
    with pytest.raises(InvalidInput, match="cursor: use the cursor that the previous page gave"):
        storage.jobs.page(cursor="'; --")


def test_a_job_goes_from_queued_to_completed(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec=SPEC, seed=1)
    leased = storage.leases.acquire("coordinator", 60.0)
    assert leased is not None
    token = leased.lease_token

    preparing = storage.jobs.transition(job.id, "preparing", token=token)
    storage.jobs.transition(job.id, "running", token=token)
    ended = storage.jobs.transition(job.id, "completed", token=token, ended_because="trials")

    assert preparing.started_at is not None
    assert ended.finished_at is not None
    assert (ended.state, ended.ended_because) == ("completed", "trials")
    assert ended.lease_owner is None
    assert [event.data["state"] for event in storage.events.after(0, job_id=job.id)] == [
        "queued",
        "preparing",
        "running",
        "completed",
    ]


def test_a_failed_job_says_why(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec=SPEC, seed=1)

    failed = storage.jobs.transition(job.id, "failed", error="the trace is empty")

    assert failed.error == "the trace is empty"
    assert storage.events.after(0)[-1].data["error"] == "the trace is empty"


def test_an_illegal_change_of_state_is_a_conflict_in_plain_words(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec=SPEC, seed=1)
    storage.jobs.transition(job.id, "cancelled")

    with pytest.raises(Conflict, match=f"job {job.id} is cancelled; it cannot be paused"):
        storage.jobs.transition(job.id, "pausing")


def test_a_change_from_an_unexpected_state_is_a_conflict(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec=SPEC, seed=1)

    with pytest.raises(Conflict, match="is queued"):
        storage.jobs.transition(job.id, "failed", expected=("preparing",))


def test_a_change_to_the_present_state_changes_nothing(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec=SPEC, seed=1)
    storage.jobs.transition(job.id, "paused")
    seen = storage.events.last_id()

    assert storage.jobs.transition(job.id, "paused", expected=("queued",)).state == "paused"
    assert storage.events.last_id() == seen


def test_the_first_preparation_of_a_job_counts(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec=SPEC, seed=1)
    application = storage.applications.add(
        name="cg", kind="builtin", key="cg", trace_sha256="0" * 64, ranks=4, summary={}
    )

    storage.jobs.set_prepared(job.id, application_id=application.id, space={"size": 12})
    storage.jobs.set_prepared(job.id, application_id=application.id, space={"size": 13})

    prepared = storage.jobs.get(job.id)
    assert (prepared.application_id, prepared.space) == (application.id, {"size": 12})


def test_a_job_that_ended_cannot_be_prepared(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec=SPEC, seed=1)
    storage.jobs.transition(job.id, "cancelled")

    with pytest.raises(Conflict, match="is cancelled; it cannot be prepared"):
        storage.jobs.set_prepared(job.id, application_id="a", space={})


def test_deleting_a_job_takes_its_trials_and_events_and_leaves_a_last_event(
    storage: Storage, running_job: tuple[str, int]
) -> None:
    job_id, token = running_job
    storage.trials.propose(
        job_id,
        token,
        Proposal(number=1, kind="search", configuration={}, configuration_sha256="0" * 64),
    )
    storage.attempts.open(f"{job_id}-1", token)
    storage.jobs.transition(job_id, "failed", token=token, error="given up")
    before = storage.events.last_id()

    storage.trash.delete(job_id)

    with pytest.raises(NotFound):
        storage.jobs.get(job_id)
    assert storage.trials.of_job(job_id) == []
    (last,) = storage.events.after(0, job_id=job_id)
    assert last.id > before
    assert last.data == {"state": "deleted", "previous": "failed"}
    with pytest.raises(LeaseLost):
        storage.leases.renew(job_id, token, 60.0)


def test_a_job_at_work_cannot_be_deleted(storage: Storage, running_job: tuple[str, int]) -> None:
    with pytest.raises(Conflict, match="is running; cancel it before deleting it"):
        storage.trash.delete(running_job[0])

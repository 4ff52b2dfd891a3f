"""Who gets what when a worker is free, as the database decides it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.proposal import Proposal
from storage.records import Outcome, Priority
from storage.storage import Storage

CHEAP, DEAR = 1.0, 10.0


@pytest.fixture
def queue(storage: Storage) -> Callable[..., list[str]]:
    """Has trials of a job of some project wait: `queue("ours", 3)` gives its messages."""

    def wait(
        project: str,
        trials: int,
        *,
        priority: Priority = "normal",
        concurrency: int | None = None,
        weight: float | None = None,
    ) -> list[str]:
        before = storage.projects.add(project)
        if weight is not None:
            storage.projects.change(
                project, weight=weight, priority=before.priority, quotas=before.quotas
            )
        job = storage.of_project(project).jobs.create(
            name="j", spec={}, seed=1, priority=priority, concurrency=concurrency
        )
        leased = storage.leases.acquire("coordinator", 60.0, job.id)
        assert leased is not None
        storage.jobs.transition(job.id, "running", token=leased.lease_token)
        storage.trials.propose_several(
            job.id,
            leased.lease_token,
            [
                Proposal(
                    number=number,
                    kind="search",
                    configuration={"topology_seed": number},
                    configuration_sha256=f"{number:064d}",
                )
                for number in range(1, trials + 1)
            ],
        )
        return [f"{job.id}-{number}-1" for number in range(1, trials + 1)]

    return wait


def take(storage: Storage, message: str) -> str:
    taken = storage.attempts.take(message, "worker")
    assert taken is not None
    assert taken.trial.state == "running"
    return taken.attempt_id


def finish(storage: Storage, attempt: str, seconds: float) -> None:
    assert storage.attempts.finish(attempt, Outcome(status="failed", cpu_seconds=seconds))


def test_messages_of_one_project_serve_the_other_whose_turn_it_is(
    storage: Storage, queue: Callable[..., list[str]]
) -> None:
    many, few = queue("ours", 6), queue("theirs", 2)

    served = Counter(take(storage, message) in few for message in many[:4])

    assert served == {True: 2, False: 2}
    # The messages that were passed over are as good as those that were not.
    assert {take(storage, message) for message in few + many[4:]} <= set(many)
    assert storage.attempts.take(many[0], "worker") is None


def test_trials_of_a_job_are_taken_in_the_order_in_which_they_were_asked(
    storage: Storage, queue: Callable[..., list[str]]
) -> None:
    messages = queue("ours", 12)

    assert [take(storage, message) for message in reversed(messages)] == messages


def test_a_job_whose_priority_is_raised_goes_first_from_then_on(
    storage: Storage, queue: Callable[..., list[str]]
) -> None:
    first, second = queue("ours", 3), queue("ours", 3)
    assert take(storage, second[0]) == first[0]
    job_id = second[0].partition("-")[0]

    assert storage.jobs.set_priority(job_id, "high").priority == "high"
    assert [take(storage, message) for message in first] == second
    told = storage.events.after(0, job_id=job_id)
    assert [one.data["priority"] for one in told if "priority" in one.data] == ["high"]


def test_workers_are_shared_by_weight(storage: Storage, queue: Callable[..., list[str]]) -> None:
    heavy, light = queue("heavy", 12, weight=3.0), queue("light", 12, weight=1.0)
    served: Counter[bool] = Counter()
    for message in (heavy + light)[:16]:
        attempt = take(storage, message)
        served[attempt in heavy] += 1
        finish(storage, attempt, CHEAP)

    assert served[True] == pytest.approx(12, abs=1)


def test_a_projects_past_counts(storage: Storage, queue: Callable[..., list[str]]) -> None:
    greedy = queue("greedy", 4)
    for message in greedy[:2]:
        finish(storage, take(storage, message), DEAR)
    modest = queue("modest", 3)

    assert [take(storage, message) in modest for message in greedy[2:]] == [True, True]
    assert storage.projects.use("greedy").cpu_seconds == 2 * DEAR
    assert storage.projects.use("greedy").recent_cpu_seconds == pytest.approx(2 * DEAR, rel=0.2)


def test_a_job_has_no_more_under_way_than_it_may(
    storage: Storage, queue: Callable[..., list[str]]
) -> None:
    messages = queue("ours", 8, concurrency=2)
    start = threading.Barrier(6)

    def begin(message: str) -> bool:
        start.wait()
        return storage.attempts.take(message, "worker") is not None

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(begin, messages[:6])) == 2
    finish(storage, messages[0], CHEAP)
    assert take(storage, messages[7]) == messages[2]
    assert storage.attempts.take(messages[7], "worker") is None


def test_two_workers_never_take_the_same(storage: Storage, queue: Callable[..., list[str]]) -> None:
    messages = queue("ours", 6) + queue("theirs", 6)

    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda message: take(storage, message), messages))

    assert sorted(taken) == sorted(messages)


def test_priority_goes_first_among_ones_own_jobs(
    storage: Storage, queue: Callable[..., list[str]]
) -> None:
    low, normal = queue("ours", 2, priority="low"), queue("ours", 2)
    high = queue("ours", 2, priority="high")

    order = [take(storage, message) for message in low + normal + high]

    assert order == high + normal + low


def test_coordinators_take_jobs_of_projects_in_turn(storage: Storage) -> None:
    for name in ("ours", "theirs"):
        storage.projects.add(name)
    share = storage.of_project("ours")
    ours = [share.jobs.create(name="j", spec={}, seed=1).id for _ in range(3)]
    theirs = storage.of_project("theirs").jobs.create(name="j", spec={}, seed=1).id

    assert storage.leases.queue_positions([*ours, theirs]) == {
        ours[0]: 0, theirs: 1, ours[1]: 2, ours[2]: 3,
    }  # fmt: skip
    taken = [storage.leases.acquire("coordinator", 60.0) for _ in range(3)]
    assert [job.id for job in taken if job is not None] == [ours[0], theirs, ours[1]]
    assert storage.leases.queue_positions([*ours, theirs]) == {ours[2]: 0}
    assert storage.leases.shares(["ours", "theirs"]) == {"ours": 0.25, "theirs": 0.5}

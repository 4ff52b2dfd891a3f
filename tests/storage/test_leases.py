from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.errors import LeaseLost
from storage.proposal import Proposal
from storage.storage import Storage


def create(storage: Storage, name: str = "cg") -> str:
    return storage.jobs.create(name=name, spec={}, seed=1).id


def test_the_oldest_active_job_is_taken_first(storage: Storage) -> None:
    first, second = create(storage), create(storage)

    taken = [storage.leases.acquire("a", 60.0), storage.leases.acquire("b", 60.0)]

    assert [job.id for job in taken if job is not None] == [first, second]
    assert storage.leases.acquire("c", 60.0) is None


def test_paused_and_ended_jobs_are_not_taken(storage: Storage) -> None:
    storage.jobs.transition(create(storage), "paused")
    storage.jobs.transition(create(storage), "cancelled")

    assert storage.leases.acquire("a", 60.0) is None


def test_a_named_job_is_taken_only_if_it_is_free(storage: Storage) -> None:
    create(storage)
    second = create(storage)

    taken = storage.leases.acquire("a", 60.0, second)

    assert taken is not None
    assert (taken.id, taken.lease_owner) == (second, "a")
    assert storage.leases.acquire("b", 60.0, second) is None
    assert storage.leases.acquire("b", 60.0, "nosuchjob") is None


def test_a_lease_that_ran_out_goes_to_another_under_a_higher_token(storage: Storage) -> None:
    job_id = create(storage)
    old = storage.leases.acquire("a", 0.0)
    new = storage.leases.acquire("b", 60.0)

    assert old is not None
    assert new is not None
    assert (new.id, new.lease_owner) == (job_id, "b")
    assert new.lease_token > old.lease_token


def test_a_renewed_lease_lasts(storage: Storage) -> None:
    job_id = create(storage)
    leased = storage.leases.acquire("a", 0.0)
    assert leased is not None

    renewed = storage.leases.renew(job_id, leased.lease_token, 60.0)

    assert renewed.lease_expires_at is not None
    assert storage.leases.acquire("b", 60.0) is None


def test_a_released_lease_is_free_at_once_and_releasing_twice_is_harmless(
    storage: Storage,
) -> None:
    job_id = create(storage)
    leased = storage.leases.acquire("a", 60.0)
    assert leased is not None

    storage.leases.release(job_id, leased.lease_token)
    storage.leases.release(job_id, leased.lease_token)
    taken = storage.leases.acquire("b", 60.0)
    storage.leases.release(job_id, leased.lease_token)  # late: the lease is b's by now

    assert taken is not None
    assert storage.jobs.get(job_id).lease_owner == "b"


def test_time_under_a_lease_is_counted_over_all_leases(storage: Storage) -> None:
    job_id = create(storage)
    for _ in range(2):
        leased = storage.leases.acquire("a", 60.0)
        assert leased is not None
        time.sleep(0.02)
        storage.leases.renew(job_id, leased.lease_token, 60.0)
        time.sleep(0.02)
        storage.leases.release(job_id, leased.lease_token)
        time.sleep(0.02)  # nobody's time

    job = storage.jobs.get(job_id)
    assert job.active_seconds >= 0.08


def test_every_write_of_a_coordinator_that_lost_its_lease_is_refused(storage: Storage) -> None:
    job_id = create(storage)
    old = storage.leases.acquire("a", 0.0)
    new = storage.leases.acquire("b", 60.0)
    assert old is not None
    assert new is not None
    stale = old.lease_token
    proposal = Proposal(number=1, kind="search", configuration={}, configuration_sha256="0" * 64)
    storage.trials.propose(job_id, new.lease_token, proposal)
    before = storage.events.last_id()

    for write in (
        lambda: storage.leases.renew(job_id, stale, 60.0),
        lambda: storage.jobs.transition(job_id, "preparing", token=stale),
        lambda: storage.trials.propose(job_id, stale, proposal),
        lambda: storage.attempts.open(f"{job_id}-1", stale),
        lambda: storage.attempts.expire(job_id, stale, 0.0),
    ):
        with pytest.raises(LeaseLost):
            write()
    assert storage.events.last_id() == before


def test_renewing_the_lease_of_a_job_that_ended_shows_its_state(storage: Storage) -> None:
    job_id = create(storage)
    leased = storage.leases.acquire("a", 60.0)
    assert leased is not None
    storage.jobs.transition(job_id, "failed", error="the trace is empty")

    assert storage.leases.renew(job_id, leased.lease_token, 60.0).state == "failed"


def test_of_many_coordinators_each_job_goes_to_exactly_one(storage: Storage) -> None:
    jobs = {create(storage) for _ in range(12)}
    start = threading.Barrier(6)

    def take_all(owner: str) -> list[str]:
        taken = []
        start.wait()
        while (job := storage.leases.acquire(owner, 60.0)) is not None:
            taken.append(job.id)
        return taken

    with ThreadPoolExecutor(6) as pool:
        shares = list(pool.map(take_all, [f"coordinator-{n}" for n in range(6)]))

    # PostgreSQL skips rows that another is taking, so a share may end before all jobs are gone.
    taken = [job_id for share in shares for job_id in share]
    assert len(taken) == len(set(taken))
    assert set(taken) == jobs


def test_two_coordinators_that_fight_for_a_job_never_write_under_the_same_token(
    storage: Storage,
) -> None:
    job_id = create(storage)
    start = threading.Barrier(2)

    def fight(owner: str) -> list[tuple[int, str]]:
        wins = []
        start.wait()
        for _ in range(30):
            leased = storage.leases.acquire(owner, 0.0, job_id)  # runs out at once
            if leased is None:
                continue
            try:
                storage.leases.renew(job_id, leased.lease_token, 0.0)
            except LeaseLost:
                continue
            wins.append((leased.lease_token, owner))
        return wins

    with ThreadPoolExecutor(2) as pool:
        wins = [win for share in pool.map(fight, ["a", "b"]) for win in share]

    tokens = [token for token, _ in wins]
    assert len(tokens) == len(set(tokens))
    assert storage.jobs.get(job_id).lease_token >= max(tokens)


def test_an_owner_that_is_alone_takes_the_jobs_of_others_at_once(storage: Storage) -> None:
    job = storage.jobs.create(name="cg", spec={}, seed=1)
    dead = storage.leases.acquire("dead", 1000.0)
    assert dead is not None

    assert storage.leases.acquire("alive", 1000.0) is None
    assert not storage.leases.has_free_job("alive")
    assert storage.leases.has_free_job("alive", alone=True)
    taken = storage.leases.acquire("alive", 1000.0, alone=True)
    again = storage.leases.acquire("alive", 1000.0, alone=True)

    assert taken is not None
    assert (taken.id, taken.lease_token) == (job.id, dead.lease_token + 1)
    assert again is None, "its own jobs are taken"
